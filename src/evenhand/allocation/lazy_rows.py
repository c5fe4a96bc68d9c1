"""The fair linear programme by HiGHS, ropes added only once an answer breaks them.

Of the k(k-1)/2 ropes a few for each candidate hold the optimum; the others never enter the model.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.jit import jit
from evenhand._internal.linear_program import LinearProgram
from evenhand.allocation.program import scaled
from evenhand.errors import SolverFailed

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from evenhand.allocation.program import FairProgramme

UNIT = 1024.0
"""HiGHS sees odds, distances and rewards as multiples of 1/UNIT. Its tolerances are absolute, 1e-10 at best, and a
thousand times too coarse to tell taut ropes from slack ones if odds were counted in units of 1."""

BROKEN_TOLERANCE = 1e-12
"""A rope is added once an answer exceeds it by more than this."""

ROPES_PER_CANDIDATE = 2
"""Broken ropes added for each candidate and solve, the worst first: 1 to 3 are about equally fast, 10 twice as slow."""


def solve_by_lazy_rows(programme: FairProgramme) -> NDArray[np.float64]:
    """Optimal odds (k,). Cost: a few solves with O(k) rows each, and O(k^2) for each solve to find broken ropes."""
    k = len(programme.rewards)
    model = LinearProgram(np.zeros(k), np.full(k, UNIT))
    if math.isfinite(programme.budget):
        model.add_rows(np.ones((1, k)), np.array([-np.inf]), np.array([programme.budget * UNIT]))
    objective = UNIT * scaled(programme.rewards)[0]
    missing = programme.distances < 1.0  # a longer rope never binds: odds lie in [0, 1]
    while True:
        best = model.maximise(objective)
        if best is None:
            raise SolverFailed("HiGHS calls the programme infeasible, yet equal odds satisfy it")
        p = best.x / UNIT
        pairs = worst_ropes(p, programme.distances, missing, BROKEN_TOLERANCE, ROPES_PER_CANDIDATE)
        if len(pairs) == 0:
            return polish(p, programme)
        lengths = UNIT * programme.distances[pairs[:, 0], pairs[:, 1]]
        model.add_rows(_differences(pairs, k), -lengths, lengths)


def _differences(pairs: NDArray[np.int64], k: int) -> csr_array:
    """The rows p_i - p_j."""
    n = len(pairs)
    signs = np.tile([1.0, -1.0], n)
    from scipy.sparse import csr_array  # no decision needs it, and a process that only decides starts the sooner

    return csr_array((signs, pairs.ravel(), np.arange(0, 2 * n + 1, 2)), shape=(n, k))


@jit
def worst_ropes(
    p: NDArray[np.float64],
    c: NDArray[np.float64],
    missing: NDArray[np.bool_],
    tolerance: float,
    per_candidate: int,
) -> NDArray[np.int64]:
    """The most broken of the missing ropes of every candidate, (n, 2); they are no longer missing. Cost: O(k^2)."""
    k = len(p)
    chosen = np.empty((k * per_candidate, 2), np.int64)
    count = 0
    excess = np.empty(k)
    for i in range(k):
        for j in range(k):
            excess[j] = abs(p[i] - p[j]) - c[i, j] if missing[i, j] else -1.0
        excess[i] = -1.0
        for _ in range(per_candidate):
            j = int(np.argmax(excess))
            if excess[j] <= tolerance:
                break
            excess[j] = -1.0
            missing[i, j] = missing[j, i] = False
            chosen[count, 0], chosen[count, 1] = i, j
            count += 1
    return chosen[:count]


def polish(p: NDArray[np.float64], programme: FairProgramme) -> NDArray[np.float64]:
    """Remove the solver's last rounding: odds are lowered, never raised above the others' reach, so all rules hold."""
    p = np.clip(p, 0.0, 1.0)
    lower_to_ropes(p, programme.distances)
    total = float(p.sum())
    if total > programme.budget:
        p *= programme.budget / total
    return p


@jit
def lower_to_ropes(p: NDArray[np.float64], c: NDArray[np.float64]) -> None:
    """Set p_i to min over j of (p_j + c_ij), in place, lowest odds first: the largest fair odds below p. Cost: O(k^2).

    Dijkstra's order makes one pass enough also when the distances break the triangle inequality.
    """
    k = len(p)
    settled = np.zeros(k, np.bool_)
    for _ in range(k):
        lowest = -1
        for j in range(k):
            if not settled[j] and (lowest < 0 or p[j] < p[lowest]):
                lowest = j
        settled[lowest] = True
        for i in range(k):
            if not settled[i]:
                p[i] = min(p[i], p[lowest] + c[i, lowest])
