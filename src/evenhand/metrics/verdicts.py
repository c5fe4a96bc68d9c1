"""The input of metric learners: pairs of a round, the verdicts on them, and the half-spaces that these mean.

In the unknown alpha a verdict is a half-space: <alpha, u> <= b for an unfair pair, >= b for a fair one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.append_only import GrowingRows
from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.jit import jit
from evenhand.metrics.features import MetricSpace, fill_features
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Pair, Review

Rows = Indices | Mask | slice

MAX_SQUARED = 4.0  # ||u|| <= ||x - y||^2 <= 4: the largest squared distance per unit of the matrix's norm


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


# Half-spaces.


@dataclass(frozen=True)
class MemoryTuning:
    """How many half-spaces a learner remembers, to learn them again from a wider prior when its bound is doubled."""

    remembered_per_unknown: int = 64
    max_remembered_numbers: int = 2_000_000

    def max_rows(self, n_unknowns: int) -> int:
        """Maximum number of half-spaces remembered."""
        return min(self.remembered_per_unknown * n_unknowns, max(self.max_remembered_numbers // n_unknowns, 1))


@dataclass(frozen=True, eq=False)
class HalfSpaces:
    """{alpha : sides * (normals @ alpha - thresholds) >= 0}, one row a half-space."""

    normals: Floats
    """u, (n, m)."""
    thresholds: Floats
    """b, (n,)."""
    sides: Floats
    """+1 where alpha lies at or above the threshold, -1 where at or below, (n,)."""

    @classmethod
    def of(cls, space: MetricSpace, verdicts: Verdicts) -> HalfSpaces:
        """The half-spaces that certainly contain the truth, probabilities being exact only to PROBABILITY_TOLERANCE."""
        n = len(verdicts.gaps)
        normals, thresholds, sides = np.empty((n, space.n_unknowns)), np.empty(n), np.empty(n)
        columns, is_full = (verdicts.pairs.differences, verdicts.gaps, verdicts.unfair), space.structure == "full"
        fill_half_spaces(*columns, is_full, PROBABILITY_TOLERANCE, normals, thresholds, sides)
        return cls(normals, thresholds, sides)

    @classmethod
    def with_rows(cls, rows: Floats, verdicts: Verdicts) -> HalfSpaces:
        """The same with other rows in place of the normals, (n, width)."""
        sides = np.where(verdicts.unfair, -1.0, 1.0)
        return cls(rows, np.maximum(verdicts.gaps - sides * PROBABILITY_TOLERANCE, 0.0) ** 2, sides)

    @classmethod
    def none(cls, n_unknowns: int) -> Self:
        """No half-space at all."""
        return cls(np.zeros((0, n_unknowns)), np.zeros(0), np.zeros(0))

    def __len__(self) -> int:
        return len(self.thresholds)

    def __iter__(self) -> Iterator[tuple[Floats, float, float]]:
        for u, threshold, side in zip(self.normals, self.thresholds, self.sides, strict=True):
            yield u, float(threshold), float(side)

    def take(self, rows: Rows) -> Self:
        """Some of the half-spaces."""
        return type(self)(*(column[rows] for column in vars(self).values()))

    def joined(self, other: Self) -> Self:
        """These half-spaces, then the others."""
        return type(self)(*map(np.concatenate, zip(vars(self).values(), vars(other).values(), strict=True)))

    def slacks(self, alpha: Floats) -> Floats:
        """How far inside each half-space alpha lies; negative outside. alpha (m,) -> (n,), (N, m) -> (N, n)."""
        return np.asarray(self.sides * (alpha @ self.normals.T - self.thresholds))

    def state(self) -> dict[str, Any]:
        """The arrays by name; `HalfSpaces(**state)` reads them."""
        return dict(vars(self))


class Memory:
    """The newest informative half-spaces, to learn again should the bound grow.

    Immutable; longer versions share the table, whose rows are a normal, a threshold and a side, (n, m + 2).
    """

    def __init__(self, rows: GrowingRows, max_rows: int) -> None:
        self._rows, self._max_rows = rows, max_rows

    @classmethod
    def empty(cls, n_unknowns: int, max_rows: int) -> Memory:
        """Nothing remembered yet."""
        return cls(GrowingRows(n_unknowns + 2), max_rows)

    def __len__(self) -> int:
        return len(self._rows)

    def extended(self, new: HalfSpaces, scores: Floats, low: float = -np.inf, high: float = np.inf) -> Memory:
        """The memory with those of low < score < high as the newest."""
        n, m = new.normals.shape
        rows = np.empty((n, m + 2))
        n = _write(new.normals, new.thresholds, new.sides, scores, low, high, rows)
        return Memory(self._rows.plus(rows[:n]), self._max_rows)

    @property
    def is_full(self) -> bool:
        """Whether the oldest should go: there are more than `max_rows`."""
        return len(self._rows) > self._max_rows

    def split(self) -> tuple[HalfSpaces, Memory]:
        """The oldest half-spaces, and the memory of the newest: 7/8 of `max_rows`, so that splits are rare."""
        rows = self._rows.all()
        n = len(rows) - 7 * self._max_rows // 8
        return _as_half_spaces(rows[:n]), Memory(GrowingRows(rows.shape[1]).plus(rows[n:]), self._max_rows)

    def all(self) -> HalfSpaces:
        """All of them, the oldest first."""
        return _as_half_spaces(self._rows.all())


def _as_half_spaces(rows: Floats) -> HalfSpaces:
    return HalfSpaces(rows[:, :-2].copy(), rows[:, -2].copy(), np.ascontiguousarray(rows[:, -1]))


@jit
def fill_half_spaces(
    differences: Floats,
    gaps: Floats,
    unfair: Mask,
    is_full: bool,
    tolerance: float,
    normals: Floats,
    thresholds: Floats,
    sides: Floats,
) -> None:
    """Fill in the half-spaces of verdicts."""
    fill_features(differences, is_full, normals)
    for row in range(len(gaps)):
        sides[row] = -1.0 if unfair[row] else 1.0
        gap = max(gaps[row] - sides[row] * tolerance, 0.0)
        thresholds[row] = gap * gap


@jit
def _write(
    normals: Floats, thresholds: Floats, sides: Floats, scores: Floats, low: float, high: float, table: Floats
) -> int:
    """Write the rows with low < score < high to the table; return how many."""
    place, m = 0, normals.shape[1]
    for row in range(len(scores)):
        if low < scores[row] < high:
            for i in range(m):
                table[place, i] = normals[row, i]
            table[place, m], table[place, m + 1] = thresholds[row], sides[row]
            place += 1
    return place
