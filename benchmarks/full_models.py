"""The fair allocation as others would solve it: the whole linear programme, a row for every pair of candidates.

Each takes the rewards a (k,), the distances c (k, k) and the capacity, and gives the value of the programme, or nan if
it was stopped. All run on one thread.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

from benchmarks.measurement import Floats
from benchmarks.peers import load
from evenhand.allocation import fair_distribution

Solver = Callable[[Floats, Floats, float | None], float]

PATIENCE = 120.0
"""Seconds after which a peer is stopped; the table then says what it takes at least."""


@dataclass(frozen=True)
class Peer:
    """A solver's name, the module it needs, and ways to use it, of which the quickest for the work at hand counts."""

    name: str
    module: str
    uses: dict[str, Solver]


def by_evenhand(a: Floats, c: Floats, capacity: float | None) -> float:
    """Ours, checks and verification included."""
    return fair_distribution(a, c, capacity).value


class Highs:
    """HiGHS through highspy, built with arrays, as its documentation advises.

    keep: use one solver object for all programmes, each of them solved from nothing, instead of a new one for each.
    presolve: whether HiGHS may simplify the programme first, as it does when left alone.
    """

    def __init__(self, *, keep: bool, presolve: bool) -> None:
        self._presolve = presolve
        self._kept = self._new() if keep else None

    def _new(self) -> Any:
        new_solver: Any = highspy.Highs  # which has no types
        solver = new_solver()
        solver.silent()
        solver.setOptionValue("time_limit", PATIENCE)
        solver.setOptionValue("threads", 1)
        if not self._presolve:
            solver.setOptionValue("presolve", "off")
        return solver

    def __call__(self, a: Floats, c: Floats, capacity: float | None) -> float:
        """The value of the programme."""
        k = len(a)
        first, second = np.triu_indices(k, 1)
        n, limits = len(first), c[first, second]
        solver = self._new() if self._kept is None else self._kept
        if self._kept is not None:
            solver.clearModel()
            # A kept solver counts the time of all its runs, and its limit is for all of them.
            solver.setOptionValue("time_limit", solver.getRunTime() + PATIENCE)
        solver.addVars(k, np.zeros(k), np.ones(k))
        solver.changeColsCost(k, np.arange(k, dtype=np.int32), -a)
        columns = np.stack([first, second], axis=1).ravel().astype(np.int32)
        starts = np.arange(0, 2 * n, 2, dtype=np.int32)
        solver.addRows(n, -limits, limits, 2 * n, starts, columns, np.tile([1.0, -1.0], n))
        if capacity is not None:
            solver.addRow(-np.inf, capacity, k, np.arange(k, dtype=np.int32), np.ones(k))
        solver.run()
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return math.nan
        return -float(solver.getInfo().objective_function_value)


def by_scipy(a: Floats, c: Floats, capacity: float | None) -> float:
    """SciPy's linprog with a sparse matrix of all rows."""
    gaps, limits = _rows(c)
    blocks, bounds = [gaps, -gaps], [limits, limits]
    if capacity is not None:
        blocks.append(csr_array(np.ones((1, len(a)))))
        bounds.append(np.array([float(capacity)]))
    solve: Any = linprog  # whose types do not know that it takes sparse matrices
    answer = solve(
        -a,
        A_ub=vstack(blocks),
        b_ub=np.concatenate(bounds),
        bounds=(0, 1),
        method="highs",
        options={"time_limit": PATIENCE},
    )
    return -float(answer.fun) if answer.status == 0 else math.nan


def by_cvxpy(solver: str | None, **options: object) -> Solver:
    """cvxpy with this solver, or its own choice; one sparse matrix instead of a constraint for each pair."""

    def solve(a: Floats, c: Floats, capacity: float | None) -> float:
        cp = load("cvxpy")
        gaps, limits = _rows(c)
        p = cp.Variable(len(a), bounds=[0, 1])
        rows = [gaps @ p <= limits, gaps @ p >= -limits]
        if capacity is not None:
            rows.append(cp.sum(p) <= capacity)
        problem = cp.Problem(cp.Maximize(a @ p), rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a solution may be inaccurate: the status is read below
            problem.solve(solver=solver, **options)
        return float(problem.value) if problem.status == "optimal" else math.nan

    return solve


def _rows(c: Floats) -> tuple[Any, Floats]:
    """p_i - p_j of every pair as a sparse matrix (n, k), and their distances (n,)."""
    k = len(c)
    first, second = np.triu_indices(k, 1)
    n = len(first)
    columns = np.stack([first, second], axis=1).ravel()
    gaps = csr_array((np.tile([1.0, -1.0], n), columns, np.arange(0, 2 * n + 1, 2)), shape=(n, k))
    return gaps, c[first, second]


HIGHS = Peer("highspy, as it comes", "highspy", {"a new solver each time": Highs(keep=False, presolve=True)})

FASTEST_HIGHS = Peer(
    "highspy, its fastest use",
    "highspy",
    {
        "solver kept": Highs(keep=True, presolve=True),
        "solver kept, no presolve": Highs(keep=True, presolve=False),
    },
)

PEERS = (
    HIGHS,
    FASTEST_HIGHS,
    Peer("scipy linprog", "scipy", {"linprog": by_scipy}),
    # Left alone, cvxpy takes Clarabel for a linear programme.
    Peer("cvxpy, its default (Clarabel)", "cvxpy", {"Clarabel": by_cvxpy(None, time_limit=PATIENCE, max_threads=1)}),
    Peer("cvxpy, HiGHS", "cvxpy", {"HiGHS": by_cvxpy("HIGHS", time_limit=PATIENCE, threads=1)}),
)
