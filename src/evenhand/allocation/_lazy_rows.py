"""The fair linear program by HiGHS, with fairness constraints added once a solution violates them.

Of the k(k-1)/2 constraints a few per candidate determine the optimum; the others never enter the model.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.jit import jit
from evenhand._internal.linear_program import LinearProgram
from evenhand.allocation._bounded_filling import implied_floors
from evenhand.allocation._program import FairProgram, scaled
from evenhand.errors import SolverFailed

if TYPE_CHECKING:
    from scipy.sparse import csr_array

UNIT = 1024.0
"""Probabilities, distances and rewards are passed to HiGHS as multiples of 1/UNIT. Its tolerances are absolute, 1e-10
at best: too coarse by a factor of a thousand to tell tight constraints from slack ones in units of 1."""

VIOLATION_TOLERANCE = 1e-12  # A constraint is added once a solution exceeds it by more than this.

ROWS_PER_CANDIDATE_AND_SOLVE = 2
"""Violated constraints added per candidate and solve, worst first: 1 to 3 are about equally fast, 10 twice as slow."""


def solve_by_lazy_rows(program: FairProgram) -> Floats:
    """Optimal probabilities (k,). Cost: a few solves with O(k) rows each, and O(k^2) per solve to find violations."""
    k = len(program.rewards)
    model = LinearProgram(UNIT * program.floors, UNIT * program.ceilings)
    if math.isfinite(program.budget):
        model.add_rows(np.ones((1, k)), np.array([-np.inf]), np.array([program.budget * UNIT]))
    objective = UNIT * scaled(program.rewards)[0]
    missing = program.distances < 1.0  # a longer distance never binds: probabilities lie in [0, 1]
    while True:
        best = model.maximise(objective)
        if best is None:
            raise SolverFailed("HiGHS calls the program infeasible, yet equal probabilities or the floors satisfy it")
        p = best.x / UNIT
        pairs = most_violated_rows(p, program.distances, missing, VIOLATION_TOLERANCE, ROWS_PER_CANDIDATE_AND_SOLVE)
        if len(pairs) == 0:
            return polish(p, program)
        lengths = UNIT * program.distances[pairs[:, 0], pairs[:, 1]]
        model.add_rows(_differences(pairs, k), -lengths, lengths)


def _differences(pairs: Indices, k: int) -> csr_array:
    """The rows p_i - p_j."""
    n = len(pairs)
    signs = np.tile([1.0, -1.0], n)
    from scipy.sparse import csr_array  # imported late: no decision needs it

    return csr_array((signs, pairs.ravel(), np.arange(0, 2 * n + 1, 2)), shape=(n, k))


@jit
def most_violated_rows(p: Floats, c: Floats, missing: Mask, tolerance: float, per_candidate: int) -> Indices:
    """The most violated of the missing constraints of every candidate, (n, 2), no longer marked missing. O(k^2)."""
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


def polish(p: Floats, program: FairProgram) -> Floats:
    """Remove the solver's rounding by lowering probabilities until all constraints hold."""
    p = np.clip(p, program.floors, program.ceilings)
    lower_to_feasible(p, program.distances)
    total = float(p.sum())
    if total > program.budget:
        floors, _, _ = implied_floors(program.floors, program.distances, 0.0)  # which nothing needs to fall below
        least = float(floors.sum())
        share = (program.budget - least) / (total - least) if total > least else 0.0
        p = floors + (p - floors) * max(0.0, share)
    return p


@jit
def lower_to_feasible(p: Floats, c: Floats) -> None:
    """Set p_i to min over j of (p_j + c_ij), in place, lowest first: the largest feasible p below. Cost: O(k^2).

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
