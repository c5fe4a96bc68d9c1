"""What commands are given beside candidates: pairs of ids, circumstances, text; checked for their shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand._internal.checks import is_number
from evenhand.errors import InvalidInput
from evenhand.records.review_metadata import check_circumstances, check_shapes


def as_pairs(pairs: Any, what: str) -> list[list[str]]:
    """Pairs of ids, as lists; `what` begins the sentence of the error."""
    if isinstance(pairs, str) or not isinstance(pairs, Sequence):
        raise InvalidInput(f"{what} is {pairs!r}; allowed is a list of pairs of candidates' ids")
    found = [list(pair) if isinstance(pair, Sequence) and not isinstance(pair, str) else [] for pair in pairs]
    for pair, given in zip(found, pairs, strict=True):
        if len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise InvalidInput(f"{what} has {given!r} in it, which is no pair; allowed are two candidates' ids")
        if pair[0] == pair[1]:
            raise InvalidInput(f"{what} has {pair!r} in it, one candidate twice; a pair is two different candidates")
    return found


def check_review_kind(review: Mapping[str, Any]) -> None:
    """Refuse what a review of its kind cannot say; other kinds than the three are refused elsewhere."""
    kind = review["kind"]
    if kind == "complete" and review["fair"]:
        raise InvalidInput(f"fair is {review['fair']}; a complete review names unfair pairs, all others were fine")
    if kind in ("complete", "partial") and review["any_unfair"] is not None:
        raise InvalidInput(
            f"any_unfair is {review['any_unfair']!r}; a {kind} review names pairs, a one_bit review says it"
        )
    named = [f"{name} is {review[name]}" for name in ("unfair", "fair") if review[name]]
    if kind == "one_bit" and named:
        raise InvalidInput(f"{' and '.join(named)}; a one_bit review names no pair, and says any_unfair instead")


def as_numbers(given: Any, what: str) -> list[float]:
    """A list of numbers; `what` begins the sentence of the error."""
    rows = given.tolist() if hasattr(given, "tolist") else given
    if isinstance(rows, str) or not isinstance(rows, Sequence):
        raise InvalidInput(f"{what} is {given!r}; allowed is a list of numbers, one for each feature")
    for value in rows:
        if not is_number(value):
            raise InvalidInput(f"{what} has {value!r} in it; allowed are finite numbers")
    return list(rows)


def as_circumstances(given: Any) -> dict[str, Any] | None:
    """A dict, or None."""
    if given is None:
        return None
    if not hasattr(given, "items"):
        raise InvalidInput(f"circumstances is {given!r}; allowed is a dict of what the reviewer saw, or None")
    told = dict(given)
    check_shapes(told)
    return told


def circumstances_of_review(given: Any, review: Mapping[str, Any], candidates: Sequence[str]) -> dict[str, Any] | None:
    """The same, checked against what the review says of these candidates."""
    told = as_circumstances(given)
    if told is not None:
        check_circumstances(told, review, candidates)
    return told


def as_text(given: Any, what: str) -> str | None:
    """Text, or None; `what` begins the sentence of the error."""
    if given is not None and not isinstance(given, str):
        raise InvalidInput(f"{what} is {given!r}; allowed is text, or None")
    return given
