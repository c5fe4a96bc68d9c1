"""The fair linear program: rewards, distances and capacity, checked once."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.checks import refusal
from evenhand._internal.jit import FLOAT, jit
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class FairProgram(NamedTuple):
    """Maximise a.p subject to 0 <= p <= 1, |p_i - p_j| <= c_ij and sum p <= B."""

    rewards: NDArray[np.float64]
    """a (k,), finite."""
    distances: NDArray[np.float64]
    """c (k, k), symmetric, >= 0, inf where there is no constraint, 0 on the diagonal."""
    capacity: float
    """B > 0, inf for no limit."""

    @property
    def budget(self) -> float:
        """The capacity, inf when it is at least k and cannot bind."""
        return self.capacity if self.capacity < len(self.rewards) else math.inf


def check_program(rewards: ArrayLike, distances: ArrayLike, capacity: float | None) -> FairProgram:
    """The program of these inputs; raises InvalidInput. Cost: O(k^2)."""
    a, raw, limit = read_program(rewards, distances, capacity)
    c = np.empty(raw.shape)
    i, j = examine(a, raw, c)
    refuse_bad(a, raw, i, j)
    return FairProgram(a, c, limit)


def read_program(
    rewards: ArrayLike, distances: ArrayLike, capacity: float | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Rewards (k,), distances (k, k) and capacity as numbers, in a form that kernels take, not yet examined.

    The rewards are a copy. The distances may be the caller's own memory: they are read once and never kept.
    """
    a = _as_floats(rewards, "rewards").copy()
    if a.ndim != 1 or len(a) == 0:
        raise InvalidInput(f"rewards must have shape (k,) with k >= 1, got {a.shape}")
    raw = _as_floats(distances, "distances")
    if raw.shape != (len(a), len(a)):
        raise InvalidInput(f"distances must have shape ({len(a)}, {len(a)}) for {len(a)} rewards, got {raw.shape}")
    return a, raw, check_capacity(capacity)


def check_capacity(capacity: float | None) -> float:
    """The capacity as a float, inf for None."""
    if capacity is None:
        return math.inf
    if type(capacity) is int and capacity > 0:  # the common case, and faster than the check against Real
        return float(capacity)
    if isinstance(capacity, bool | np.bool_) or not isinstance(capacity, Real) or not capacity > 0:
        raise refusal("capacity", "a number > 0 or None", capacity)
    return float(capacity)


def _as_floats(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """An array of floats, in C order, aligned and writeable: kernels are compiled once, for these."""
    if type(values) is np.ndarray and values.dtype == FLOAT and values.flags.carray:
        return values
    try:
        array: NDArray[Any] = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise InvalidInput(f"{name} must be real numbers, got {array.dtype}")
        return np.array(array, dtype=FLOAT, order="C")
    except InvalidInput:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be an array of real numbers: {error}") from error


@jit
def examine(a: NDArray[np.float64], raw: NDArray[np.float64], c: NDArray[np.float64]) -> tuple[int, int]:
    """Fill c (k, k) with the smaller of c_ij and c_ji for every pair, 0 on the diagonal; return the first bad input.

    That is (i, -1) for a reward that is not finite, (i, j) for a distance that is negative or NaN, or (-1, -1). The
    diagonal of `raw` is not read. Cost: O(k^2).
    """
    k = len(a)
    for i in range(k):
        if not np.isfinite(a[i]):
            return i, -1
    for i in range(k):
        c[i, i] = 0.0
        for j in range(i):
            if not raw[i, j] >= 0.0:
                return i, j
            if not raw[j, i] >= 0.0:
                return j, i
            c[i, j] = c[j, i] = min(raw[i, j], raw[j, i])
    return -1, -1


def refuse_bad(a: NDArray[np.float64], raw: NDArray[np.float64], i: int, j: int) -> None:
    """Raise InvalidInput for what `examine` found bad, if anything."""
    if j >= 0:
        raise InvalidInput(f"distances must be >= 0 or inf, candidates {i} and {j} have {raw[i, j]}")
    if i >= 0:
        raise InvalidInput(f"rewards must be finite, candidate {i} has {a[i]}")


@jit
def scaled(a: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """The rewards divided by a power of two, so that they are at most 1, and the exponent of that power.

    Tolerances are made for rewards of that size; dividing by a power of two rounds nothing.
    """
    largest = 0.0
    for i in range(len(a)):
        largest = max(largest, abs(a[i]))
    exponent = math.frexp(largest)[1]
    smaller = np.empty(len(a))
    for i in range(len(a)):
        smaller[i] = math.ldexp(a[i], -exponent)
    return smaller, exponent
