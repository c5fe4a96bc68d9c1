"""What remains of a decision after people were erased: the outcomes of the others, and verdicts on pairs of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import combinations
from typing import Any

from evenhand.errors import Erased

Body = dict[str, Any]


def erased_in(body: Mapping[str, Any]) -> frozenset[str]:
    """The people whose contents in an event are gone."""
    return frozenset(body.get("erased", ()))


def refuse_erased(people: Sequence[str], body: Mapping[str, Any]) -> None:
    """Erased if one of these people was erased from an event with this body."""
    for name in people:
        if name in erased_in(body):
            raise Erased(f"candidate {name!r} was erased: nothing can be recorded about them here any more")


def people_named(review: Mapping[str, Any]) -> list[str]:
    """The candidates whom a review says something about by name."""
    pairs = [*review["unfair"], *review["fair"], *(one["pair"] for one in review.get("comparisons", ()))]
    pair = (review.get("circumstances") or {}).get("pair") or ()
    return [*(name for pair in pairs for name in pair), *review.get("ratings", ()), *pair]


def remaining_review(review: Body, candidates: Sequence[str], erased: Set[str]) -> Body | None:
    """A review without what it says about erased candidates; None if nothing is left that can be learned.

    A complete review says that all other pairs were fair, and becomes a partial one that names them; that some pair was
    unfair says nothing once the pair may have been one that is gone.
    """
    kind, gone = review["kind"], erased & set(candidates)
    if not gone:
        return review
    if kind == "one_bit" and review["any_unfair"]:
        return None
    pairs = {name: _others(review.get(name, ()), gone) for name in ("unfair", "fair", "reversed")}
    if kind in ("complete", "one_bit"):
        named = {frozenset(pair) for pair in pairs["unfair"]}
        every = combinations([name for name in candidates if name not in gone], 2)
        pairs["fair"] = [list(pair) for pair in every if frozenset(pair) not in named]
        left: Body = {"kind": "partial", "any_unfair": None, **pairs}
    elif kind == "ratings":
        ratings = {name: score for name, score in review["ratings"].items() if name not in gone}
        left = {"ratings": ratings, **pairs}
        if len(ratings) < 2:
            return None
    elif kind == "comparisons":
        left = {"comparisons": [one for one in review["comparisons"] if gone.isdisjoint(one["pair"])], **pairs}
        if not left["comparisons"]:
            return None
    else:
        left = pairs
        if any(review.get(name) for name in pairs) and not any(pairs.values()):
            return None
    return {**review, **left} if "reversed" in review else {**review, **left, "reversed": []}


def _others(pairs: Sequence[Sequence[str]], gone: Set[str]) -> list[list[str]]:
    return [list(pair) for pair in pairs if gone.isdisjoint(pair)]


def remaining_past(body: Body) -> Body:
    """A past decision without erased candidates."""
    gone = erased_in(body)
    if not gone:
        return body
    left = [place for place, name in enumerate(body["candidates"]) if name not in gone]
    columns = ("candidates", "contexts", "features", "probabilities")
    reviews = [remaining_review(review, body["candidates"], gone) for review in body["reviews"]]
    return {
        **body,
        **{name: [body[name][place] for place in left] for name in columns if body.get(name) is not None},
        "rewards": {name: reward for name, reward in body["rewards"].items() if name not in gone},
        "reviews": [review for review in reviews if review is not None],
    }
