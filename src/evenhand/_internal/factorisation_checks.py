"""Checks of matrix factorisations with one fixed vector each: as good as certain, in O(m^2) (Freivalds 1977).

A check takes the matrix and the answer. It is False where one of them is not finite.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.jit import jit

RESIDUAL_TOLERANCE = 1e-11
"""Largest accepted error of Ax, relative to x, the largest entry of A and the larger of its dimensions."""

ORTHOGONALITY_TOLERANCE = 1e-11
"""Largest accepted error of V'Vx, relative to x and to the larger dimension of V."""

TINY = float(np.finfo(np.float64).tiny)  # Errors below this are accepted always: there are no digits left.


class Eigen(NamedTuple):
    """A = V diag(w) V', the eigenvalues w ascending, (m,), the eigenvectors the columns of V, (m, m)."""

    values: Floats
    vectors: Floats


class Singular(NamedTuple):
    """A = U diag(s) V', the singular values s descending; `right` is V', a singular vector a row."""

    left: Floats
    values: Floats
    right: Floats


class PivotedQR(NamedTuple):
    """A[:, order] = Q R, Q orthonormal, the diagonal of R descending in size."""

    q: Floats
    r: Floats
    order: Indices


def is_eigen(matrix: Floats, answer: Eigen) -> bool:
    """Whether V diag(w) V' is the symmetric matrix with this lower triangle, and V orthogonal."""
    values, vectors = answer
    wrong, skew, scale = _eigen_errors(matrix, values, vectors, _probe(len(values)))
    return wrong <= _limit(RESIDUAL_TOLERANCE, scale, matrix) and skew <= _limit(ORTHOGONALITY_TOLERANCE, 1.0, matrix)


def are_eigenvalues(matrix: Floats, values: Floats) -> bool:
    """Whether sum and sum of squares are those of the matrix's eigenvalues, and the order is ascending."""
    unit = _scale(matrix) or 1.0
    with np.errstate(all="ignore"):
        wrong = float(np.trace(matrix) - np.sum(values)) / unit
        wrong_squares = float(np.sum((matrix / unit) ** 2) - np.sum((values / unit) ** 2)) / max(len(matrix), 1)
    is_ascending = bool(np.all(values[1:] >= values[:-1]))
    return is_ascending and _is_small(np.array([wrong, wrong_squares]), RESIDUAL_TOLERANCE, 1.0, matrix)


def is_svd(matrix: Floats, answer: Singular) -> bool:
    """Whether U diag(s) V' is the matrix, both factors orthogonal, and s descending and not negative."""
    left, values, right = answer
    x, r = _probe(matrix.shape[1]), len(values)
    with np.errstate(all="ignore"):
        wrong = matrix @ x - left[:, :r] @ (values * (right[:r] @ x))
    is_descending = bool(np.all(values[1:] <= values[:-1]) and np.all(values >= 0.0))
    is_right = is_descending and _is_small(wrong, RESIDUAL_TOLERANCE, _scale(matrix), matrix)
    return is_right and _has_orthonormal_columns(left) and _has_orthonormal_columns(right.T)


def are_singular_values(matrix: Floats, values: Floats) -> bool:
    """Whether the sum of squares is that of the matrix's entries, and s descending and not negative."""
    unit = _scale(matrix) or 1.0
    with np.errstate(all="ignore"):
        wrong = float(np.sum((matrix / unit) ** 2) - np.sum((values / unit) ** 2)) / max(min(matrix.shape), 1)
    is_descending = bool(np.all(values[1:] <= values[:-1]) and np.all(values >= 0.0))
    return is_descending and _is_small(np.array([wrong]), RESIDUAL_TOLERANCE, 1.0, matrix)


def is_cholesky(matrix: Floats, L: Floats) -> bool:
    """Whether LL' is the matrix, and the diagonal of L positive."""
    x = _probe(len(matrix))
    with np.errstate(all="ignore"):
        wrong = matrix @ x - L @ (L.T @ x)
    return bool(np.all(np.diag(L) > 0.0)) and _is_small(wrong, RESIDUAL_TOLERANCE, _scale(matrix), matrix)


def is_inverse(L: Floats, inverse: Floats) -> bool:
    """Whether L times the inverse is the identity, as far as the condition of L allows."""
    x = _probe(len(L))
    with np.errstate(all="ignore"):
        condition = _scale(L) * _scale(inverse)
        wrong = L @ (inverse @ x) - x
    return _is_small(wrong, RESIDUAL_TOLERANCE, max(condition, 1.0), L)


