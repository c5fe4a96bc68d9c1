"""What commands are given beside candidates: pairs of ids, circumstances, text; checked for their shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.errors import InvalidInput


def as_pairs(pairs: Any) -> list[list[str]]:
    """Pairs of ids, as lists."""
    if isinstance(pairs, str) or not isinstance(pairs, Sequence):
        raise InvalidInput(f"{pairs!r} is not a list of pairs; allowed are pairs of candidates' ids")
    found = [list(pair) if isinstance(pair, Sequence) and not isinstance(pair, str) else [] for pair in pairs]
    for pair, given in zip(found, pairs, strict=True):
        if len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise InvalidInput(f"{given!r} is not a pair; allowed are two candidates' ids")
    return found


def as_circumstances(given: Any) -> dict[str, Any] | None:
    """A dict, or None."""
    if given is None:
        return None
    if not hasattr(given, "items"):
        raise InvalidInput(f"circumstances is {given!r}; allowed is a dict of what the reviewer saw, or None")
    return dict(given)


def as_text(given: Any, what: str) -> str | None:
    """Text, or None; `what` begins the sentence of the error."""
    if given is not None and not isinstance(given, str):
        raise InvalidInput(f"{what} is {given!r}; allowed is text, or None")
    return given
