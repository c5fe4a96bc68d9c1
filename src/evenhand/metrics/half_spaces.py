"""Verdicts as half-spaces of the unknown alpha: <alpha, u> <= b for an unfair pair, >= b for a fair one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.jit import jit
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.verdicts import Verdicts
from evenhand.records.decision import PROBABILITY_TOLERANCE

Floats = NDArray[np.float64]

MOST_SQUARED = 4.0
"""||u|| <= ||x - y||^2 <= 4: what a squared distance is at most, per unit of the matrix's norm."""


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
        """The half-spaces that certainly hold the truth, odds being exact only to PROBABILITY_TOLERANCE."""
        thresholds, sides = np.empty(len(verdicts)), np.empty(len(verdicts))
        fill_half_spaces(np.ascontiguousarray(verdicts.gaps), verdicts.unfair, PROBABILITY_TOLERANCE, thresholds, sides)
        return cls(space.features(verdicts.pairs.differences), thresholds, sides)

    @classmethod
    def none(cls, n_unknowns: int) -> Self:
        """No half-space at all."""
        return cls(np.zeros((0, n_unknowns)), np.zeros(0), np.zeros(0))

    def __len__(self) -> int:
        return len(self.thresholds)

    def __iter__(self) -> Iterator[tuple[Floats, float, float]]:
        for u, threshold, side in zip(self.normals, self.thresholds, self.sides, strict=True):
            yield u, float(threshold), float(side)

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_] | slice) -> HalfSpaces:
        """Some of the half-spaces."""
        return HalfSpaces(self.normals[rows], self.thresholds[rows], self.sides[rows])

    def joined(self, other: HalfSpaces) -> HalfSpaces:
        """These half-spaces, then the others."""
        return HalfSpaces(
            np.concatenate([self.normals, other.normals]),
            np.concatenate([self.thresholds, other.thresholds]),
            np.concatenate([self.sides, other.sides]),
        )

    def slacks(self, alpha: Floats) -> Floats:
        """How far inside each half-space alpha lies; negative outside. alpha (m,) -> (n,), (N, m) -> (N, n)."""
        return np.asarray(self.sides * (alpha @ self.normals.T - self.thresholds))

    @classmethod
    def from_state(cls, state: dict[str, Floats]) -> HalfSpaces:
        """The half-spaces whose `state` this was."""
        return cls(state["normals"], state["thresholds"], state["sides"])

    def state(self) -> dict[str, Floats]:
        """As plain arrays."""
        return {"normals": self.normals, "thresholds": self.thresholds, "sides": self.sides}


@jit
def fill_half_spaces(
    gaps: Floats, unfair: NDArray[np.bool_], tolerance: float, thresholds: Floats, sides: Floats
) -> None:
    """Thresholds and sides of the half-spaces of verdicts, each (n,)."""
    for row in range(len(gaps)):
        sides[row] = -1.0 if unfair[row] else 1.0
        gap = max(gaps[row] - sides[row] * tolerance, 0.0)
        thresholds[row] = gap * gap
