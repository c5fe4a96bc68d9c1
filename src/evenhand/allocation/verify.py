"""No answer leaves the room unchecked: bounds, ropes and capacity, to 1e-9."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.jit import jit
from evenhand.errors import SolverFailed

if TYPE_CHECKING:
    from evenhand.allocation.program import FairProgramme

FEASIBILITY_TOLERANCE = 1e-9
"""What odds may exceed a bound, a rope or the capacity by, absolute: odds have scale 1."""


@jit
def worst_excess(p: NDArray[np.float64], c: NDArray[np.float64], capacity: float) -> tuple[float, int, int]:
    """By how much p breaks the constraint it breaks most, and the pair (-1, -1 when it is no rope). Cost: O(k^2)."""
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


def verify_odds(p: NDArray[np.float64], programme: FairProgramme) -> float:
    """The worst residual of p, by which it exceeds a constraint of the programme; SolverFailed if it is no rounding."""
    return refuse_excess(*worst_excess(p, programme.distances, programme.capacity))


def refuse_excess(worst: float, i: int, j: int) -> float:
    """What `worst_excess` found, 0 where no constraint is exceeded; SolverFailed if it is more than rounding."""
    if worst > FEASIBILITY_TOLERANCE:
        what = "a bound or the capacity" if i < 0 else f"the distance of candidates {i} and {j}"
        raise SolverFailed(f"the odds exceed {what} by {worst:.2e}; at most {FEASIBILITY_TOLERANCE} is allowed")
    return worst if worst > 0.0 else 0.0
