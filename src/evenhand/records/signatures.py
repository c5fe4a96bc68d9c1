"""Signatures of decisions: a bandit recognises its own without storing them."""

from __future__ import annotations

import hashlib
from array import array
from itertools import chain
from typing import Any, Literal

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.records.ratings import Pair

Mode = Literal["lottery", "shares"]
"""What a probability is: that of being drawn, or the share of what was asked that a candidate gets."""


def sign(
    key: bytes,
    number: int,
    contexts: Floats,
    probabilities: Floats,
    chosen: tuple[int, ...],
    tight: tuple[Pair, ...],
    mode: Mode = "lottery",
    bounds: tuple[Floats, Floats] | None = None,
) -> str:
    """The id of a decision in round `number`: a keyed hash of everything that can be learned from, and of its bounds.

    A lottery without floors and ceilings has the id that it had before there were any.
    """
    numbers = array("q", (number, *contexts.shape, len(chosen), *chosen, *chain.from_iterable(tight)))
    content = b"".join((numbers.tobytes(), contexts.tobytes(), probabilities.tobytes()))
    if bounds is not None:
        content += b"".join((b"bounds", bounds[0].tobytes(), bounds[1].tobytes()))
    if mode != "lottery":
        content += mode.encode()
    return f"{number}-{hashlib.blake2b(content, key=key, digest_size=16).hexdigest()}"


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
