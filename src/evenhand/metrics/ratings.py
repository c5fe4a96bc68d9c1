"""Ratings and Comparisons: what a reviewer said of candidates or pairs of one decision, as metric learners get it.

Learners without a method of their own learn the verdicts that they imply. A rating says more than a verdict at the
decision's gap: two ratings fix the gap from which a pair would be unfair. So each pair is learned as two verdicts on
either side of that gap, half a step of the scale away from it, since the scale rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.arrays import Floats, Indices
from evenhand.metrics.verdicts import Pairs, Verdicts, all_pairs
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Review
from evenhand.records.ratings import SCALE, TOLERANCE, step_of

SIGNS = {"alike": 0, "first": 1, "second": -1}

CLOSEST = 0.02
"""The bracket of a scale without steps, or with very small ones: nobody rates more precisely."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of some candidates of one decision: contexts (n, d), scores (n,) in [0, 1], shares of the scale."""

    contexts: Floats
    scores: Floats
    tolerance: float = TOLERANCE
    """Two whose scores differ by s may be treated differently by s + tolerance."""
    reviewer: str | None = None
    step: float = step_of(SCALE)
    """The step of the scale in [0, 1]; 0 if it has none."""
    candidates: Indices | None = None
    """The candidates' indices in their decision, (n,), increasing; None for 0 to n - 1."""
    implied: Verdicts | None = None
    """The verdicts that the ratings imply at the gaps of the decision, where there was one."""

    @classmethod
    def of(cls, decision: Decision, review: Review, implied: Verdicts) -> Ratings:
        """The ratings in a review, with the verdicts that they imply at the decision's gaps."""
        assert review.scale is not None and review.tolerance is not None
        low, high = review.scale
        candidates = np.array([candidate for candidate, _ in review.scores], dtype=np.int64)
        scores = (np.array([score for _, score in review.scores]) - low) / (high - low)
        common = (review.tolerance, review.reviewer, step_of(review.scale), candidates)
        return cls(decision.contexts[candidates], scores, *common, implied)

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
        return np.abs(self.scores[first] - self.scores[second]) + self.tolerance

    def verdicts(self) -> Verdicts:
        """The verdicts to learn: those at the decision's gaps, and two for each pair around its acceptable gap."""
        half = max(self.step / 2.0, CLOSEST)
        return _joined([self.implied, *_brackets(self.pairs, self.acceptable_gaps, half, self.reviewer)])


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Comparisons of pairs: answers (n,), +1 if the first of the two comes first, -1 if the second does, 0 for alike."""

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
        """The verdicts to learn: those at the decision's gaps, and whether a gap of the tolerance would be unfair.

        It would be to two who should be treated alike, and would not be to others.
        """
        gaps, tight = np.full(len(self), self.tolerance), np.ones(len(self), np.bool_)
        at_tolerance = Verdicts(self.pairs, gaps, self.answers == 0, tight, self.reviewer)
        return _joined([self.implied, at_tolerance if self.tolerance > PROBABILITY_TOLERANCE else None])


def _brackets(pairs: Pairs, gaps: Floats, half: float, reviewer: str | None) -> tuple[Verdicts, Verdicts]:
    """Verdicts that a gap `half` below is not unfair and one `half` above is, as far as gaps are from 0 to 1."""
    below, above = gaps - half, gaps + half
    n, tight = len(gaps), np.ones(len(gaps), np.bool_)
    fair = Verdicts(pairs, np.minimum(below, 1.0), np.zeros(n, np.bool_), tight, reviewer)
    unfair = Verdicts(pairs, above, np.ones(n, np.bool_), tight, reviewer)
    return fair.take(below > PROBABILITY_TOLERANCE), unfair.take(above <= 1.0)


def _joined(parts: list[Verdicts | None]) -> Verdicts:
    """The verdicts of all parts, in order."""
    found = [part for part in parts if part is not None]
    pairs = Pairs(
        np.concatenate([one.pairs.indices for one in found]), np.concatenate([one.pairs.differences for one in found])
    )
    columns = (np.concatenate([getattr(one, name) for one in found]) for name in ("gaps", "unfair", "tight"))
    return Verdicts(pairs, *columns, found[0].reviewer)
