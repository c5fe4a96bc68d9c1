"""What the metric learners hear: pairs of a round, and what was said of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.jit import frozen, jit
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Pair, Review

Floats = NDArray[np.float64]
Rows = NDArray[np.int64] | NDArray[np.bool_] | slice


@lru_cache(maxsize=8)
def all_pairs(k: int) -> NDArray[np.int64]:
    """The pairs of k candidates, (k(k-1)/2, 2), read-only, first index smaller."""
    indices = np.stack(np.triu_indices(k, 1), axis=1)
    indices.flags.writeable = False
    return indices


@jit
def _fill_differences(contexts: Floats, indices: NDArray[np.int64], differences: Floats) -> None:
    for row in range(len(indices)):
        first, second = contexts[indices[row, 0]], contexts[indices[row, 1]]
        for i in range(len(first)):
            differences[row, i] = first[i] - second[i]


def differences_of(contexts: Floats, indices: NDArray[np.int64]) -> Floats:
    """How the candidates of each pair (n, 2) differ, (n, d)."""
    differences = np.empty((len(indices), contexts.shape[1]))
    _fill_differences(frozen(contexts), indices, differences)
    return differences


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of candidates: who they are (n, 2), first index smaller, and how they differ (n, d)."""

    indices: NDArray[np.int64]
    differences: Floats

    @classmethod
    def of(cls, contexts: Floats) -> Pairs:
        """All k(k-1)/2 pairs of a round's contexts (k, d)."""
        indices = all_pairs(len(contexts))
        return cls(indices, differences_of(contexts, indices))

    @classmethod
    def named(cls, contexts: Floats, indices: NDArray[np.int64]) -> Pairs:
        """These pairs (n, 2) of a round's contexts (k, d)."""
        return cls(indices, differences_of(contexts, indices))

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
    """Pairs that a reviewer looked at, with their gaps and what was said: each a half-space for G.

    unfair: d^2 < gap^2. Not unfair: d^2 >= gap^2. Pairs with equal odds say nothing and are left out: d >= 0 anyway,
    and a flag on them is no flag.
    """

    pairs: Pairs
    gaps: Floats
    unfair: NDArray[np.bool_]
    tight: NDArray[np.bool_]
    """Whether the pair's gap was as wide as the distance that was played."""
    reviewer: str | None = None
    """Who said it, if a name was given: each reviewer errs at a rate of their own."""

    @classmethod
    def of(cls, decision: Decision, review: Review) -> Verdicts:
        """The verdicts in a complete or partial review, and in a one-bit review that found nothing unfair."""
        odds, contexts = frozen(decision.probabilities), frozen(decision.contexts)
        marks, is_partial = _marks(decision, review), review.kind == "partial"
        n, d = _count_said(odds, PROBABILITY_TOLERANCE, marks, is_partial), contexts.shape[1]
        indices, differences, gaps = np.empty((n, 2), np.int64), np.empty((n, d)), np.empty(n)
        unfair, tight = np.empty(n, np.bool_), np.empty(n, np.bool_)
        _fill_said(odds, PROBABILITY_TOLERANCE, marks, is_partial, contexts, indices, differences, gaps, unfair, tight)
        return cls(Pairs(indices, differences), gaps, unfair, tight, review.reviewer)

    @classmethod
    def between(cls, x: Floats, y: Floats, *, gap: float, unfair: bool, reviewer: str | None = None) -> Verdicts:
        """The verdict on two contexts treated with the given gap; equal odds say nothing."""
        verdict = cls(Pairs.between(x, y), np.array([float(gap)]), np.array([unfair]), np.array([True]), reviewer)
        return verdict.take(verdict.gaps > PROBABILITY_TOLERANCE)

    def __len__(self) -> int:
        return len(self.gaps)

    def take(self, rows: Rows) -> Verdicts:
        """Some of the verdicts."""
        return Verdicts(self.pairs.take(rows), self.gaps[rows], self.unfair[rows], self.tight[rows], self.reviewer)


# What is marked of a pair, in the table of marks that kernels read: the smaller index first.
TIGHT, UNFAIR, FAIR = 1, 2, 4


def _marks(decision: Decision, review: Review) -> NDArray[np.uint8]:
    """What the decision and its review say of each pair, (k * k,)."""
    k = decision.n_candidates
    marks = bytearray(k * k)
    for mark, pairs in ((TIGHT, decision.tight_pairs), (UNFAIR, review.unfair), (FAIR, review.fair)):
        for i, j in pairs:
            marks[i * k + j] |= mark
    return np.frombuffer(marks, np.uint8)


@jit
def _count_said(odds: Floats, tolerance: float, marks: NDArray[np.uint8], is_partial: bool) -> int:
    """How many pairs with different odds there are, of those that somebody looked at."""
    count, k = 0, len(odds)
    for i in range(k):
        for j in range(i + 1, k):
            was_seen = not is_partial or marks[i * k + j] & (UNFAIR | FAIR) != 0
            count += was_seen and abs(odds[i] - odds[j]) > tolerance
    return count


@jit
def _fill_said(
    odds: Floats,
    tolerance: float,
    marks: NDArray[np.uint8],
    is_partial: bool,
    contexts: Floats,
    indices: NDArray[np.int64],
    differences: Floats,
    gaps: Floats,
    unfair: NDArray[np.bool_],
    tight: NDArray[np.bool_],
) -> None:
    row, k = 0, len(odds)
    for i in range(k):
        for j in range(i + 1, k):
            gap, mark = abs(odds[i] - odds[j]), marks[i * k + j]
            if gap > tolerance and (not is_partial or mark & (UNFAIR | FAIR) != 0):
                indices[row, 0], indices[row, 1], gaps[row] = i, j, gap
                unfair[row], tight[row] = mark & UNFAIR != 0, mark & TIGHT != 0
                row += 1
    _fill_differences(contexts, indices, differences)
