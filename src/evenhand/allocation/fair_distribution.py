"""fair_distribution: the best fair probabilities for given rewards and distances."""

from __future__ import annotations

import logging
import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.checks import check_one_of
from evenhand._internal.jit import jit
from evenhand.allocation._bounded_filling import fill_between, implied_floors
from evenhand.allocation._lazy_rows import solve_by_lazy_rows
from evenhand.allocation._max_flow import (
    LEAST_GAIN,
    TIGHT_TOLERANCE,
    fill_tight_pairs,
    find_tight,
    richest_closed_set,
    spread_stuck,
)
from evenhand.allocation._network_simplex import CHANGES_PER_CANDIDATE, search_price, search_price_between
from evenhand.allocation._program import (
    FairProgram,
    check_program,
    examine,
    read_program,
    refuse_bad,
    refuse_excess,
    scaled,
    verify_probabilities,
    worst_excess,
)
from evenhand.allocation._water_filling import fill
from evenhand.allocation.allocation import REPORTED_TOLERANCE, Allocation
from evenhand.allocation.collisions import collide, explain_collisions

Method = Literal["auto", "combinatorial", "highs"]

log = logging.getLogger(__name__)

ROWS_PER_CANDIDATE = 300
"""After this many rows of distances per candidate, water-filling hands over to the price search (docs/speed.md).

Capacity 1 takes fewer than 10, and 300 take less time than the search."""

SMALL = 64
"""Up to this many candidates, tight pairs are computed with the probabilities, in one call; otherwise on demand."""


