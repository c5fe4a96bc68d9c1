"""Verdicts of many reviews as arrays, each row with the decision and the reviewer it comes from."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand.metrics.verdicts import Verdicts
from evenhand.records.decision import PROBABILITY_TOLERANCE


@dataclass(frozen=True, eq=False)
class SourcedVerdicts:
    """Verdicts with their sources: z'Gz >= threshold for a fair pair, z'Gz <= threshold for an unfair one."""

    differences: Floats
    """z, (n, d)."""
    gaps: Floats
    """(n,)."""
    unfair: Mask
    """(n,)."""
    pairs: Indices
    """(n, 2): the candidates of the reviewed decision."""
    sources: tuple[str, ...]
    """The ids of those decisions."""
    reviewers: tuple[str | None, ...]

    @classmethod
    def none(cls, n_features: int) -> SourcedVerdicts:
        """No verdicts."""
        empty = np.zeros((0, n_features))
        return cls(empty, np.zeros(0), np.zeros(0, np.bool_), np.zeros((0, 2), np.int64), (), ())

    @classmethod
    def of(cls, verdicts: Verdicts, source: str) -> SourcedVerdicts:
        """The verdicts on one decision."""
        n = len(verdicts)
        z, indices = verdicts.pairs.differences, np.asarray(verdicts.pairs.indices, dtype=np.int64)
        return cls(z, verdicts.gaps, verdicts.unfair, indices, (source,) * n, (verdicts.reviewer,) * n)

    def __len__(self) -> int:
        return len(self.gaps)

    @cached_property
    def thresholds(self) -> Floats:
        """Squared gaps, (n,), moved by PROBABILITY_TOLERANCE so that the inequalities certainly hold."""
        return np.asarray((self.gaps + np.where(self.unfair, PROBABILITY_TOLERANCE, -PROBABILITY_TOLERANCE)) ** 2)

    @cached_property
    def squared_lengths(self) -> Floats:
        """||z||^2, (n,)."""
        return np.asarray(np.sum(self.differences**2, axis=1))

    def take(self, rows: Indices) -> SourcedVerdicts:
        """The verdicts of these rows, in this order."""
        arrays = (self.differences[rows], self.gaps[rows], self.unfair[rows], self.pairs[rows])
        sources = tuple(self.sources[row] for row in rows)
        return SourcedVerdicts(*arrays, sources, tuple(self.reviewers[row] for row in rows))

    def joined(self, other: SourcedVerdicts) -> SourcedVerdicts:
        """These verdicts, then the others."""
        names = ("differences", "gaps", "unfair", "pairs")
        arrays = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in names}
        return SourcedVerdicts(
            **arrays, sources=self.sources + other.sources, reviewers=self.reviewers + other.reviewers
        )

    def state(self) -> dict[str, Any]:
        """Arrays and lists of strings."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**values, "sources": list(self.sources), "reviewers": list(self.reviewers)}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> SourcedVerdicts:
        """The verdicts with this `state`."""
        return cls(**{**state, "sources": tuple(state["sources"]), "reviewers": tuple(state["reviewers"])})
