"""Signatures of decisions: a bandit recognises its own decisions without storing them."""

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
    """A key from random bytes and a bandit's content: nested dicts of arrays, numbers and strings."""
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


def signed(decision: Decision, key: bytes) -> Decision:
    """The decision with its signature under `key` as id."""
    return replace(decision, id=_signature_of(decision, key))


def sign(
    key: bytes, number: int, contexts: Floats, probabilities: Floats, chosen: tuple[int, ...], tight: tuple[Pair, ...]
) -> str:
    """The id of a decision in round `number`: a keyed hash of everything that can be learned from."""
    numbers = array("q", (number, *contexts.shape, len(chosen), *chosen, *chain.from_iterable(tight)))
    content = b"".join((numbers.tobytes(), contexts.tobytes(), probabilities.tobytes()))
    return f"{number}-{hashlib.blake2b(content, key=key, digest_size=16).hexdigest()}"


def is_signed(decision: Decision, key: bytes) -> bool:
    """Whether the decision was signed with `key` and not changed since."""
    try:
        return hmac.compare_digest(decision.id, _signature_of(decision, key))
    except (TypeError, OverflowError):  # the id is not ASCII text, or candidates are not whole numbers
        return False


def _signature_of(decision: Decision, key: bytes) -> str:
    content = (decision.contexts, decision.probabilities, decision.chosen, decision.tight_pairs)
    return sign(key, decision.round, *content)
