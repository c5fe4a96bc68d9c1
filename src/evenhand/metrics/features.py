"""Squared distances as linear functions: the coordinates in which all metric learners work.

d(x, y)^2 = z'Gz with z = x - y is linear in G. Full structure: alpha = svec(G), off-diagonals times sqrt(2), so
that ||alpha|| = ||G||_F and m = d(d+1)/2. Diagonal structure: alpha = diag(G), m = d. In both <alpha, u> = d^2 with
||u|| <= ||z||^2 <= 4.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal, get_args

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.checks import check_one_of, check_whole
from evenhand._internal.factorisations import eigh
from evenhand._internal.jit import jit

Structure = Literal["auto", "full", "diagonal"]
"""What a user says about G. "auto": any metric, and features are expected to interact little, by as much as answers
show (`BayesPoint`); learners without such a prior take it for "full"."""

SpaceStructure = Literal["full", "diagonal"]
"""Which entries of G are unknown."""


class MetricSpace:
    """The space of the unknown alpha for `n_features` features and one structure.

    >>> space = MetricSpace(2, "full")
    >>> G = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> z = np.array([[1.0, -1.0]])
    >>> (space.features(z) @ space.flatten(G)).round(12).tolist() == [z[0] @ G @ z[0]]
    True
    """

    def __init__(self, n_features: int, structure: Structure = "full") -> None:
        self.n_features = check_whole("n_features", n_features, least=1)
        check_one_of("structure", structure, get_args(Structure))
        self.structure: SpaceStructure = "diagonal" if structure == "diagonal" else "full"
        d = self.n_features
        self.n_unknowns = d * (d + 1) // 2 if self.structure == "full" else d
        """The dimension m of alpha."""

    @cached_property
    def places(self) -> tuple[Indices, Indices]:
        """The row and the column in G of each entry of alpha, each (m,), row <= column."""
        if self.structure == "full":
            rows, columns = np.triu_indices(self.n_features)
            return rows, columns
        return np.arange(self.n_features), np.arange(self.n_features)

    @cached_property
    def _weights(self) -> Floats:
        rows, columns = self.places
        return np.where(rows == columns, 1.0, np.sqrt(2.0))

    def place_of(self, i: Indices, j: Indices) -> Indices:
        """Where in alpha the entries G_ij of the full structure stand, (n,)."""
        low, high = np.minimum(i, j), np.maximum(i, j)
        return np.asarray(low * self.n_features - low * (low - 1) // 2 + high - low)

    def features(self, differences: Floats) -> Floats:
        """u of each difference z: (n, d) -> (n, m)."""
        table = np.empty((len(differences), self.n_unknowns))
        fill_features(np.ascontiguousarray(differences), self.structure == "full", table)
        return table

    def flatten(self, matrix: Floats) -> Floats:
        """alpha of a symmetric matrix G: (d, d) -> (m,)."""
        return np.asarray(matrix[self.places] * self._weights)

    def unflatten(self, alpha: Floats) -> Floats:
        """G of alpha: (m,) -> (d, d), symmetric."""
        matrix = np.zeros((self.n_features, self.n_features))
        rows, columns = self.places
        matrix[rows, columns] = alpha / self._weights
        matrix[columns, rows] = matrix[rows, columns]
        return matrix

    def embedded(self, alpha: Floats, contexts: Floats) -> tuple[Floats, Floats]:
        """Points (k, d) as far apart as `contexts` (k, d) under G's positive part, and the eigenvalues of G, (d,)."""
        if self.structure == "diagonal":
            return contexts * np.sqrt(np.maximum(alpha, 0.0)), alpha
        values, vectors = eigh(self.unflatten(alpha))
        return contexts @ (vectors * np.sqrt(np.maximum(values, 0.0))), values

    def most_negative_direction(self, alpha: Floats) -> tuple[float, Floats]:
        """The smallest eigenvalue of G and the feature u of its eigenvector: <alpha, u> >= 0 for every metric."""
        if self.structure == "diagonal":
            lowest = int(np.argmin(alpha))
            return float(alpha[lowest]), np.eye(self.n_features)[lowest]
        values, vectors = eigh(self.unflatten(alpha))
        return float(values[0]), self.features(vectors[:, :1].T)[0]

    def is_metric(self, alpha: Floats, tolerance: float) -> bool:
        """Whether no eigenvalue of G is below -tolerance; to rounding, where one is that close to it.

        By a Cholesky factor of G + tolerance I, at a tenth of the cost of eigenvalues.
        """
        if self.structure == "diagonal":
            return bool(np.min(alpha) >= -tolerance)
        return has_factor(alpha, self.n_features, tolerance)

    def nearest_metric(self, alpha: Floats) -> Floats:
        """The positive semidefinite matrix nearest to alpha's in Frobenius norm, (d, d)."""
        if self.structure == "diagonal":
            return np.diag(np.maximum(alpha, 0.0))
        values, vectors = eigh(self.unflatten(alpha))
        return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


@jit
def fill_features(differences: Floats, is_full: bool, table: Floats) -> None:
    """svec(z z'), or the squares of z if not `is_full`, of each row z: (n, d) -> (n, m)."""
    (n, d), weight = differences.shape, np.sqrt(2.0)
    for row in range(n):
        u, place = table[row], 0
        for i in range(d):
            first = differences[row, i]
            u[place] = first * first
            place += 1
            for j in range(i + 1, d if is_full else 0):
                u[place] = first * differences[row, j] * weight
                place += 1


@jit
def has_factor(alpha: Floats, d: int, shift: float) -> bool:
    """Whether G + shift I, G = smat(alpha), has a Cholesky factor."""
    upper, place, weight = np.empty((d, d)), 0, np.sqrt(2.0)
    for i in range(d):
        upper[i, i] = alpha[place] + shift
        for j in range(i + 1, d):
            upper[i, j] = alpha[place + j - i] / weight
        place += d - i
    for i in range(d):
        if not upper[i, i] > 0.0:
            return False
        pivot = np.sqrt(upper[i, i])
        for j in range(i + 1, d):
            upper[i, j] /= pivot
        for row in range(i + 1, d):
            for j in range(row, d):
                upper[row, j] -= upper[i, row] * upper[i, j]
    return True
