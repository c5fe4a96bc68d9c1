"""Verify every allocation: bounds, distances and capacity, to 1e-9."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.jit import jit
from evenhand.errors import SolverFailed

if TYPE_CHECKING:
    from evenhand.allocation._program import FairProgram

FEASIBILITY_TOLERANCE = 1e-9
"""Largest accepted violation of a bound, a distance or the capacity, absolute: probabilities have scale 1."""


@jit
def worst_excess(p: NDArray[np.float64], c: NDArray[np.float64], capacity: float) -> tuple[float, int, int]:
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


def verify_probabilities(p: NDArray[np.float64], program: FairProgram) -> float:
    """The largest violation of the program's constraints by p; SolverFailed if it is more than rounding."""
    return refuse_excess(*worst_excess(p, program.distances, program.capacity))


def refuse_excess(worst: float, i: int, j: int) -> float:
    """The result of `worst_excess`, or 0 if negative; SolverFailed if it is more than rounding."""
    if worst > FEASIBILITY_TOLERANCE:
        what = "a bound or the capacity" if i < 0 else f"the distance of candidates {i} and {j}"
        raise SolverFailed(f"the probabilities exceed {what} by {worst:.2e}, more than {FEASIBILITY_TOLERANCE}")
    return worst if worst > 0.0 else 0.0
