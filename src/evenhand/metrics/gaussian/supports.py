"""The pairs that a kernel belief is made of: how they enter, how the least important ones go."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from evenhand._internal.append_only import GrowingRows
from evenhand._internal.arrays import Floats
from evenhand._internal.factorisations import eigh
from evenhand._internal.positive_factors import lower_times, pivots, solve_positive, upper_factor
from evenhand.metrics.gaussian.kernel_prior import KernelPrior, squares

LEAST_IMPORTANCE = 1e-12  # As a share of the largest.

DEPENDENT = 1e-10
"""Directions of K with a smaller share of the largest eigenvalue are spanned by the others, to rounding."""

MANY_ROWS = 64  # From so many on a triangular product is worth a copy of the factor.


@dataclass(frozen=True, eq=False)
class Whitened:
    """Coordinates of what the supports span in which the prior is N(., I) and the belief's covariance is diagonal.

    roots R (n, r) with RR' = K, the prior covariances of the supports, and inverse (n, r) with inverse' R = I.
    """

    roots: Floats
    inverse: Floats
    learned: Floats
    """The share of the prior variance that is gone in each direction, (r,)."""

    @classmethod
    def of(cls, K: Floats, factor: Floats, shrinks: Floats) -> Whitened:
        """The coordinates for K (n, n) and C = factor' diag(shrinks) factor. O(n^3).

        C itself is never written down: its entries are as large as those of the inverse of K, and with their rounding
        errors a belief of nearly dependent supports has variances below zero.
        """
        values, vectors = eigh(K)
        counts = values > DEPENDENT * values[-1]
        roots, inverse = vectors[:, counts] * np.sqrt(values[counts]), vectors[:, counts] / np.sqrt(values[counts])
        learned, V = eigh(_congruent(factor @ roots, shrinks))
        return cls(roots @ V, inverse @ V, learned)

    def into(self, values: Floats) -> Floats:
        """Coordinates of values at the supports, (n,) -> (r,)."""
        return np.asarray(values @ self.inverse)

    def forces(self, weights: Floats) -> Floats:
        """Coordinates of the function with these weights on the supports, (n,) -> (r,)."""
        return np.asarray(weights @ self.roots)

    def weights(self, coordinates: Floats) -> Floats:
        """The weights of the function with these coordinates, (r,) -> (n,)."""
        return np.asarray(self.inverse @ coordinates)


@dataclass(frozen=True, eq=False)
class Supports:
    """Pairs with their weights a, and C as H' diag(shrinks) H.

    Tables grow by rows and are shared: of symmetric and of triangular ones the lower triangle is kept.
    """

    _rows: GrowingRows
    _across: GrowingRows
    """(z.w)^2 less what lies within blocks, of all pairs of supports."""
    _within: GrowingRows
    _factor: GrowingRows
    weights: Floats
    shrinks: Floats
    is_triangular: bool = True

    @classmethod
    def none(cls, n_features: int) -> Self:
        """No supports."""
        return cls(GrowingRows(n_features), GrowingRows(0), GrowingRows(0), GrowingRows(0), np.zeros(0), np.zeros(0))

    @classmethod
    def of(
        cls,
        prior: KernelPrior,
        rows: Floats,
        factor: Floats,
        weights: Floats,
        shrinks: Floats,
        is_triangular: bool,
        width: int,
    ) -> Self:
        """Supports with these rows (n, d) and this H (n, n); width: of the tables, to grow on."""
        _, across, within = prior.products(rows, len(rows), prior.lanes(rows))
        tables = (_padded(table, width) for table in (np.tril(across), np.tril(within), factor))
        first, second, third = tables
        return cls(GrowingRows(rows.shape[1]).plus(rows), first, second, third, weights, shrinks, is_triangular)

    @property
    def rows(self) -> Floats:
        """z, (n, d)."""
        return self._rows.all()

    @property
    def factor(self) -> Floats:
        """H, (n, n)."""
        return self._factor.all()[:, : len(self.weights)]

    def at_turn(self, k: Floats) -> Floats:
        """H k: the covariances of rows with each support at its turn, (p, n) -> (n, p)."""
        if len(k) < MANY_ROWS or not self.is_triangular:
            return np.asarray(self.factor @ k.T)
        return lower_times(self._contiguous, k.T)

    @cached_property
    def _contiguous(self) -> Floats:
        return np.ascontiguousarray(self.factor)

    def extended(
        self,
        rows: Floats,
        across: Floats,
        within: Floats,
        directions: Floats,
        steps: Floats,
        shrinks: Floats,
        *,
        most: int,
    ) -> Supports:
        """With these rows (q, d) as supports, and what each changes: s in `directions`, (q, n + q), step and shrink.

        across, within: products of the rows with all supports, then with each other, (q, n + q). most: supports that
        will be at most; a matter of memory.
        """
        needed, width = len(self.weights) + len(rows), self._factor.all().shape[1]
        if needed > width:
            width = max(min(2 * needed, most), needed, MANY_ROWS)
        first = needed - len(rows)
        new = (np.tril(across, first), np.tril(within, first), directions)
        tables = zip((self._across, self._within, self._factor), new, strict=True)
        more, inside, factor = (_widened(table, width).plus(_with_zeros(rows, width)) for table, rows in tables)
        weights = np.append(self.weights, np.zeros(len(rows))) + steps @ directions
        shrinks = np.append(self.shrinks, shrinks)
        return Supports(self._rows.plus(rows), more, inside, factor, weights, shrinks, self.is_triangular)

    def covariances(self, prior: KernelPrior, rows: Floats) -> Floats:
        """The prior covariances of rows and supports, (p, n)."""
        return prior.covariances(rows, len(self.weights), self.lanes(prior))

    def products(self, prior: KernelPrior, rows: Floats) -> tuple[Floats, Floats, Floats]:
        """The same, and what it is made of, each (p, n)."""
        return prior.products(rows, len(self.weights), self.lanes(prior))

    def lanes(self, prior: KernelPrior) -> Floats:
        """The supports as the kernel reads them; worked out once."""
        if "_lanes" not in self.__dict__:
            self.__dict__["_lanes"] = prior.lanes(self.rows)
        lanes: Floats = self.__dict__["_lanes"]
        return lanes

    def power_times(self, prior: KernelPrior, exponent: int) -> Floats:
        """u'(unit P)^exponent u' of all supports, times their weights, (n,). O(n^2).

        P has the eigenvalue 1 + common d along svec(I), and along the rest what stands in its diagonal.
        """
        a, n, d = self.weights, len(self.weights), prior.shape.n_features
        across, within = (_symmetric_times(table.all()[:, :n], a) for table in (self._across, self._within))
        lengths = squares(self.rows)
        along = ((1.0 + prior.shape.common * d) ** exponent - 1.0) / d
        product = prior.shape.ratio ** (2 * exponent) * across + within + along * float(a @ lengths) * lengths
        return np.asarray(prior.unit**exponent * product)

    def whitened(self, prior: KernelPrior) -> Whitened:
        """See `Whitened`. O(n^3)."""
        return self.whitened_with(prior, self.factor, self.shrinks)

    def whitened_with(self, prior: KernelPrior, factor: Floats, shrinks: Floats) -> Whitened:
        """The same for another C on these supports."""
        return Whitened.of(self.covariances(prior, self.rows), factor, shrinks)

    def rebuilt(self, weights: Floats, whitened: Whitened, learned: Floats) -> Supports:
        """The same supports with other weights, and with these shares learned in these coordinates."""
        return self._with(weights, np.ascontiguousarray(whitened.inverse.T), learned, is_triangular=False)

    def _with(self, weights: Floats, factor: Floats, shrinks: Floats, is_triangular: bool = True) -> Supports:
        table = _padded(factor, self._factor.all().shape[1])
        return replace(self, _factor=table, weights=weights, shrinks=shrinks, is_triangular=is_triangular)

    def compressed(self, prior: KernelPrior, n: int) -> Supports:
        """The n most important supports; what the others say is projected onto them. O(n^3).

        The projection is that of Csato and Opper: the nearest function, and the nearest covariance, in the span of the
        supports that stay. Those are chosen by pivots of K, weighed by what each support did to mean and variance.
        Nothing is less certain than the prior then.
        """
        K, H = self.covariances(prior, self.rows), self.factor
        importance = np.sqrt(np.maximum(self.shrinks @ H**2, 0.0) + self.weights**2)
        importance = np.maximum(importance, LEAST_IMPORTANCE * np.max(importance))
        weighed = K * np.outer(importance, importance)
        stays = np.sort(pivots(weighed)[:n])
        goes = np.setdiff1d(np.arange(len(K)), stays)
        projection = solve_positive(weighed[np.ix_(stays, stays)], weighed[np.ix_(stays, goes)])
        projection *= np.outer(importance[stays], 1.0 / importance[goes])  # back from weighed to plain functions
        weights, factor = self.weights[stays] + projection @ self.weights[goes], H[:, stays] + H[:, goes] @ projection.T
        shrinks = self.shrinks
        if np.any(shrinks < 0.0):  # a verdict widened the belief beyond the prior
            whitened = Whitened.of(K[np.ix_(stays, stays)], factor, shrinks)
            factor, shrinks = whitened.inverse.T, np.maximum(whitened.learned, 0.0)
        H, shrinks = _as_triangle(factor, shrinks)
        width = self._factor.all().shape[1]
        return Supports.of(prior, self.rows[stays], H, weights, shrinks, is_triangular=True, width=width)

    # Saving.

    def state(self) -> dict[str, Any]:
        """All of it; products of supports are worked out again, to the bit."""
        return {
            "supports": self.rows,
            "factor": self.factor,
            "weights": self.weights,
            "shrinks": self.shrinks,
            "is_triangular": self.is_triangular,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], prior: KernelPrior) -> Self:
        """The supports with this `state`, to the bit."""
        factor, weights, shrinks = (state[name].copy() for name in ("factor", "weights", "shrinks"))
        if not len(weights):
            return cls.none(prior.shape.n_features)
        is_triangular, width = bool(state["is_triangular"]), max(2 * len(weights), MANY_ROWS)
        return cls.of(prior, state["supports"].copy(), factor, weights, shrinks, is_triangular, width)


def _widened(table: GrowingRows, width: int) -> GrowingRows:
    """The table with more columns, zeros."""
    return table if table.all().shape[1] == width else _padded(table.all(), width)


def _symmetric_times(lower: Floats, x: Floats) -> Floats:
    """The product of a symmetric matrix with a vector, from its lower triangle; zeros stand above."""
    return np.asarray(lower @ x + x @ lower - np.diag(lower) * x)


def _as_triangle(factor: Floats, shrinks: Floats) -> tuple[Floats, Floats]:
    """H (n, n), lower triangular, and shrinks, for C = factor' diag(shrinks) factor, of any number of rows.

    With diag(sqrt(shrinks)) factor = QR, C = R'R; and turned round, R is lower triangular. No shrink is negative.
    """
    roots = np.sqrt(shrinks)[:, None] * factor
    n = factor.shape[1]
    if len(roots) < n:
        roots = np.vstack([roots, np.zeros((n - len(roots), n))])
    R = upper_factor(np.ascontiguousarray(roots[:, ::-1]))
    return np.ascontiguousarray(R[::-1, ::-1]), np.ones(len(R))


def _congruent(table: Floats, signs: Floats) -> Floats:
    """table' diag(signs) table, symmetric to the bit."""
    product = table.T @ (signs[:, None] * table)
    return np.asarray(0.5 * (product + product.T))


def _with_zeros(table: Floats, width: int) -> Floats:
    """The table with zeros up to this width."""
    padded = np.zeros((len(table), width))
    padded[:, : table.shape[1]] = table
    return padded


def _padded(table: Floats, width: int) -> GrowingRows:
    """The same, to grow on."""
    return GrowingRows(width).plus(_with_zeros(table, width))
