"""The fair linear program: its inputs, checked once, and the verification of every solution."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import refusal
from evenhand._internal.frames import as_frame
from evenhand._internal.jit import FLOAT, jit
from evenhand.errors import InvalidInput, SolverFailed

FEASIBILITY_TOLERANCE = 1e-9
"""Largest accepted violation of a bound, a distance or the capacity, absolute: probabilities have scale 1."""


class FairProgram(NamedTuple):
    """Maximise a.p subject to l <= p <= u, |p_i - p_j| <= c_ij and sum p <= B."""

    rewards: Floats
    """a (k,), finite."""
    distances: Floats
    """c (k, k), symmetric, >= 0, inf where there is no constraint, 0 on the diagonal."""
    capacity: float
    """B > 0, inf for no limit."""
    lower: Floats | None = None
    """Floors l (k,), from 0 to 1; None for 0."""
    upper: Floats | None = None
    """Ceilings u (k,), from 0 to 1, none below its floor; None for 1. There are either both or neither."""

    @property
    def floors(self) -> Floats:
        """The floors, (k,)."""
        return np.zeros(len(self.rewards)) if self.lower is None else self.lower

    @property
    def ceilings(self) -> Floats:
        """The ceilings, (k,)."""
        return np.ones(len(self.rewards)) if self.upper is None else self.upper

    @property
    def budget(self) -> float:
        """The capacity, inf when it is at least k and cannot bind."""
        return self.capacity if self.capacity < len(self.rewards) else math.inf


def check_program(
    rewards: ArrayLike,
    distances: ArrayLike,
    capacity: float | None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
) -> FairProgram:
    """The program of these inputs; raises InvalidInput. Cost: O(k^2)."""
    a, raw, limit = read_program(rewards, distances, capacity)
    c = np.empty(raw.shape)
    i, j = examine(a, raw, c)
    refuse_bad(a, raw, i, j)
    return FairProgram(a, c, limit, *read_bounds(lower, upper, len(a)))


def read_bounds(lower: ArrayLike | None, upper: ArrayLike | None, k: int) -> tuple[Floats, Floats] | tuple[None, None]:
    """Floors and ceilings of k candidates, each (k,), a copy; None for both if neither is given.

    Each may be one number for all. InvalidInput unless 0 <= lower <= upper <= 1.
    """
    if lower is None and upper is None:
        return None, None
    floors = _read_bound("lower", 0.0 if lower is None else lower, k)
    ceilings = _read_bound("upper", 1.0 if upper is None else upper, k)
    for i in np.flatnonzero(floors > ceilings).tolist():
        raise InvalidInput(f"lower must be <= upper, candidate {i} has {floors[i]} and {ceilings[i]}")
    return floors, ceilings


def _read_bound(name: str, values: ArrayLike, k: int) -> Floats:
    bound = _as_floats(values, name)
    if bound.shape not in ((), (k,)):
        raise InvalidInput(f"{name} must be a number, or have shape ({k},) for {k} candidates, got {bound.shape}")
    bound = np.full(k, bound)
    for i in np.flatnonzero(~((bound >= 0.0) & (bound <= 1.0))).tolist():  # NaN as well
        raise InvalidInput(f"{name} must be from 0 to 1, candidate {i} has {bound[i]}")
    return bound


def read_program(rewards: ArrayLike, distances: ArrayLike, capacity: float | None) -> tuple[Floats, Floats, float]:
    """Rewards (k,), distances (k, k) and capacity as numbers, in a form that kernels take, not yet examined.

    The rewards are a copy. The distances may be the caller's own memory: they are read once and never kept.
    """
    a = _as_floats(rewards, "rewards").copy()
    if a.ndim != 1 or len(a) == 0:
        raise InvalidInput(f"rewards must have shape (k,) with k >= 1, got {a.shape}")
    raw = _as_floats(distances, "distances")
    if raw.shape != (len(a), len(a)):
        raise InvalidInput(f"distances must have shape ({len(a)}, {len(a)}) for {len(a)} rewards, got {raw.shape}")
    return a, raw, capacity_as_float(capacity)


def capacity_as_float(capacity: float | None) -> float:
    """The capacity as a float, inf for None."""
    if capacity is None:
        return math.inf
    if type(capacity) is int and capacity > 0:  # the common case, and faster than the check against Real
        return float(capacity)
    if isinstance(capacity, bool | np.bool_) or not isinstance(capacity, Real) or not capacity > 0:
        raise refusal("capacity", "a number > 0 or None", capacity)
    return float(capacity)


def _as_floats(values: ArrayLike, name: str) -> Floats:
    """An array of floats, in C order, aligned and writeable: kernels are compiled once, for these."""
    if type(values) is np.ndarray and values.dtype == FLOAT and values.flags.carray:
        return values
    try:
        frame = as_frame(values, name)
        array: NDArray[Any] = np.asarray(values if frame is None else frame.array())
        if array.dtype.kind not in "biufO":
            raise InvalidInput(f"{name} must be real numbers, got {array.dtype}")
        return np.array(array, dtype=FLOAT, order="C")
    except InvalidInput:
        raise
    except (TypeError, ValueError) as error:
        raise refusal(name, "an array of real numbers", values) from error


@jit
def examine(a: Floats, raw: Floats, c: Floats) -> tuple[int, int]:
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


def refuse_bad(a: Floats, raw: Floats, i: int, j: int) -> None:
    """Raise InvalidInput for what `examine` found bad, if anything."""
    if j >= 0:
        raise InvalidInput(f"distances must be >= 0 or inf, candidates {i} and {j} have {raw[i, j]}")
    if i >= 0:
        raise InvalidInput(f"rewards must be finite, candidate {i} has {a[i]}")


@jit
def scaled(a: Floats) -> tuple[Floats, int]:
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


@jit
def worst_excess(p: Floats, c: Floats, capacity: float) -> tuple[float, int, int]:
    """The largest violation of a constraint by p, and its pair, (-1, -1) if it is not a distance. Cost: O(k^2)."""
    worst, first, second, total = -np.inf, -1, -1, 0.0
    for i in range(len(p)):
        if not np.isfinite(p[i]):
            return np.inf, -1, -1
        worst = max(worst, -p[i], p[i] - 1.0)
        total += p[i]
    worst = max(worst, total - capacity)
    for i in range(len(p)):
        for j in range(i):
            excess = abs(p[i] - p[j]) - c[i, j]
            if excess > worst:
                worst, first, second = excess, j, i
    return worst, first, second


def verify_probabilities(p: Floats, program: FairProgram) -> float:
    """The largest violation of the program's constraints by p; SolverFailed if it is more than rounding."""
    worst, i, j = worst_excess(p, program.distances, program.capacity)
    if program.lower is not None and program.upper is not None:
        outside = float(np.max(np.maximum(program.lower - p, p - program.upper)))
        worst, i, j = (outside, -1, -1) if outside > worst else (worst, i, j)
    return refuse_excess(worst, i, j)


def refuse_excess(worst: float, i: int, j: int) -> float:
    """The result of `worst_excess`, or 0 if negative; SolverFailed if it is more than rounding."""
    if worst > FEASIBILITY_TOLERANCE:
        what = "a bound or the capacity" if i < 0 else f"the distance of candidates {i} and {j}"
        raise SolverFailed(f"the probabilities exceed {what} by {worst:.2e}, more than {FEASIBILITY_TOLERANCE}")
    return worst if worst > 0.0 else 0.0
