"""The prior of a kernel belief: covariances of squared distances, and of the entries of G."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand.metrics.gaussian._kernel import CHUNK, fill_lanes, fill_own_products, fill_products
from evenhand.metrics.gaussian.prior_mean import PriorMean
from evenhand.metrics.gaussian.prior_shape import PriorShape


@dataclass(frozen=True, eq=False)
class KernelPrior:
    """z'Gz ~ N(c |z|^2, k(z, z)) for a shape and a bound: what `CovarianceForm.prior` says, of pairs only."""

    shape: PriorShape
    bound: float
    first: PriorMean | None = None
    """The mean of G, if it is not c I."""

    @cached_property
    def unit(self) -> float:
        """The variance of a diagonal entry by itself."""
        usual = self.shape.variance(self.bound)
        return usual if self.first is None else usual / self.first.weight

    def means(self, rows: Floats, lengths: Floats | None = None) -> Floats:
        """The mean of z'Gz of each row z, (p,); lengths: their squares, if they are known."""
        if self.first is not None:
            return np.asarray(np.einsum("ij,ij->i", rows @ self.first.matrix, rows))
        return np.asarray(self.centre * (squares(rows) if lengths is None else lengths))

    @property
    def matrix(self) -> Floats:
        """The mean of G, (d, d)."""
        return self.centre * np.eye(self.shape.n_features) if self.first is None else self.first.matrix

    def times(self, matrix: Floats) -> Floats:
        """The covariances of <matrix, G> with all entries of G, (d, d)."""
        same = self.shape.blocks[:, None] == self.shape.blocks[None, :]
        product = np.where(same, 1.0, self.shape.ratio**2) * matrix
        product[np.diag_indices_from(product)] += self.shape.common * float(np.trace(matrix))
        return np.asarray(self.unit * product)

    @property
    def centre(self) -> float:
        """c: the mean of G is c I, unless one was passed."""
        return self.bound / (2.0 * math.sqrt(self.shape.n_features))

    @property
    def of_identity(self) -> float:
        """The variance of <svec(I), alpha> / d, which is P's largest eigenvalue unless P is flat."""
        return self.unit * (1.0 + self.shape.common * self.shape.n_features)

    @cached_property
    def _order(self) -> tuple[Indices, Indices]:
        """The columns, blocks of one column first, and where blocks end, as `fill_products` reads them."""
        sizes = np.bincount(self.shape.blocks)
        size_of = sizes[self.shape.blocks]
        order = np.lexsort((self.shape.blocks, size_of > 1))
        singles = int(np.sum(size_of == 1))
        larger = np.unique(self.shape.blocks[size_of > 1])
        return order, np.append(singles, singles + np.cumsum(sizes[larger])).astype(np.int64)

    def lanes(self, supports: Floats) -> Floats:
        """Supports (n, d) as `products` reads them."""
        lanes = np.empty(((len(supports) + CHUNK - 1) // CHUNK, supports.shape[1] + 1, CHUNK))
        fill_lanes(np.ascontiguousarray(supports), self._order[0], lanes)
        return lanes

    def covariances(self, rows: Floats, n: int, lanes: Floats) -> Floats:
        """k of each row and each of n supports, (p, n)."""
        table, none = np.empty((len(rows), n)), np.empty((0, 0))
        fill_products(np.ascontiguousarray(rows), lanes, *self._order, *self._weights, table, none, none)
        return table

    def products(self, rows: Floats, n: int, lanes: Floats) -> tuple[Floats, Floats, Floats]:
        """The same, and what it is made of, across and within blocks, each (p, n)."""
        table, across, within = (np.empty((len(rows), n)) for _ in range(3))
        fill_products(np.ascontiguousarray(rows), lanes, *self._order, *self._weights, table, across, within)
        return table, across, within

    def variances(self, rows: Floats) -> Floats:
        """k of each row with itself, (p,)."""
        values = np.empty(len(rows))
        fill_own_products(np.ascontiguousarray(rows), *self._order, *self._weights, values)
        return values

    @property
    def _weights(self) -> tuple[float, float, float]:
        return self.shape.ratio, self.shape.common, self.unit

    def spread(self, supports: Floats, weights: Floats) -> Floats:
        """unit P sum_n weights_n u_n as a matrix, (d, d)."""
        same = self.shape.blocks[:, None] == self.shape.blocks[None, :]
        matrix = np.where(same, 1.0, self.shape.ratio**2) * (supports.T @ (weights[:, None] * supports))
        matrix[np.diag_indices_from(matrix)] += self.shape.common * float(weights @ squares(supports))
        return np.asarray(self.unit * matrix)


def squares(rows: Floats) -> Floats:
    """|z|^2 of each row, (n,)."""
    return np.asarray(np.einsum("ij,ij->i", rows, rows))