def fair_distribution(
    rewards: ArrayLike,
    distances: ArrayLike,
    capacity: float | None = 1,
    *,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    method: Method = "auto",
) -> Allocation:
    """The probabilities p that maximise a.p subject to 0 <= p <= 1, |p_i - p_j| <= c_ij and sum p <= B.

    The paper's LP(a, c). rewards: a (k,), finite, of any sign. distances: c (k, k), >= 0, inf where two candidates
    have nothing to do with each other; of c_ij and c_ji the smaller counts, since a gap has no direction, and the
    diagonal is ignored. They need not be a metric. capacity: B > 0, any real number, or None for no limit; what is
    left of it means "nobody". lower, upper: floors and ceilings, l <= p <= u, (k,) or one number for all, from 0 to 1;
    CollidingBounds if no fair probabilities keep to them. method: "combinatorial" (exact: water-filling or network
    simplex), "highs" (a general solver), or "auto": combinatorial, with HiGHS as a fallback should that take too long.
    Cost: some microseconds for k = 10, tens of them for k = 100 and capacity 1, milliseconds for k = 1000; without a
    capacity a tenth of a second for k = 1000 at worst.

    >>> best = fair_distribution([0.9, 0.5, -0.2], [[0, 0.1, 1], [0.1, 0, 1], [1, 1, 0]])
    >>> best.probabilities.round(12).tolist(), round(best.value, 12)
    ([0.55, 0.45, 0.0], 0.72)
    >>> fair_distribution([0.9, 0.5], [[0, 0.2], [0.2, 0]], upper=[0.5, 0.1]).probabilities.round(12).tolist()
    [0.3, 0.1]
    """
    if method != "auto":
        check_one_of("method", method, get_args(Method))
    if lower is not None or upper is not None:
        return _solve_between(check_program(rewards, distances, capacity, lower, upper), method)
    if method == "highs":
        program = check_program(rewards, distances, capacity)
        return _checked(solve_by_lazy_rows(program), program)
    a, raw, limit = read_program(rewards, distances, capacity)
    k = len(a)
    c, p, tight = np.empty(raw.shape), np.empty(k), np.empty((k * (k - 1) // 2 if k <= SMALL else 0, 2), np.int64)
    how = (LEAST_GAIN, REPORTED_TOLERANCE)
    if limit < k:  # each is compiled when first needed
        solved = solve_within_capacity(a, raw, limit, *how, TIGHT_TOLERANCE, ROWS_PER_CANDIDATE * k, c, p, tight)
    else:
        solved = solve_without_capacity(a, raw, limit, *how, CHANGES_PER_CANDIDATE * k, c, p, tight)
    found, value, price, worst, i, j, count = solved
    if not found:
        refuse_bad(a, raw, i, j)
        program = FairProgram(a, c, limit)
        return _checked(_fall_back(program), program)
    residual = refuse_excess(worst, i, j)
    p.setflags(write=False)
    best = Allocation(p, value, price, FairProgram(a, c, limit), residual)
    if k <= SMALL:
        best.__dict__["tight_pairs"] = tuple(map(tuple, tight[:count].tolist()))
    return best


@jit
def solve_within_capacity(
    a: Floats,
    raw: Floats,
    capacity: float,
    least_gain: float,
    reported: float,
    tolerance: float,
    rows: int,
    c: Floats,
    p: Floats,
    tight: Indices,
) -> tuple[bool, float, float, float, int, int, int]:
    """Examine the input, solve and verify in one call, since calling a kernel costs as much as ten candidates.

    Fills distances c (k, k) and probabilities p (k,); returns whether a solution was found, its value, the price of
    capacity, and what `worst_excess` returns. None is found when the input is bad, and then i, j are what `examine`
    returns, or when the limit `rows` is exceeded. If `tight` (n, 2) has room, pairs that are tight by the tolerance
    `reported` are written there, and the last number is their count.
    """
    i, j = examine(a, raw, c)
    if i >= 0:
        return False, 0.0, 0.0, 0.0, i, j, 0
    best, price, used = fill(a, c, capacity, tolerance, least_gain, rows)
    if used < 0:
        return False, 0.0, 0.0, 0.0, -1, -1, 0
    return _finish(a, c, capacity, price, reported, best, p, tight)


@jit
def solve_without_capacity(
    a: Floats,
    raw: Floats,
    capacity: float,
    least: float,
    reported: float,
    changes: int,
    c: Floats,
    p: Floats,
    tight: Indices,
) -> tuple[bool, float, float, float, int, int, int]:
    """The same where the capacity cannot bind, and has no price."""
    i, j = examine(a, raw, c)
    if i >= 0:
        return False, 0.0, 0.0, 0.0, i, j, 0
    best, used = search_price(a, c, np.inf, least, changes)
    if used < 0:
        return False, 0.0, 0.0, 0.0, -1, -1, 0
    return _finish(a, c, capacity, 0.0, reported, best, p, tight)


@jit
def _finish(
    a: Floats, c: Floats, capacity: float, price: float, reported: float, best: Floats, p: Floats, tight: Indices
) -> tuple[bool, float, float, float, int, int, int]:
    """Fill in p and the tight pairs; return what `solve_within_capacity` returns."""
    value = 0.0
    for i in range(len(a)):
        p[i] = best[i]
        value += a[i] * p[i]
    worst, i, j = worst_excess(p, c, capacity)
    count = fill_tight_pairs(p, c, reported, tight) if len(tight) else 0
    return True, value, price, worst, i, j, count


def _solve_between(program: FairProgram, method: Method) -> Allocation:
    """The best probabilities of a program with floors and ceilings."""
    floors, lifter, order = implied_floors(program.floors, program.distances, 0.0)
    if collide(floors, program):
        raise explain_collisions(program, (floors, lifter), _solve).error()
    if method == "highs":
        return _checked(solve_by_lazy_rows(program), program)
    a, c, k = program.rewards, program.distances, len(program.rewards)
    upper = np.maximum(program.ceilings, floors)  # above a ceiling by rounding at most
    if program.budget < math.inf:
        how = (TIGHT_TOLERANCE, LEAST_GAIN, ROWS_PER_CANDIDATE * k)
        p, price, used = fill_between(a, c, program.capacity, floors, upper, lifter, order, *how)
        if used >= 0:
            p.setflags(write=False)
            return Allocation(p, float(a @ p), price, program, verify_probabilities(p, program))
    bounds = (program.floors, upper, floors)
    p, used = search_price_between(a, c, program.budget, *bounds, LEAST_GAIN, CHANGES_PER_CANDIDATE * k)
    if used < 0:
        log.warning("network simplex took too many steps for %d candidates; falling back to HiGHS", k)
        p = solve_by_lazy_rows(program)
    return _checked(p, program)


def _solve(program: FairProgram) -> Allocation:
    """The best probabilities of a program."""
    inputs = (program.rewards, program.distances, program.capacity)
    return fair_distribution(*inputs, lower=program.lower, upper=program.upper)


def _fall_back(program: FairProgram) -> Floats:
    """Probabilities of a program that took too long: a large one with a large capacity, or one that cycles on ties."""
    a, c, budget = program.rewards, program.distances, program.budget
    if budget < math.inf:
        p, used = search_price(a, c, budget, LEAST_GAIN, CHANGES_PER_CANDIDATE * len(a))
        if used >= 0:
            return p
    log.warning("network simplex took too many steps for %d candidates; falling back to HiGHS", len(a))
    return solve_by_lazy_rows(program)


def _checked(p: Floats, program: FairProgram) -> Allocation:
    """The allocation with these probabilities, verified."""
    residual = verify_probabilities(p, program)
    p.setflags(write=False)
    return Allocation(p, float(program.rewards @ p), _price_of_capacity(p, program), program, residual)


def _price_of_capacity(p: Floats, program: FairProgram) -> float:
    """The reward per unit of additional capacity: the highest mean reward of a set that can still rise.

    A solver's dual value may be any price between that of the last unit and that of the next one.
    """
    if program.budget - p.sum() > REPORTED_TOLERANCE * len(p):
        return 0.0
    graph = find_tight(p, program.distances, REPORTED_TOLERANCE)
    stuck = p >= program.ceilings - REPORTED_TOLERANCE
    spread_stuck(graph, stuck)
    nobody = np.zeros(len(p), np.bool_)
    smaller, exponent = scaled(program.rewards)
    mean, _ = richest_closed_set(smaller, graph, stuck, nobody, LEAST_GAIN)
    return max(0.0, math.ldexp(mean, exponent))
