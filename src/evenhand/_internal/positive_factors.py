"""Solutions, triangular factors, pivots and ranks of positive semidefinite matrices; see `factorisations`."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.linalg.blas
import scipy.linalg.lapack

from evenhand._internal import factorisations
from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.factorisations import RESIDUAL_TOLERANCE, eigh, is_small, probe, size_of

INDEPENDENT = 1e-10
"""The least share of the largest pivot that a row of a positive semidefinite matrix adds; others are dependent."""


def solve_positive(matrix: Floats, table: Floats) -> Floats:
    """X with matrix X = table, for a symmetric positive definite matrix (m, m) and a table (m, n). O(m^3)."""

    def is_right(matrix: Floats, X: Floats) -> bool:
        return is_solution(matrix, X, table)

    def by_cholesky(matrix: Floats) -> Floats:
        return np.asarray(scipy.linalg.cho_solve((scipy.linalg.cholesky(matrix, lower=True), True), table))

    def by_eigenvalues(matrix: Floats) -> Floats:
        values, vectors = eigh(matrix)
        return np.asarray(vectors @ ((vectors.T @ table) / values[:, None]))

    return factorisations.first_sound("solution", matrix, (by_cholesky, by_eigenvalues), is_right)


def upper_factor(matrix: Floats) -> Floats:
    """The upper triangular R with R'R = A'A for a matrix A (p, q), p >= q. O(p q^2)."""

    def by_qr(matrix: Floats) -> Floats:
        return np.asarray(np.linalg.qr(matrix, mode="r"))

    return factorisations.first_sound("triangular factor", matrix, (by_qr,), is_upper_factor)


def lower_times(L: Floats, table: Floats) -> Floats:
    """The product of a lower triangular matrix (m, m) and a table (m, n), in half the time; zeros are not read."""
    return np.asarray(scipy.linalg.blas.dtrmm(1.0, L.T, table, trans_a=1, lower=0))


def pivots(matrix: Floats, independent: float = INDEPENDENT) -> Indices:
    """Rows of a positive semidefinite matrix (m, m) that span all; those that add most first. O(m^3).

    independent: the least share of the largest pivot that a row adds.

    >>> pivots(np.diag([1.0, 3.0, 2.0])).tolist(), pivots(np.ones((2, 2))).tolist()
    ([1, 2, 0], [0])
    """

    def by_cholesky(matrix: Floats) -> Indices:
        least = independent * float(np.max(np.diag(matrix)))
        _, order, rank, _ = scipy.linalg.lapack.dpstrf(matrix, tol=least, lower=1)
        return np.asarray(order[:rank], np.int64) - 1

    return factorisations.first_sound("pivots", matrix, (by_cholesky,), are_different)


def independent_rows(table: Floats) -> int:
    """The rank of a table (n, m), directions below 5e-7 of the largest counting as none: by its smaller Gram matrix.

    At 1,000 x 1,081 singular values took 7 s on two cores with a load of 6, as LAPACK's threads then wait for each
    other at every step; the blocked Cholesky factorisation with pivots took 0.2 s, and gives the same number.

    >>> independent_rows(np.array([[1.0, 2.0], [2.0, 4.0], [0.0, 0.0]]))
    1
    """
    n, m = table.shape
    scale = size_of(table)
    if not scale:
        return 0
    unit = table / scale
    gram = unit.T @ unit if m < n else unit @ unit.T
    return len(pivots(gram, 2.0 * len(gram) * float(np.finfo(np.float64).eps)))


# Checks of answers.


def is_solution(matrix: Floats, X: Floats, table: Floats) -> bool:
    """Whether matrix X = table, seen on a probe; relative to the size of what is added up."""
    x = probe(table.shape[1])
    with np.errstate(all="ignore"):
        y = X @ x
        wrong = matrix @ y - table @ x
        scale = size_of(matrix) * max(size_of(y), 1.0) + size_of(table)
    return is_small(wrong, RESIDUAL_TOLERANCE, scale, matrix)


def is_upper_factor(matrix: Floats, R: Floats) -> bool:
    """Whether R'R = A'A, seen on a probe; what stands below R's diagonal is zero."""
    x = probe(matrix.shape[1])
    with np.errstate(all="ignore"):
        wrong = matrix.T @ (matrix @ x) - R.T @ (R @ x)
    return is_small(wrong, RESIDUAL_TOLERANCE, size_of(matrix) ** 2, matrix)


def are_different(matrix: Floats, rows: Indices) -> bool:
    """Whether these are different rows of the matrix, at least one."""
    return bool(0 < len(np.unique(rows)) == len(rows) and rows.min() >= 0 and rows.max() < len(matrix))
