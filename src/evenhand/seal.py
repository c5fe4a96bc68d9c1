"""A seal on decisions: a bandit knows its own again without having to remember them."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import numpy as np

from evenhand.decision import Decision


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
    twin = object.__new__(Decision)  # every field is there already: a new frozen record would be made up again
    twin.__dict__.update(decision.__dict__, id=_name(decision, key))
    return twin


def is_sealed(decision: Decision, key: bytes) -> bool:
    """Whether `key` sealed this decision, and nothing that can be learned from was changed since."""
    return hmac.compare_digest(decision.id.encode(), _name(decision, key).encode())


def _name(decision: Decision, key: bytes) -> str:
    digest = hashlib.blake2b(key=key, digest_size=16)
    digest.update(f"{decision.round} {decision.contexts.shape} {decision.chosen} {decision.tight_pairs}".encode())
    for array in (decision.contexts, decision.probabilities):
        digest.update(np.ascontiguousarray(array).data)
    return f"{decision.round}-{digest.hexdigest()}"
