"""Eigenvalues and matrix factorisations: every answer verified, with a second driver where the first one fails.

LAPACK's divide and conquer, numpy's only driver for eigenvectors, does not converge on some sound, well-conditioned
matrices; other drivers do. No other module calls them directly, which ruff enforces; kernels have their own. QR factors
and triangular inverses take no iterations: they have one driver, and need no check.

The usual driver comes first, so answers are numpy's to the bit wherever numpy's are right. A check multiplies matrix
and answer by one fixed vector: as good as certain, in O(m^2) (Freivalds 1977). It is False where one of them is not
finite. If no driver has a right answer, SolverFailed is raised.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, TypeVar

import numpy as np
import scipy.linalg

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.jit import jit
from evenhand.errors import SolverFailed

Answer = TypeVar("Answer")

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


def eigh(matrix: Floats) -> Eigen:
    """Eigenvalues and eigenvectors of a symmetric matrix (m, m), whose lower triangle is read. O(m^3).

    >>> values, vectors = eigh(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> values.round(12).tolist(), bool(np.allclose(vectors @ np.diag(values) @ vectors.T, [[2.0, 1.0], [1.0, 2.0]]))
    ([1.0, 3.0], True)
    """
    return first_sound("eigenvectors", matrix, EIGEN_DRIVERS, is_eigen)


def eigvalsh(matrix: Floats) -> Floats:
    """The eigenvalues of a symmetric matrix (m, m), whose lower triangle is read, ascending, (m,). O(m^3)."""
    symmetric = np.asarray(np.tril(matrix) + np.tril(matrix, -1).T)
    return first_sound("eigenvalues", symmetric, EIGENVALUE_DRIVERS, are_eigenvalues)


def svd(matrix: Floats, *, full_matrices: bool = False) -> Singular:
    """Singular values and vectors of a matrix (p, q): r = min(p, q) of them, or bases of both spaces. O(p q r)."""
    drivers = FULL_SINGULAR_DRIVERS if full_matrices else SINGULAR_DRIVERS
    return first_sound("singular vectors", matrix, drivers, is_svd)


def singular_values(matrix: Floats) -> Floats:
    """The singular values of a matrix (p, q), descending, (min(p, q),)."""
    return first_sound("singular values", matrix, SINGULAR_VALUE_DRIVERS, are_singular_values)


def cholesky(matrix: Floats) -> Floats:
    """The lower triangular L with LL' = matrix (m, m), which must be symmetric and positive definite. O(m^3)."""
    return first_sound("Cholesky factor", matrix, CHOLESKY_DRIVERS, is_cholesky)


def inverse_of_lower(L: Floats) -> Floats:
    """The inverse of a lower triangular matrix (m, m) without zeros on its diagonal. O(m^3)."""
    return np.asarray(np.linalg.solve(L, np.eye(len(L))))


def pivoted_qr(matrix: Floats) -> PivotedQR:
    """Q, R and the order of the columns of a matrix (p, q), the columns that add most to the span first."""
    Q, R, order = scipy.linalg.qr(matrix, mode="economic", pivoting=True)
    return PivotedQR(np.asarray(Q, np.float64), np.asarray(R, np.float64), np.asarray(order, np.int64))


# Trying one driver after the other.


def first_sound(
    name: str,
    matrix: Floats,
    drivers: Sequence[Callable[[Floats], Answer]],
    is_sound: Callable[[Floats, Answer], bool],
) -> Answer:
    """The first answer that is sound. Drivers never see numbers that are not finite: some would not return."""
    if not np.isfinite(matrix).all():
        raise SolverFailed(f"entries must be finite to find the {name} of a {matrix.shape} matrix")
    for driver in drivers:
        try:
            answer = driver(matrix)
        except (np.linalg.LinAlgError, ValueError):  # scipy has a ValueError for some failures
            continue
        if is_sound(matrix, answer):
            return answer
    raise SolverFailed(f"no driver found the {name} of a {matrix.shape} matrix of entries up to {size_of(matrix):.3g}")


def _unit(matrix: Floats) -> float:
    """The power of two next to the largest entry: dividing by it loses no digits."""
    scale = size_of(matrix)
    return math.ldexp(1.0, math.frexp(scale)[1] - 1) if scale > 0.0 else 1.0


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


def _numpy_svd(*, full_matrices: bool) -> Callable[[Floats], Singular]:
    return lambda matrix: Singular(*np.linalg.svd(matrix, full_matrices=full_matrices))


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


EIGEN_DRIVERS = (_numpy_eigh, _scipy_eigh("evr"), _scipy_eigh("ev"))
EIGENVALUE_DRIVERS = (_numpy_eigvalsh, _scipy_eigvalsh)
SINGULAR_DRIVERS = (_numpy_svd(full_matrices=False), _scipy_svd(full_matrices=False))
FULL_SINGULAR_DRIVERS = (_numpy_svd(full_matrices=True), _scipy_svd(full_matrices=True))
SINGULAR_VALUE_DRIVERS = (_numpy_singular_values, _scipy_singular_values)
CHOLESKY_DRIVERS = (_numpy_cholesky, _cholesky_by_eigenvalues)


# Checks of answers.


def is_eigen(matrix: Floats, answer: Eigen) -> bool:
    """Whether V diag(w) V' is the symmetric matrix with this lower triangle, and V orthogonal."""
    values, vectors = answer
    wrong, skew, scale = _eigen_errors(matrix, values, vectors, probe(len(values)))
    return wrong <= _limit(RESIDUAL_TOLERANCE, scale, matrix) and skew <= _limit(ORTHOGONALITY_TOLERANCE, 1.0, matrix)


def are_eigenvalues(matrix: Floats, values: Floats) -> bool:
    """Whether sum and sum of squares are those of the matrix's eigenvalues, and the order is ascending."""
    unit = size_of(matrix) or 1.0
    with np.errstate(all="ignore"):
        wrong = float(np.trace(matrix) - np.sum(values)) / unit
        wrong_squares = float(np.sum((matrix / unit) ** 2) - np.sum((values / unit) ** 2)) / max(len(matrix), 1)
    is_ascending = bool(np.all(values[1:] >= values[:-1]))
    return is_ascending and is_small(np.array([wrong, wrong_squares]), RESIDUAL_TOLERANCE, 1.0, matrix)


def is_svd(matrix: Floats, answer: Singular) -> bool:
    """Whether U diag(s) V' is the matrix, both factors orthogonal, and s descending and not negative."""
    left, values, right = answer
    x, r = probe(matrix.shape[1]), len(values)
    with np.errstate(all="ignore"):
        wrong = matrix @ x - left[:, :r] @ (values * (right[:r] @ x))
    is_right = _is_descending(values) and is_small(wrong, RESIDUAL_TOLERANCE, size_of(matrix), matrix)
    return is_right and _has_orthonormal_columns(left) and _has_orthonormal_columns(right.T)


def are_singular_values(matrix: Floats, values: Floats) -> bool:
    """Whether the sum of squares is that of the matrix's entries, and s descending and not negative."""
    unit = size_of(matrix) or 1.0
    with np.errstate(all="ignore"):
        wrong = float(np.sum((matrix / unit) ** 2) - np.sum((values / unit) ** 2)) / max(min(matrix.shape), 1)
    return _is_descending(values) and is_small(np.array([wrong]), RESIDUAL_TOLERANCE, 1.0, matrix)


def _is_descending(values: Floats) -> bool:
    """Whether singular values are in order, and none is negative."""
    return bool(np.all(values[1:] <= values[:-1]) and np.all(values >= 0.0))


def is_cholesky(matrix: Floats, L: Floats) -> bool:
    """Whether LL' is the matrix, and the diagonal of L positive."""
    x = probe(len(matrix))
    with np.errstate(all="ignore"):
        wrong = matrix @ x - L @ (L.T @ x)
    return bool(np.all(np.diag(L) > 0.0)) and is_small(wrong, RESIDUAL_TOLERANCE, size_of(matrix), matrix)


def _has_orthonormal_columns(table: Floats) -> bool:
    x = probe(table.shape[1])
    with np.errstate(all="ignore"):
        skew = table.T @ (table @ x) - x
    return is_small(skew, ORTHOGONALITY_TOLERANCE, 1.0, table)


def is_small(error: Floats, tolerance: float, scale: float, matrix: Floats) -> bool:
    """Whether no error exceeds the tolerance; False if one is not a number."""
    return size_of(error) <= _limit(tolerance, scale, matrix)


def _limit(tolerance: float, scale: float, matrix: Floats) -> float:
    """The largest accepted error; NaN, which no error is below, if it is infinite or not a number."""
    limit = tolerance * scale * max(matrix.shape) + TINY
    return limit if limit < math.inf else math.nan


def size_of(table: Floats) -> float:
    """The size of the largest entry."""
    return float(np.abs(table).max(initial=0.0))


@lru_cache(maxsize=256)
def probe(n: int) -> Floats:
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
