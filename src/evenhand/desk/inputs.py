"""Fields of commands: pairs of ids, numbers and text, checked for their shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand._internal.checks import is_number, refusal
from evenhand.desk.limits import LONGEST_TEXT
from evenhand.errors import InvalidInput


def as_pairs(name: str, value: Any) -> list[list[str]]:
    """Pairs of candidates' ids, as lists."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise refusal(name, "a list of pairs of candidates' ids", value)
    pairs = [list(pair) if isinstance(pair, Sequence) and not isinstance(pair, str) else [] for pair in value]
    for pair, original in zip(pairs, value, strict=True):
        if len(pair) != 2 or pair[0] == pair[1] or not all(isinstance(one, str) for one in pair):
            raise InvalidInput(f"{name} must be pairs of two different candidates' ids, got {original!r} in it")
    return pairs


def check_review_kind(review: Mapping[str, Any]) -> None:
    """Refuse fields that do not belong to a review of its kind; `Review` refuses unknown kinds."""
    kind = review["kind"]
    if kind == "complete" and review["fair"]:
        raise InvalidInput(
            f"fair must be empty in a complete review, which names unfair pairs only, got {review['fair']}"
        )
    if kind in ("complete", "partial") and review["any_unfair"] is not None:
        raise InvalidInput(
            f"any_unfair must be None in a {kind} review, which names pairs, got {review['any_unfair']!r}"
        )
    for name in ("unfair", "fair"):
        if kind == "one_bit" and review[name]:
            raise InvalidInput(f"{name} must be empty in a one_bit review, which has any_unfair, got {review[name]}")


def as_numbers(name: str, value: Any, length: int) -> list[float]:
    """A list of this many finite numbers."""
    values = value.tolist() if hasattr(value, "tolist") else value
    expected = f"a list of {length} finite numbers, one for each feature"
    if isinstance(values, str) or not isinstance(values, Sequence) or not all(map(is_number, values)):
        raise refusal(name, expected, value)
    if len(values) != length:
        raise InvalidInput(f"{name} must be {expected}, got {len(values)}")
    return list(values)


def as_text(name: str, value: Any) -> str | None:
    """Text of limited length, or None."""
    if value is not None and not isinstance(value, str):
        raise refusal(name, "text or None", value)
    if value is not None and len(value) > LONGEST_TEXT:
        raise InvalidInput(f"{name} must be text of up to {LONGEST_TEXT} characters or None, got {len(value)}")
    return value
