"""What a review says pair by pair, and a review that says something else instead: what changed answers are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import InvalidInput
from evenhand.records.decision import Decision, Pair, Review


def said(decision: Decision, review: Review) -> dict[Pair, bool]:
    """Every pair that was looked at, and whether it was called unfair; a one-bit review names no pairs and is refused.

    >>> decision = Decision("", 0, np.zeros((3, 1)), np.zeros(3), (), 1, np.zeros(3))
    >>> said(decision, Review.complete(unfair=[(1, 2)]))
    {(0, 1): False, (0, 2): False, (1, 2): True}
    >>> said(decision, Review.partial(fair=[(0, 2)]))
    {(0, 2): False}
    """
    if review.kind == "one_bit":
        raise InvalidInput("the review is one bit, which names no pairs; allowed are complete and partial reviews")
    seen = review.fair if review.kind == "partial" else combinations(range(decision.n_candidates), 2)
    return dict.fromkeys(seen, False) | dict.fromkeys(review.unfair, True)


def restated(review: Review, verdicts: Mapping[Pair, bool]) -> Review:
    """A review of the same kind by the same reviewer that says this of the pairs.

    >>> restated(Review.partial(unfair=[(0, 1)], reviewer="Ada"), {(0, 1): False})
    Review(kind='partial', unfair=(), fair=((0, 1),), any_unfair=None, reviewer='Ada')
    """
    unfair = tuple(pair for pair, bad in verdicts.items() if bad)
    fair = tuple(pair for pair, bad in verdicts.items() if not bad) if review.kind == "partial" else ()
    return replace(review, unfair=unfair, fair=fair)


def flagging(table: NDArray[np.bool_]) -> Review:
    """The complete review that flags the pairs marked above the diagonal of a (k, k) table."""
    first, second = np.nonzero(np.triu(table, 1))
    return Review.complete(unfair=zip(first.tolist(), second.tolist(), strict=True))
