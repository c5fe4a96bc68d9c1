"""Eigenvalues and matrix factorisations: every answer verified, with a second driver where the first one fails.

LAPACK's divide and conquer, numpy's only driver for eigenvectors, does not converge on some sound, well-conditioned
matrices; other drivers do. No other module calls them directly, which ruff enforces; kernels have their own.

The usual driver comes first, so answers are numpy's to the bit wherever numpy's are right; `factorisation_checks` says
what is right. If no driver has a right answer, SolverFailed is raised.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

import numpy as np
import scipy.linalg
import scipy.linalg.blas
import scipy.linalg.lapack

from evenhand._internal import factorisation_checks as checks
from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.factorisation_checks import Eigen, PivotedQR, Singular
from evenhand.errors import SolverFailed

Answer = TypeVar("Answer")

INDEPENDENT = 1e-10
"""The least share of the largest pivot that a row of a positive semidefinite matrix adds; others are dependent."""


def eigh(matrix: Floats) -> Eigen:
    """Eigenvalues and eigenvectors of a symmetric matrix (m, m), whose lower triangle is read. O(m^3).

    >>> values, vectors = eigh(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> values.round(12).tolist(), bool(np.allclose(vectors @ np.diag(values) @ vectors.T, [[2.0, 1.0], [1.0, 2.0]]))
    ([1.0, 3.0], True)
    """
    return _first_sound("eigenvectors", matrix, EIGEN_DRIVERS, checks.is_eigen)


def eigvalsh(matrix: Floats) -> Floats:
    """The eigenvalues of a symmetric matrix (m, m), whose lower triangle is read, ascending, (m,). O(m^3)."""
    return _first_sound("eigenvalues", _symmetric(matrix), EIGENVALUE_DRIVERS, checks.are_eigenvalues)


def svd(matrix: Floats, *, full_matrices: bool = False) -> Singular:
    """Singular values and vectors of a matrix (p, q): r = min(p, q) of them, or bases of both spaces. O(p q r)."""
    drivers = FULL_SINGULAR_DRIVERS if full_matrices else SINGULAR_DRIVERS
    return _first_sound("singular vectors", matrix, drivers, checks.is_svd)


def singular_values(matrix: Floats) -> Floats:
    """The singular values of a matrix (p, q), descending, (min(p, q),)."""
    return _first_sound("singular values", matrix, SINGULAR_VALUE_DRIVERS, checks.are_singular_values)


def rank(matrix: Floats) -> int:
    """The rank of a matrix (p, q), to rounding, as `numpy.linalg.matrix_rank` counts it.

    >>> rank(np.array([[1.0, 2.0], [2.0, 4.0]]))
    1
    """
    values = singular_values(matrix)
    tolerance = np.max(values, initial=0.0) * max(matrix.shape) * np.finfo(np.float64).eps
    return int(np.count_nonzero(values > tolerance))


def cholesky(matrix: Floats) -> Floats:
    """The lower triangular L with LL' = matrix (m, m), which must be symmetric and positive definite. O(m^3)."""
    return _first_sound("Cholesky factor", matrix, CHOLESKY_DRIVERS, checks.is_cholesky)


def inverse_of_lower(L: Floats) -> Floats:
    """The inverse of a lower triangular matrix (m, m) without zeros on its diagonal. O(m^3)."""
    return _first_sound("inverse", L, INVERSE_DRIVERS, checks.is_inverse)


def orthonormal(matrix: Floats) -> Floats:
    """Orthonormal columns that span those of a matrix (p, q), p >= q, of rank q: (p, q)."""
    return _first_sound("orthonormal basis", matrix, BASIS_DRIVERS, checks.is_basis)


def orthonormal_complement(matrix: Floats) -> Floats:
    """An orthonormal basis of what is orthogonal to the columns of a matrix (p, q), p >= q, of rank q: (p, p - q)."""
    return _first_sound("orthonormal complement", matrix, COMPLEMENT_DRIVERS, checks.is_complement)


def pivoted_qr(matrix: Floats) -> PivotedQR:
    """Q, R and the order of the columns of a matrix (p, q), the columns that add most to the span first."""
    return _first_sound("QR factors", matrix, QR_DRIVERS, checks.is_qr)


def solve_positive(matrix: Floats, table: Floats) -> Floats:
    """X with matrix X = table, for a symmetric positive definite matrix (m, m) and a table (m, n). O(m^3)."""

    def is_solution(matrix: Floats, X: Floats) -> bool:
        return checks.is_solution(matrix, X, table)

    def by_cholesky(matrix: Floats) -> Floats:
        return np.asarray(scipy.linalg.cho_solve((scipy.linalg.cholesky(matrix, lower=True), True), table))

    def by_eigenvalues(matrix: Floats) -> Floats:
        values, vectors = eigh(matrix)
        return np.asarray(vectors @ ((vectors.T @ table) / values[:, None]))

    return _first_sound("solution", matrix, (by_cholesky, by_eigenvalues), is_solution)


def upper_factor(matrix: Floats) -> Floats:
    """The upper triangular R with R'R = A'A for a matrix A (p, q), p >= q. O(p q^2)."""
    return _first_sound("triangular factor", matrix, TRIANGLE_DRIVERS, checks.is_upper_factor)


def lower_times(L: Floats, table: Floats) -> Floats:
    """The product of a lower triangular matrix (m, m) and a table (m, n), in half the time; zeros are not read."""
    return np.asarray(scipy.linalg.blas.dtrmm(1.0, L.T, table, trans_a=1, lower=0))


def pivots(matrix: Floats) -> Indices:
    """Rows of a positive semidefinite matrix (m, m) that span all, to INDEPENDENT; those that add most first. O(m^3).

    >>> pivots(np.diag([1.0, 3.0, 2.0])).tolist(), pivots(np.ones((2, 2))).tolist()
    ([1, 2, 0], [0])
    """
    return _first_sound("pivots", matrix, PIVOT_DRIVERS, checks.are_different)


# Trying one driver after the other.


def _first_sound(
    name: str,
    matrix: Floats,
    drivers: Sequence[Callable[[Floats], Answer]],
    is_sound: Callable[[Floats, Answer], bool],
) -> Answer:
    """The first answer that is sound. Drivers never see numbers that are not finite: some would not return."""
    if not np.isfinite(matrix).all():
        raise SolverFailed(f"entries must be finite to find the {name} of a {matrix.shape} matrix")
    for driver in drivers:
        answer = _attempted(driver, matrix)
        if answer is not None and is_sound(matrix, answer):
            return answer
    scale = float(np.abs(matrix).max(initial=0.0))
    raise SolverFailed(f"no driver found the {name} of a {matrix.shape} matrix with entries up to {scale:.3g}")


def _attempted(driver: Callable[[Floats], Answer], matrix: Floats) -> Answer | None:
    """The driver's answer; None if it found none."""
    try:
        return driver(matrix)
    except (np.linalg.LinAlgError, ValueError):  # scipy has a ValueError for some failures
        return None


def _unit(matrix: Floats) -> float:
    """The power of two next to the largest entry: to divide by it loses no digits."""
    scale = float(np.abs(matrix).max(initial=0.0))
    return math.ldexp(1.0, math.frexp(scale)[1] - 1) if scale > 0.0 else 1.0


def _symmetric(matrix: Floats) -> Floats:
    """The symmetric matrix with this lower triangle."""
    lower = np.tril(matrix)
    return np.asarray(lower + np.tril(matrix, -1).T)


# Drivers, the usual one first. The others work on entries of size one.


def _numpy_eigh(matrix: Floats) -> Eigen:
    return Eigen(*np.linalg.eigh(matrix))


def _scipy_eigh(driver: Literal["evr", "ev"]) -> Callable[[Floats], Eigen]:
    def eigh(matrix: Floats) -> Eigen:
        unit = _unit(matrix)
        values, vectors = scipy.linalg.eigh(matrix / unit, driver=driver)
        return Eigen(values * unit, np.ascontiguousarray(vectors))

    return eigh


def _numpy_eigvalsh(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.eigvalsh(matrix))


def _scipy_eigvalsh(matrix: Floats) -> Floats:
    unit = _unit(matrix)
    return np.asarray(scipy.linalg.eigh(matrix / unit, eigvals_only=True, driver="evr") * unit)


def _numpy_svd(matrix: Floats) -> Singular:
    return Singular(*np.linalg.svd(matrix, full_matrices=False))


def _numpy_full_svd(matrix: Floats) -> Singular:
    return Singular(*np.linalg.svd(matrix, full_matrices=True))


def _scipy_svd(*, full_matrices: bool) -> Callable[[Floats], Singular]:
    def svd(matrix: Floats) -> Singular:
        unit = _unit(matrix)
        left, values, right = scipy.linalg.svd(matrix / unit, full_matrices=full_matrices, lapack_driver="gesvd")
        return Singular(np.ascontiguousarray(left), values * unit, np.ascontiguousarray(right))

    return svd


def _numpy_singular_values(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.svd(matrix, compute_uv=False))


def _scipy_singular_values(matrix: Floats) -> Floats:
    unit = _unit(matrix)
    return np.asarray(scipy.linalg.svd(matrix / unit, compute_uv=False, lapack_driver="gesvd") * unit)


def _numpy_cholesky(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.cholesky(matrix))


def _cholesky_by_eigenvalues(matrix: Floats) -> Floats:
    """With A = V diag(w) V' and QR = diag(sqrt(w)) V', A = R'R."""
    values, vectors = eigh(matrix)
    if values[0] <= 0.0:
        raise np.linalg.LinAlgError("not positive definite")
    R = np.asarray(np.linalg.qr(np.sqrt(values)[:, None] * vectors.T, mode="r"))
    return np.ascontiguousarray((R * np.where(np.diag(R) < 0.0, -1.0, 1.0)[:, None]).T)


def _numpy_inverse(L: Floats) -> Floats:
    return np.asarray(np.linalg.solve(L, np.eye(len(L))))


def _inverse_by_substitution(L: Floats) -> Floats:
    return np.ascontiguousarray(scipy.linalg.solve_triangular(L, np.eye(len(L)), lower=True))


def _numpy_basis(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.qr(matrix)[0])


def _basis_by_svd(matrix: Floats) -> Floats:
    return svd(matrix).left


def _numpy_complement(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.qr(matrix, mode="complete")[0][:, matrix.shape[1] :])


def _complement_by_svd(matrix: Floats) -> Floats:
    return svd(matrix, full_matrices=True).left[:, matrix.shape[1] :]


def _scipy_qr(matrix: Floats) -> PivotedQR:
    q, r, order = scipy.linalg.qr(matrix, mode="economic", pivoting=True)
    return PivotedQR(np.asarray(q, dtype=np.float64), np.asarray(r, dtype=np.float64), np.asarray(order, np.int64))


def _scaled_qr(matrix: Floats) -> PivotedQR:
    unit = _unit(matrix)
    q, r, order = _scipy_qr(matrix / unit)
    return PivotedQR(q, r * unit, order)


def _numpy_triangle(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.qr(matrix, mode="r"))


def _triangle_of_pivoted(matrix: Floats) -> Floats:
    _, r, order = pivoted_qr(matrix)
    return np.asarray(np.linalg.qr(r[:, np.argsort(order)], mode="r"))


def _pivots_of_cholesky(matrix: Floats) -> Indices:
    least = INDEPENDENT * float(np.max(np.diag(matrix)))
    _, order, rank, _ = scipy.linalg.lapack.dpstrf(matrix, tol=least, lower=1)
    return np.asarray(order[:rank], np.int64) - 1


def _pivots_of_qr(matrix: Floats) -> Indices:
    _, r, order = pivoted_qr(matrix)
    sizes = np.abs(np.diag(r))
    return np.asarray(order[sizes > INDEPENDENT * sizes[0]], np.int64)


EIGEN_DRIVERS = (_numpy_eigh, _scipy_eigh("evr"), _scipy_eigh("ev"))
EIGENVALUE_DRIVERS = (_numpy_eigvalsh, _scipy_eigvalsh)
SINGULAR_DRIVERS = (_numpy_svd, _scipy_svd(full_matrices=False))
FULL_SINGULAR_DRIVERS = (_numpy_full_svd, _scipy_svd(full_matrices=True))
SINGULAR_VALUE_DRIVERS = (_numpy_singular_values, _scipy_singular_values)
CHOLESKY_DRIVERS = (_numpy_cholesky, _cholesky_by_eigenvalues)
INVERSE_DRIVERS = (_numpy_inverse, _inverse_by_substitution)
BASIS_DRIVERS = (_numpy_basis, _basis_by_svd)
COMPLEMENT_DRIVERS = (_numpy_complement, _complement_by_svd)
QR_DRIVERS = (_scipy_qr, _scaled_qr)
TRIANGLE_DRIVERS = (_numpy_triangle, _triangle_of_pivoted)
PIVOT_DRIVERS = (_pivots_of_cholesky, _pivots_of_qr)
