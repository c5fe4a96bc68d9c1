"""A seal on decisions: a bandit knows its own again without having to remember them."""

from __future__ import annotations

import hashlib
import hmac
from array import array
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.records.decision import Decision, Pair

Floats = NDArray[np.float64]


def key_for(secret: bytes, content: dict[str, Any]) -> bytes:
    """A key from something random and from what a bandit is: nested dicts of arrays, numbers and strings."""
    digest = hashlib.blake2b(key=secret, digest_size=16)
    _feed(digest, content)
    return digest.digest()


def _feed(digest: Any, content: Any) -> None:
    if isinstance(content, dict):
        for name in sorted(content):
            digest.update(f"{name}:".encode())
            _feed(digest, content[name])
    elif isinstance(content, np.ndarray):
        digest.update(str(content.shape).encode() + np.ascontiguousarray(content).tobytes())
    else:
        digest.update(f"{content!r};".encode())


def sealed(decision: Decision, key: bytes) -> Decision:
    """The decision with an id that only the holder of `key` could have given it."""
    return replace(decision, id=_seal_of(decision, key))


def seal(
    key: bytes, number: int, contexts: Floats, probabilities: Floats, chosen: tuple[int, ...], tight: tuple[Pair, ...]
) -> str:
    """The id that the holder of `key` gives to a decision in round `number` with all that can be learned from."""
    numbers = array("q", (number, *contexts.shape, len(chosen), *chosen, *chain.from_iterable(tight)))
    content = b"".join((numbers.tobytes(), contexts.tobytes(), probabilities.tobytes()))
    return f"{number}-{hashlib.blake2b(content, key=key, digest_size=16).hexdigest()}"


def is_sealed(decision: Decision, key: bytes) -> bool:
    """Whether `key` sealed this decision, and nothing that can be learned from was changed since."""
    try:
        return hmac.compare_digest(decision.id, _seal_of(decision, key))
    except (TypeError, OverflowError):  # its id is no seal, or it names candidates by what are no indices
        return False


def _seal_of(decision: Decision, key: bytes) -> str:
    found = (decision.contexts, decision.probabilities, decision.chosen, decision.tight_pairs)
    return seal(key, decision.round, *found)
