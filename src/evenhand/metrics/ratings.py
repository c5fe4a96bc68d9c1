"""Ratings and Comparisons: what a reviewer said of candidates or pairs of one decision, as metric learners get it.

Learners without a method of their own learn the verdicts that they imply. Ratings say more than verdicts at the
decision's gaps: whatever the gap was, they say from which one on it would be unfair. So each pair of rated candidates
is learned twice: at the gap it had, and as unfair just above the gap that its ratings accept. That a narrower gap would
be acceptable is not learned unless it was played: a scale of five rounds, and two who are rated differently may be all
but alike. docs/decisions/0032-ratings-are-learned-as-verdicts.md has figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.arrays import Floats, Indices
from evenhand.metrics.verdicts import Pairs, Verdicts, all_pairs
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Review
from evenhand.records.ratings import TOLERANCE

SIGNS = {"alike": 0, "first": 1, "second": -1}

ABOVE = 0.01
"""How far above the acceptable gap a gap is unfair."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of some candidates of one decision: contexts (n, d), scores (n,) in [0, 1], shares of the scale."""

    contexts: Floats
    scores: Floats
    tolerance: float = TOLERANCE
    """Two whose scores differ by s may be treated differently by s + tolerance."""
    reviewer: str | None = None
    candidates: Indices | None = None
    """The candidates' indices in their decision, (n,), increasing; None for 0 to n - 1."""
    implied: Verdicts | None = None
    """The verdicts that the ratings imply at the gaps of the decision, where there was one."""

    @classmethod
    def of(cls, decision: Decision, review: Review, implied: Verdicts) -> Ratings:
        """The ratings in a review, with the verdicts that they imply at the decision's gaps."""
        assert review.scale is not None
        assert review.tolerance is not None
        low, high = review.scale
        candidates = np.array([candidate for candidate, _ in review.scores], dtype=np.int64)
        scores = (np.array([score for _, score in review.scores]) - low) / (high - low)
        known = (review.tolerance, review.reviewer, candidates, implied)
        return cls(decision.contexts[candidates], scores, *known)

    def __len__(self) -> int:
        return len(self.scores)

    @cached_property
    def pairs(self) -> Pairs:
        """All pairs of the rated candidates, by their indices in the decision."""
        places = all_pairs(len(self))
        pairs = Pairs.named(self.contexts, places)
        return pairs if self.candidates is None else Pairs(self.candidates[places], pairs.differences)

    @property
    def acceptable_gaps(self) -> Floats:
        """The widest gap that is not unfair, of each pair, (n(n-1)/2,)."""
        first, second = all_pairs(len(self)).T
        return np.asarray(np.abs(self.scores[first] - self.scores[second]) + self.tolerance)

    def verdicts(self) -> Verdicts:
        """The verdicts to learn: at the decision's gaps, and that each pair is unfair just above its acceptable gap."""
        return _joined(self.implied, _unfair_above(self.pairs, self.acceptable_gaps, self.reviewer))


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Comparisons of pairs: answers (n,), +1 if the first of the two comes first, -1 if the second one, 0 for alike."""

    pairs: Pairs
    answers: NDArray[np.int64]
    tolerance: float = TOLERANCE
    """A gap above it is unfair to two who should be treated alike."""
    reviewer: str | None = None
    implied: Verdicts | None = None
    """The verdicts that the comparisons imply at the gaps of the decision, where there was one."""

    @classmethod
    def of(cls, decision: Decision, review: Review, implied: Verdicts) -> Comparisons:
        """The comparisons in a review, with the verdicts that they imply at the decision's gaps."""
        assert review.tolerance is not None
        indices = np.array([(i, j) for i, j, _ in review.compared], dtype=np.int64).reshape(-1, 2)
        answers = np.array([SIGNS[said] for _, _, said in review.compared], dtype=np.int64)
        return cls(Pairs.named(decision.contexts, indices), answers, review.tolerance, review.reviewer, implied)

    def __len__(self) -> int:
        return len(self.answers)

    def verdicts(self) -> Verdicts:
        """The verdicts to learn: at the decision's gaps; that two who are alike are unfair just above the tolerance;
        and that two who are not may be that far apart.
        """
        alike, gaps = self.answers == 0, np.full(len(self), self.tolerance)
        apart = Verdicts(self.pairs, gaps, np.zeros(len(self), np.bool_), np.ones(len(self), np.bool_), self.reviewer)
        unfair = _unfair_above(self.pairs.take(alike), gaps[alike], self.reviewer)
        return _joined(self.implied, unfair, apart.take(~alike & (gaps > PROBABILITY_TOLERANCE)))


def _unfair_above(pairs: Pairs, gaps: Floats, reviewer: str | None) -> Verdicts:
    """Verdicts that each pair is unfair just above this gap; none where that is a gap that no two can have."""
    yes = np.ones(len(pairs), np.bool_)
    return Verdicts(pairs, gaps + ABOVE, yes, yes, reviewer).take(gaps + ABOVE <= 1.0)


def _joined(*parts: Verdicts | None) -> Verdicts:
    """The verdicts of all parts, in order."""
    found = [part for part in parts if part is not None]
    indices = np.concatenate([one.pairs.indices for one in found])
    differences = np.concatenate([one.pairs.differences for one in found])
    gaps, unfair, tight = (
        np.concatenate([getattr(one, name) for one in found]) for name in ("gaps", "unfair", "tight")
    )
    return Verdicts(Pairs(indices, differences), gaps, unfair, tight, found[0].reviewer)
