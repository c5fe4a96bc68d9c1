"""The input of metric learners: pairs of a round, and the verdicts on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.jit import jit
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Pair, Review

Rows = Indices | Mask | slice


@lru_cache(maxsize=8)
def all_pairs(k: int) -> Indices:
    """The pairs of k candidates, (k(k-1)/2, 2), read-only, first index smaller."""
    indices = np.stack(np.triu_indices(k, 1), axis=1)
    indices.flags.writeable = False
    return indices


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of candidates: their indices (n, 2), the smaller first, and their differences x_i - x_j (n, d)."""

    indices: Indices
    differences: Floats

    @classmethod
    def of(cls, contexts: Floats) -> Pairs:
        """All k(k-1)/2 pairs of a round's contexts (k, d)."""
        return cls.named(contexts, all_pairs(len(contexts)))

    @classmethod
    def named(cls, contexts: Floats, indices: Indices) -> Pairs:
        """These pairs (n, 2) of a round's contexts (k, d)."""
        return cls(indices, contexts[indices[:, 0]] - contexts[indices[:, 1]])

    @classmethod
    def between(cls, x: Floats, y: Floats) -> Pairs:
        """The one pair of two contexts."""
        return cls(np.array([[0, 1]]), (np.asarray(x, dtype=np.float64) - np.asarray(y, dtype=np.float64))[None, :])

    def __len__(self) -> int:
        return len(self.indices)

    def take(self, rows: Rows) -> Pairs:
        """Some of the pairs."""
        return Pairs(self.indices[rows], self.differences[rows])

    def names(self) -> list[Pair]:
        """The pairs as tuples of indices."""
        return [(int(i), int(j)) for i, j in self.indices]


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Pairs that a reviewer looked at, with their gaps and whether they were unfair: each a half-space for G.

    unfair: d^2 < gap^2. Not unfair: d^2 >= gap^2. Pairs with equal probabilities are left out, since d >= 0 anyway: a
    flag on them does not count.
    """

    pairs: Pairs
    gaps: Floats
    unfair: Mask
    tight: Mask
    """Whether the pair's gap was as wide as the distance that was played."""
    reviewer: str | None = None
    """The reviewer's name, if known: each reviewer has an error rate."""

    @classmethod
    def of(cls, decision: Decision, review: Review) -> Verdicts:
        """The verdicts in a review, or implied by its ratings or comparisons; of one bit, as if nothing were unfair."""
        review = review.as_verdicts(decision.probabilities)
        p, contexts = decision.probabilities, decision.contexts
        k, d = contexts.shape
        n = k * (k - 1) // 2
        indices, differences, gaps = np.empty((n, 2), np.int64), np.empty((n, d)), np.empty(n)
        unfair, tight = np.empty(n, np.bool_), np.empty(n, np.bool_)
        marks, columns = _marks(decision, review), (indices, differences, gaps, unfair, tight)
        n = _fill_verdicts(p, contexts, marks, review.kind == "partial", PROBABILITY_TOLERANCE, *columns)
        return cls(Pairs(indices[:n], differences[:n]), gaps[:n], unfair[:n], tight[:n], review.reviewer)

    @classmethod
    def between(cls, x: Floats, y: Floats, *, gap: float, unfair: bool, reviewer: str | None = None) -> Verdicts:
        """The verdict on two contexts with this gap; none if the gap is zero."""
        verdict = cls(Pairs.between(x, y), np.array([float(gap)]), np.array([unfair]), np.array([True]), reviewer)
        return verdict.take(verdict.gaps > PROBABILITY_TOLERANCE)

    def __len__(self) -> int:
        return len(self.gaps)

    def take(self, rows: Rows) -> Verdicts:
        """Some of the verdicts."""
        return Verdicts(self.pairs.take(rows), self.gaps[rows], self.unfair[rows], self.tight[rows], self.reviewer)


# The marks of a pair, in the table that the kernel reads: the smaller index first.
TIGHT, UNFAIR, FAIR = 1, 2, 4


def _marks(decision: Decision, review: Review) -> NDArray[np.uint8]:
    """The marks of each pair in the decision and its review, (k * k,)."""
    k = len(decision.probabilities)
    marks = bytearray(k * k)
    for mark, pairs in ((TIGHT, decision.tight_pairs), (UNFAIR, review.unfair), (FAIR, review.fair)):
        for i, j in pairs:
            marks[i * k + j] |= mark
    return np.frombuffer(marks, np.uint8)


@jit
def _fill_verdicts(
    p: Floats,
    contexts: Floats,
    marks: NDArray[np.uint8],
    is_partial: bool,
    tolerance: float,
    indices: Indices,
    differences: Floats,
    gaps: Floats,
    unfair: Mask,
    tight: Mask,
) -> int:
    """Fill in the pairs with different probabilities p (k,), of those the reviewer looked at; return their number."""
    row, (k, d) = 0, contexts.shape
    for i in range(k):
        for j in range(i + 1, k):
            gap, mark = abs(p[i] - p[j]), marks[i * k + j]
            if gap > tolerance and (not is_partial or mark & (UNFAIR | FAIR) != 0):
                indices[row, 0], indices[row, 1], gaps[row] = i, j, gap
                unfair[row], tight[row] = mark & UNFAIR != 0, mark & TIGHT != 0
                for feature in range(d):
                    differences[row, feature] = contexts[i, feature] - contexts[j, feature]
                row += 1
    return row