def is_basis(matrix: Floats, basis: Floats) -> bool:
    """Whether the columns are orthonormal and span those of the matrix."""
    with np.errstate(all="ignore"):
        y = matrix @ _probe(matrix.shape[1])
        wrong = y - basis @ (basis.T @ y)
    return _is_small(wrong, RESIDUAL_TOLERANCE, _scale(matrix), matrix) and _has_orthonormal_columns(basis)


def is_complement(matrix: Floats, basis: Floats) -> bool:
    """Whether the columns are orthonormal and orthogonal to those of the matrix."""
    with np.errstate(all="ignore"):
        along = basis.T @ (matrix @ _probe(matrix.shape[1]))
    return _is_small(along, RESIDUAL_TOLERANCE, _scale(matrix), matrix) and _has_orthonormal_columns(basis)


def is_qr(matrix: Floats, answer: PivotedQR) -> bool:
    """Whether QR is the matrix in this order, and the columns of Q orthonormal."""
    x = _probe(matrix.shape[1])
    with np.errstate(all="ignore"):
        wrong = matrix[:, answer.order] @ x - answer.q @ (answer.r @ x)
    return _is_small(wrong, RESIDUAL_TOLERANCE, _scale(matrix), matrix) and _has_orthonormal_columns(answer.q)


def is_solution(matrix: Floats, X: Floats, table: Floats) -> bool:
    """Whether matrix X = table, seen on a probe; relative to the size of what is added up."""
    x = _probe(table.shape[1])
    with np.errstate(all="ignore"):
        y = X @ x
        wrong = matrix @ y - table @ x
        scale = _scale(matrix) * max(float(np.abs(y).max(initial=0.0)), 1.0) + _scale(table)
    return _is_small(wrong, RESIDUAL_TOLERANCE, scale, matrix)


def is_upper_factor(matrix: Floats, R: Floats) -> bool:
    """Whether R'R = A'A, seen on a probe; what stands below R's diagonal is zero."""
    x = _probe(matrix.shape[1])
    with np.errstate(all="ignore"):
        wrong = matrix.T @ (matrix @ x) - R.T @ (R @ x)
    return _is_small(wrong, RESIDUAL_TOLERANCE, _scale(matrix) ** 2, matrix)


def are_different(matrix: Floats, rows: Indices) -> bool:
    """Whether these are different rows of the matrix, at least one."""
    return bool(0 < len(np.unique(rows)) == len(rows) and rows.min() >= 0 and rows.max() < len(matrix))


def _has_orthonormal_columns(table: Floats) -> bool:
    x = _probe(table.shape[1])
    with np.errstate(all="ignore"):
        skew = table.T @ (table @ x) - x
    return _is_small(skew, ORTHOGONALITY_TOLERANCE, 1.0, table)


def _is_small(error: Floats, tolerance: float, scale: float, matrix: Floats) -> bool:
    """Whether no error exceeds the tolerance; False where one is not a number."""
    return _scale(error) <= _limit(tolerance, scale, matrix)


def _limit(tolerance: float, scale: float, matrix: Floats) -> float:
    """The largest accepted error. False is what comparing with it gives if it is infinite or not a number."""
    limit = tolerance * scale * max(matrix.shape) + TINY
    return limit if limit < math.inf else math.nan


def _scale(table: Floats) -> float:
    """The size of the largest entry."""
    return float(np.abs(table).max(initial=0.0))


@lru_cache(maxsize=256)
def _probe(n: int) -> Floats:
    """A vector (n,) of numbers from a half to three halves, without a pattern."""
    x = np.random.default_rng(n).uniform(0.5, 1.5, n)
    x.flags.writeable = False
    return x


@jit
def _eigen_errors(matrix: Floats, values: Floats, vectors: Floats, x: Floats) -> tuple[float, float, float]:
    """The sums of |Ax - V(w(V'x))| and of |VV'x - x|, and the largest entry of A, of which the lower triangle is read.

    A kernel, since numpy would take longer than for the eigenvalues of a small matrix. O(m^2).
    """
    m = len(values)
    image, turned, wrong, skew, scale = np.zeros(m), np.zeros(m), 0.0, 0.0, 0.0
    for i in range(m):
        for j in range(m):
            turned[j] += vectors[i, j] * x[i]
        for j in range(i):
            image[i] += matrix[i, j] * x[j]
            image[j] += matrix[i, j] * x[i]
            scale = max(scale, abs(matrix[i, j]))
        image[i] += matrix[i, i] * x[i]
        scale = max(scale, abs(matrix[i, i]))
    for i in range(m):
        back, product = 0.0, 0.0
        for j in range(m):
            back += vectors[i, j] * turned[j]
            product += vectors[i, j] * (values[j] * turned[j])
        wrong += abs(image[i] - product)  # a sum keeps what is not a number
        skew += abs(back - x[i])
    return wrong, skew, scale
