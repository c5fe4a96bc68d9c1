"""Verdicts as half-spaces of the unknown alpha: <alpha, u> <= b for an unfair pair, >= b for a fair one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from evenhand._internal.append_only import GrowingRows, shallow_copy
from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.jit import jit
from evenhand.metrics.features import MetricSpace, fill_features
from evenhand.metrics.verdicts import Verdicts
from evenhand.records.decision import PROBABILITY_TOLERANCE

MAX_SQUARED = 4.0  # ||u|| <= ||x - y||^2 <= 4: the largest squared distance per unit of the matrix's norm


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

    def take(self, rows: Indices | Mask | slice) -> Self:
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

    def __init__(self, n_unknowns: int, max_rows: int) -> None:
        self._rows = GrowingRows(n_unknowns + 2)
        self._max_rows = max_rows

    def __len__(self) -> int:
        return len(self._rows)

    def extended(self, new: HalfSpaces, scores: Floats, low: float = -np.inf, high: float = np.inf) -> Memory:
        """The memory with those of low < score < high as the newest."""
        n, m = new.normals.shape
        rows, twin = np.empty((n, m + 2)), shallow_copy(self)
        n = _write(new.normals, new.thresholds, new.sides, scores, low, high, rows)
        twin._rows = self._rows.plus(rows[:n])
        return twin

    @property
    def is_full(self) -> bool:
        """Whether the oldest should go: there are more than `max_rows`."""
        return len(self) > self._max_rows

    def split(self) -> tuple[HalfSpaces, Memory]:
        """The oldest half-spaces, and the memory of the newest: 7/8 of `max_rows`, so that splits are rare."""
        rows, twin = self._rows.all(), shallow_copy(self)
        n = len(rows) - 7 * self._max_rows // 8
        twin._rows = GrowingRows(rows.shape[1]).plus(rows[n:])
        return _as_half_spaces(rows[:n]), twin

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
