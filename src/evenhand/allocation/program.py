"""The fair linear programme as given, checked once: rewards, distances, capacity."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.jit import jit
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

FLOAT = np.dtype(np.float64)


class FairProgramme(NamedTuple):
    """Maximise a.p subject to 0 <= p <= 1, |p_i - p_j| <= c_ij and sum p <= B."""

    rewards: NDArray[np.float64]
    """a (k,), finite."""
    distances: NDArray[np.float64]
    """c (k, k), symmetric, >= 0, inf where there is no rope, 0 on the diagonal."""
    capacity: float
    """B > 0, inf for no limit."""

    @property
    def budget(self) -> float:
        """The capacity, inf when it cannot bind because everybody fits."""
        return self.capacity if self.capacity < len(self.rewards) else math.inf


def check_programme(rewards: ArrayLike, distances: ArrayLike, capacity: float | None) -> FairProgramme:
    """The programme of these inputs, or InvalidInput with a sentence that says what is wrong. Cost: O(k^2)."""
    a, raw, limit = read_programme(rewards, distances, capacity)
    c = np.empty(raw.shape)
    i, j = examine(a, raw, c)
    refuse_bad(a, raw, i, j)
    return FairProgramme(a, c, limit)


def read_programme(
    rewards: ArrayLike, distances: ArrayLike, capacity: float | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Rewards (k,), distances (k, k) and capacity as numbers, in a form that kernels take, not yet examined.

    The rewards are a copy. The distances may be the caller's own memory: they are read once and never kept.
    """
    a = _as_floats(rewards, "rewards").copy()
    if a.ndim != 1 or len(a) == 0:
        raise InvalidInput(f"rewards have shape {a.shape}; they must be one number for each candidate, at least one")
    raw = _as_floats(distances, "distances")
    if raw.shape != (len(a), len(a)):
        raise InvalidInput(f"distances have shape {raw.shape}; {len(a)} rewards need ({len(a)}, {len(a)})")
    return a, raw, check_capacity(capacity)


def check_capacity(capacity: float | None) -> float:
    """The capacity as a float, inf for None."""
    if capacity is None:
        return math.inf
    if type(capacity) is int and capacity > 0:  # what most callers give, and quicker to tell than a Real
        return float(capacity)
    if isinstance(capacity, bool | np.bool_) or not isinstance(capacity, Real):
        raise InvalidInput(f"capacity is {capacity!r}; it must be a number > 0, or None for no limit")
    if not capacity > 0:
        raise InvalidInput(f"capacity is {capacity}; it must be > 0, or None for no limit")
    return float(capacity)


def _as_floats(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """An array of floats, in C order, aligned and writeable: kernels are compiled once, for these."""
    if type(values) is np.ndarray and values.dtype == FLOAT and values.flags.carray:
        return values
    try:
        array: NDArray[Any] = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise InvalidInput(f"{name} hold {array.dtype} values; they must be real numbers")
        return np.array(array, dtype=FLOAT, order="C")
    except InvalidInput:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} cannot be read as an array of real numbers: {error}") from error


@jit
def examine(a: NDArray[np.float64], raw: NDArray[np.float64], c: NDArray[np.float64]) -> tuple[int, int]:
    """Fill c (k, k) with the tighter of c_ij and c_ji for every pair, 0 on the diagonal; say what is bad, if anything.

    Bad is a reward i that is not finite, (i, -1), or a distance that is negative or no number, (i, j). It is
    (-1, -1) when all is well. The diagonal of `raw` is not looked at. Cost: O(k^2).
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
    """Raise InvalidInput with a sentence about what `examine` found bad, if anything."""
    if j >= 0:
        raise InvalidInput(f"the distance of candidates {i} and {j} is {raw[i, j]}; distances must be >= 0 or inf")
    if i >= 0:
        raise InvalidInput(f"the reward of candidate {i} is {a[i]}; rewards must be finite")


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
