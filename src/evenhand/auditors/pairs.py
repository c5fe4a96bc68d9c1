"""All pairs of a decision at once: their gaps, the verdicts of a review on them, and reviews made from verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.arrays import Floats
from evenhand.auditors.auditor import Auditor, Truth
from evenhand.errors import InvalidInput
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Pair, Review


def gaps(decision: Decision) -> Floats:
    """|p_i - p_j| of every pair, (k, k)."""
    p = decision.probabilities
    return np.asarray(np.abs(p[:, None] - p[None, :]))


def unequal_pairs(decision: Decision) -> NDArray[np.bool_]:
    """Which pairs have unequal probabilities, (k, k): no other pair can be unfair, and a flag on one does not count.

    >>> decision = Decision("", 0, np.zeros((3, 1)), np.array([0.5, 0.5, 0.0]), (0,), 1, np.zeros(3))
    >>> unequal_pairs(decision).tolist()
    [[False, False, True], [False, False, True], [True, True, False]]
    """
    return np.asarray(gaps(decision) > PROBABILITY_TOLERANCE)


def verdicts_by_pair(decision: Decision, review: Review) -> dict[Pair, bool]:
    """Whether each reviewed pair was called unfair; a one-bit review is refused, since it names no pairs.

    >>> decision = Decision("", 0, np.zeros((3, 1)), np.zeros(3), (), 1, np.zeros(3))
    >>> verdicts_by_pair(decision, Review.complete(unfair=[(1, 2)]))
    {(0, 1): False, (0, 2): False, (1, 2): True}
    >>> verdicts_by_pair(decision, Review.partial(fair=[(0, 2)]))
    {(0, 2): False}
    """
    review = review.as_verdicts(decision.probabilities)
    if review.kind == "one_bit":
        raise InvalidInput("the review must be complete or partial, got one bit, which names no pairs")
    reviewed = review.fair if review.kind == "partial" else combinations(range(decision.n_candidates), 2)
    return dict.fromkeys(reviewed, False) | dict.fromkeys(review.unfair, True)


def with_verdicts(review: Review, verdicts: Mapping[Pair, bool]) -> Review:
    """A review of the same kind by the same reviewer with these verdicts.

    >>> with_verdicts(Review.partial(unfair=[(0, 1)], reviewer="Ada"), {(0, 1): False})
    Review(kind='partial', unfair=(), fair=((0, 1),), any_unfair=None, reviewer='Ada')
    """
    unfair = tuple(pair for pair, bad in verdicts.items() if bad)
    fair = tuple(pair for pair, bad in verdicts.items() if not bad) if review.kind == "partial" else ()
    return replace(review, unfair=unfair, fair=fair)


def flagging(table: NDArray[np.bool_]) -> Review:
    """The complete review that flags the pairs marked above the diagonal of a (k, k) table."""
    first, second = np.nonzero(np.triu(table, 1))
    return Review.complete(unfair=zip(first.tolist(), second.tolist(), strict=True))


def worst_pair(auditor: Auditor, decision: Decision, pairs: Sequence[Pair]) -> Pair:
    """The pair whose gap exceeds its distance most; the widest gap if `auditor` knows no distances.

    >>> from evenhand.auditors import MahalanobisAuditor, PureNoiseAuditor
    >>> contexts, p = np.array([[0.0], [0.1], [0.9]]), np.array([0.1, 0.4, 0.6])
    >>> decision = Decision("", 0, contexts, p, (), 1, np.zeros(3))
    >>> worst_pair(MahalanobisAuditor([[0.5]]), decision, [(0, 1), (0, 2)])
    (0, 1)
    >>> worst_pair(PureNoiseAuditor(0.5), decision, [(0, 1), (0, 2)])
    (0, 2)
    """
    harm = auditor.excess(decision) if isinstance(auditor, Truth) else gaps(decision)
    return max(pairs, key=lambda pair: float(harm[pair]))
