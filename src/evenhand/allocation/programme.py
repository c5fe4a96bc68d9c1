"""The fair linear programme as given, checked once: rewards, distances, capacity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenhand.compiled import compiled
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False)
class FairProgramme:
    """Maximise a.p subject to 0 <= p <= 1, |p_i - p_j| <= c_ij and sum p <= B."""

    rewards: NDArray[np.float64]
    """a (k,), finite."""
    distances: NDArray[np.float64]
    """c (k, k), symmetric, >= 0, inf where there is no rope, 0 on the diagonal."""
    capacity: float
    """B > 0, inf for no limit."""

    def __len__(self) -> int:
        return len(self.rewards)

    @property
    def budget(self) -> float:
        """The capacity, inf when it cannot bind because everybody fits."""
        return self.capacity if self.capacity < len(self) else math.inf

    @property
    def exponent(self) -> int:
        """The power of two that scales rewards to at most 1. A power of two, so that scaling rounds nothing."""
        return math.frexp(float(np.max(np.abs(self.rewards))))[1]

    def scaled_rewards(self) -> NDArray[np.float64]:
        """The rewards divided by 2 to the exponent: what tolerances are made for."""
        return np.ldexp(self.rewards, -self.exponent)


def check_programme(rewards: ArrayLike, distances: ArrayLike, capacity: float | None) -> FairProgramme:
    """The programme of these inputs, or InvalidInput with a sentence that says what is wrong. Cost: O(k^2)."""
    a = _as_floats(rewards, "rewards")
    if a.ndim != 1 or len(a) == 0:
        raise InvalidInput(f"rewards have shape {a.shape}; they must be one number for each candidate, at least one")
    finite = np.isfinite(a)
    if not finite.all():
        worst = int(np.argmin(finite))
        raise InvalidInput(f"the reward of candidate {worst} is {a[worst]}; rewards must be finite")
    raw = _as_floats(distances, "distances")
    if raw.shape != (len(a), len(a)):
        raise InvalidInput(f"distances have shape {raw.shape}; {len(a)} rewards need ({len(a)}, {len(a)})")
    c, i, j = tighter_direction(raw)
    if i >= 0:
        raise InvalidInput(f"the distance of candidates {i} and {j} is {raw[i, j]}; distances must be >= 0 or inf")
    return FairProgramme(a, c, check_capacity(capacity))


def check_capacity(capacity: float | None) -> float:
    """The capacity as a float, inf for None."""
    if capacity is None:
        return math.inf
    if isinstance(capacity, bool | np.bool_) or not isinstance(capacity, Real):
        raise InvalidInput(f"capacity is {capacity!r}; it must be a number > 0, or None for no limit")
    if not capacity > 0:
        raise InvalidInput(f"capacity is {capacity}; it must be > 0, or None for no limit")
    return float(capacity)


def _as_floats(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """A private array of floats, in C order; never the caller's own memory."""
    try:
        array: NDArray[Any] = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise InvalidInput(f"{name} hold {array.dtype} values; they must be real numbers")
        return np.array(array, dtype=np.float64, order="C")
    except InvalidInput:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} cannot be read as an array of real numbers: {error}") from error


@compiled
def tighter_direction(raw: NDArray[np.float64]) -> tuple[NDArray[np.float64], int, int]:
    """The tighter of c_ij and c_ji for every pair, 0 on the diagonal, and the first bad entry or (-1, -1).

    A bad entry is negative or no number; the diagonal is not looked at.
    """
    k = len(raw)
    c = np.zeros((k, k))
    for i in range(k):
        for j in range(i):
            if not raw[i, j] >= 0.0:
                return c, i, j
            if not raw[j, i] >= 0.0:
                return c, j, i
            c[i, j] = c[j, i] = min(raw[i, j], raw[j, i])
    return c, -1, -1
