"""What reviewers said, as arrays: one row a verdict that is remembered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.metrics.verdicts import Verdicts
from evenhand.records.decision import PROBABILITY_TOLERANCE

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Statements:
    """Verdicts with where they come from: z'Gz >= threshold for a fair pair, z'Gz <= threshold for an unfair one."""

    differences: Floats
    """z, (n, d)."""
    gaps: Floats
    """(n,)."""
    unfair: NDArray[np.bool_]
    """(n,)."""
    pairs: NDArray[np.int64]
    """(n, 2): the candidates of the decision that was looked at."""
    sources: tuple[str, ...]
    """The ids of those decisions."""
    reviewers: tuple[str | None, ...]

    @classmethod
    def none(cls, n_features: int) -> Statements:
        """Nothing was said."""
        empty = np.zeros((0, n_features))
        return cls(empty, np.zeros(0), np.zeros(0, np.bool_), np.zeros((0, 2), np.int64), (), ())

    @classmethod
    def of(cls, verdicts: Verdicts, source: str) -> Statements:
        """The verdicts on one decision."""
        n = len(verdicts)
        z, indices = verdicts.pairs.differences, np.asarray(verdicts.pairs.indices, dtype=np.int64)
        return cls(z, verdicts.gaps, verdicts.unfair, indices, (source,) * n, (verdicts.reviewer,) * n)

    def __len__(self) -> int:
        return len(self.gaps)

    @cached_property
    def thresholds(self) -> Floats:
        """Squared gaps, (n,), odds being exact only to PROBABILITY_TOLERANCE: set back so that they certainly hold."""
        return np.asarray((self.gaps + np.where(self.unfair, PROBABILITY_TOLERANCE, -PROBABILITY_TOLERANCE)) ** 2)

    @cached_property
    def squared_lengths(self) -> Floats:
        """||z||^2, (n,)."""
        return np.asarray(np.sum(self.differences**2, axis=1))

    def take(self, rows: NDArray[np.int64]) -> Statements:
        """Some of the verdicts, in this order."""
        return Statements(
            self.differences[rows],
            self.gaps[rows],
            self.unfair[rows],
            self.pairs[rows],
            tuple(self.sources[row] for row in rows),
            tuple(self.reviewers[row] for row in rows),
        )

    def joined(self, other: Statements) -> Statements:
        """These verdicts, then the others."""
        return Statements(
            np.concatenate([self.differences, other.differences]),
            np.concatenate([self.gaps, other.gaps]),
            np.concatenate([self.unfair, other.unfair]),
            np.concatenate([self.pairs, other.pairs]),
            self.sources + other.sources,
            self.reviewers + other.reviewers,
        )

    def state(self) -> dict[str, Any]:
        """In arrays and lists of strings."""
        return {
            "differences": self.differences,
            "gaps": self.gaps,
            "unfair": self.unfair,
            "pairs": self.pairs,
            "sources": list(self.sources),
            "reviewers": list(self.reviewers),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Statements:
        """The statements whose `state` this was."""
        arrays = {name: state[name] for name in ("differences", "gaps", "unfair", "pairs")}
        return cls(**arrays, sources=tuple(state["sources"]), reviewers=tuple(state["reviewers"]))
