"""The shape of the prior: how narrow entries of G off the diagonal start, and how much of the width they share.

Most features count by themselves and few interact. So off-diagonal entries of svec(G) have `ratio` times the deviation
of diagonal ones, except within a block of columns that belong together, such as the levels of a category. And nobody
knows beforehand how large the metric is as a whole: the diagonal has a part in common. Without it the distance of two
people who differ a little in everything would be taken as known, at 1,000 features to 3%.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand.errors import InvalidInput
from evenhand.metrics.features import MetricSpace

COMMON = 0.5
"""The deviation of a common factor on the diagonal. With 0, 0.5 and 1: 25, 27 and 29 unfair pairs if the metric is
diagonal and of norm 1; 93, 74 and 77 if its norm is 0.2; and at norm 5 a reward of 79, 101 and 105 (d = 16,
`benchmarks/structures.py`)."""


@dataclass(frozen=True, eq=False)
class PriorUnits:
    """The symmetric root of a prior covariance P: diag(scales^2), plus a constant on all pairs of diagonal entries.

    scales: (m,), 1 on the diagonal of G. diagonal: the places of the diagonal in alpha, (d,). root: that of P's
    eigenvalue for the sum of the diagonal.
    """

    scales: Floats
    diagonal: Indices
    root: float

    def into(self, table: Floats) -> Floats:
        """P^(-1/2) x of each column x of a table, (m,) or (m, n)."""
        scaled = (table.T / self.scales).T
        scaled[self.diagonal] += (1.0 / self.root - 1.0) * np.mean(scaled[self.diagonal], axis=0)
        return scaled

    def out_of(self, table: Floats) -> Floats:
        """P^(1/2) x of each column x of a table, (m,) or (m, n)."""
        scaled = (table.T * self.scales).T
        scaled[self.diagonal] += (self.root - 1.0) * np.mean(scaled[self.diagonal], axis=0)
        return scaled

    def covariance(self) -> Floats:
        """P, (m, m)."""
        covariance = np.diag(self.scales**2)
        covariance[np.ix_(self.diagonal, self.diagonal)] += (self.root**2 - 1.0) / len(self.diagonal)
        return covariance


@dataclass(frozen=True, eq=False)
class PriorShape:
    """Deviations of svec(G)'s entries under the prior, in units of the diagonal's.

    ratio: of entries off the diagonal, 1 for a prior without shape. blocks: the number of each column's block, (d,).
    """

    n_features: int
    ratio: float
    blocks: Indices

    @classmethod
    def of(cls, n_features: int, ratio: float, labels: Sequence[Any] | None = None) -> PriorShape:
        """The shape with one label for each column; columns with the same label are a block. Default: none is."""
        numbers = {label: number for number, label in enumerate(dict.fromkeys(labels or ()))}
        blocks = np.arange(n_features) if labels is None else np.array([numbers[label] for label in labels])
        return cls(n_features, ratio, blocks)

    @property
    def freedom(self) -> float:
        """The number of unknowns, each counted by its variance: d without, m with all off-diagonal entries."""
        d, inside = self.n_features, int(np.sum(np.bincount(self.blocks) ** 2))
        return d + 0.5 * (inside - d) + 0.5 * self.ratio**2 * (d * d - inside)

    @property
    def common(self) -> float:
        """The variance that all diagonal entries have in common, in units of their own.

        It is that of a factor on the prior mean B / (2 sqrt d) I with the deviation COMMON.
        """
        m = self.n_features * (self.n_features + 1) // 2
        return COMMON**2 * math.sqrt(m * self.freedom) / (4.0 * self.n_features)

    def units(self, space: MetricSpace) -> PriorUnits:
        """Coordinates in which all unknowns are equally wide and independent."""
        i, j = space.places
        scales = np.where(self.blocks[i] == self.blocks[j], 1.0, self.ratio)
        return PriorUnits(scales, np.flatnonzero(i == j), math.sqrt(1.0 + self.common * self.n_features))

    def variance(self, bound: float) -> float:
        """The variance of a diagonal entry by itself, B^2 / sqrt(m f), f being the `freedom`.

        B^2 / f would be the same variance in all, B^2 / m the same on the diagonal as without shape. The first is bold
        where features do not interact, the second timid where they do: 69 and 36 unfair pairs with a diagonal truth,
        569 and 637 with one of rank 2; in between 47 and 560 (d = 16, ratio 0.1, no common part, three seeds).
        """
        m = self.n_features * (self.n_features + 1) // 2
        return bound**2 / math.sqrt(m * self.freedom)


def check_blocks(blocks: Sequence[Any] | None, n_features: int) -> tuple[Any, ...] | None:
    """The labels as a tuple: None, or one string or whole number for each column."""
    if blocks is None:
        return None
    labels = tuple(blocks)
    if isinstance(blocks, str) or len(labels) != n_features or not all(isinstance(x, (str, int)) for x in labels):
        raise InvalidInput(f"blocks must be {n_features} labels, strings or whole numbers, got {blocks!r}")
    return labels
