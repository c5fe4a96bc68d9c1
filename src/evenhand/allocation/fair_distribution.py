"""The best fair odds for given rewards and distances."""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.jit import jit
from evenhand.allocation.allocation import REPORTED_TOLERANCE, Allocation
from evenhand.allocation.closure import LEAST_GAIN, richest_closed_set
from evenhand.allocation.lazy_rows import solve_by_lazy_rows
from evenhand.allocation.network_simplex import CHANGES_PER_CANDIDATE, search_price
from evenhand.allocation.program import (
    FairProgramme,
    check_programme,
    examine,
    read_programme,
    refuse_bad,
    scaled,
)
from evenhand.allocation.tight_constraints import TAUT_TOLERANCE, fill_taut_pairs, find_taut, spread_stuck
from evenhand.allocation.verify import refuse_excess, verify_odds, worst_excess
from evenhand.allocation.water_filling import fill
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Method = Literal["auto", "ropes", "highs"]

Floats = NDArray[np.float64]

log = logging.getLogger(__name__)

# Which way is the fastest. Kernels alone, measured in one run on one core, in milliseconds, for k candidates under a
# tight and a loose Mahalanobis metric (A of size 0.05 / 0.5). `benchmarks/allocation.py` measures the whole.
#
#     capacity  k      water-filling     price search     lazy rows
#     1         10     0.002 / 0.001     0.006 / 0.004    1.5 / 0.6
#     1         100    0.012 / 0.002     0.66 / 0.23      8.5 / 1.1
#     1         1000   0.13 / 0.02       -                75 / 26
#     k/20      300    2.1 / 0.06        18 / 7.9         91 / 14
#     k/20      1000   139 / 1.4         463 / 198        1220 / 106
#     k/4       100    0.26 / 0.04       0.23 / 0.25      18 / 7.2
#     k/4       300    18 / 0.5          4.1 / 7.9        124 / 20
#     k/4       1000   785 / 28          207 / 179        2570 / 216
#     none      10     0.003 / 0.002     0.002 / 0.002    0.4 / 0.4
#     none      100    0.27 / 0.09       0.11 / 0.03      15 / 1.9
#     none      300    17 / 1.7          3.1 / 0.3        123 / 13
#     none      1000   755 / 101         79 / 15          2390 / 131
ROWS_PER_CANDIDATE = 300
"""After how many rows of distances for each candidate water-filling leaves the programme to the price search.

Capacity 1 takes fewer than 10, and 300 take less time than the search then does."""

SMALL = 64
"""Of so many candidates the taut ropes are found with the odds, in one call; of more when they are asked for."""


def fair_distribution(
    rewards: ArrayLike, distances: ArrayLike, capacity: float | None = 1, *, method: Method = "auto"
) -> Allocation:
    """The odds p that maximise a.p subject to 0 <= p <= 1, |p_i - p_j| <= c_ij and sum p <= B.

    The paper's LP(a, c). rewards: a (k,), finite, of any sign. distances: c (k, k), >= 0, inf where two candidates
    have nothing to do with each other; of c_ij and c_ji the smaller counts, since a gap has no direction, and the
    diagonal is ignored. They need not be a metric. capacity: B > 0, any real number, or None for no limit; what the
    odds leave of it means "nobody". method: "ropes" (exact and combinatorial: water-filling, or passing surplus
    down), "highs" (a simplex solver), or "auto", whichever is the fastest: so far always the ropes, and HiGHS only
    takes over should they take too long. Cost: some microseconds for k = 10, tens of them for k = 100 and capacity 1,
    milliseconds for k = 1000; without a limit on capacity a tenth of a second for k = 1000 at worst.

    >>> best = fair_distribution([0.9, 0.5, -0.2], [[0, 0.1, 1], [0.1, 0, 1], [1, 1, 0]])
    >>> best.probabilities.round(12).tolist(), round(best.value, 12)
    ([0.55, 0.45, 0.0], 0.72)
    """
    if method not in ("auto", "ropes", "highs"):
        raise InvalidInput(f"method is {method!r}; it must be 'auto', 'ropes' or 'highs'")
    if method == "highs":
        programme = check_programme(rewards, distances, capacity)
        return _checked(solve_by_lazy_rows(programme), programme)
    a, raw, limit = read_programme(rewards, distances, capacity)
    rows, changes = ROWS_PER_CANDIDATE * len(a), CHANGES_PER_CANDIDATE * len(a)
    k = len(a)
    c, p, taut = np.empty(raw.shape), np.empty(k), np.empty((k * (k - 1) // 2 if k <= SMALL else 0, 2), np.int64)
    how = (TAUT_TOLERANCE, LEAST_GAIN, REPORTED_TOLERANCE, rows, changes)
    solve = along_ropes if limit < k else without_limit  # each is compiled when it is first needed
    found, value, price, worst, i, j, count = solve(a, raw, limit, *how, c, p, taut)
    if not found:
        refuse_bad(a, raw, i, j)
        programme = FairProgramme(a, c, limit)
        return _checked(_when_ropes_give_up(programme), programme)
    residual = refuse_excess(worst, i, j)
    p.setflags(write=False)
    best = Allocation(p, value, price, FairProgramme(a, c, limit), residual)
    if k <= SMALL:
        best.__dict__["tight_pairs"] = tuple([(i, j) for i, j in taut[:count].tolist()])  # found on the way
    return best


@jit
def along_ropes(
    a: Floats,
    raw: Floats,
    capacity: float,
    tolerance: float,
    least_gain: float,
    reported: float,
    rows: int,
    changes: int,
    c: Floats,
    p: Floats,
    taut: NDArray[np.int64],
) -> tuple[bool, float, float, float, int, int, int]:
    """Examine the input, solve and verify in one go, since each call of a kernel costs as much as ten candidates do.

    Fills distances c (k, k) and odds p (k,); returns whether there are any, their value, the price of capacity, and
    what `worst_excess` says of them. There are none when the input is bad, and then the last two are what `examine`
    says of it, or when neither `rows` nor `changes` were enough. If there is room in `taut` (n, 2), pairs whose rope is
    taut, by the tolerance `reported`, are written there, and the last number is how many they are.
    """
    i, j = examine(a, raw, c)
    if i >= 0:
        return False, 0.0, 0.0, 0.0, i, j, 0
    odds, price, used = fill(a, c, capacity, tolerance, least_gain, rows)
    if used < 0:
        return False, 0.0, 0.0, 0.0, -1, -1, 0
    value, worst, i, j, count = _finish(a, c, capacity, reported, odds, p, taut)
    return True, value, price, worst, i, j, count


@jit
def without_limit(
    a: Floats,
    raw: Floats,
    capacity: float,
    tolerance: float,
    least_gain: float,
    reported: float,
    rows: int,
    changes: int,
    c: Floats,
    p: Floats,
    taut: NDArray[np.int64],
) -> tuple[bool, float, float, float, int, int, int]:
    """What `along_ropes` does, where the capacity is no limit: it has no price then."""
    i, j = examine(a, raw, c)
    if i >= 0:
        return False, 0.0, 0.0, 0.0, i, j, 0
    odds, used = search_price(a, c, np.inf, least_gain, changes)
    if used < 0:
        return False, 0.0, 0.0, 0.0, -1, -1, 0
    value, worst, i, j, count = _finish(a, c, capacity, reported, odds, p, taut)
    return True, value, 0.0, worst, i, j, count


@jit
def _finish(
    a: Floats, c: Floats, capacity: float, reported: float, odds: Floats, p: Floats, taut: NDArray[np.int64]
) -> tuple[float, float, int, int, int]:
    """Fill in p and the taut pairs; the value, what `worst_excess` says of p, and how many pairs are taut."""
    value = 0.0
    for i in range(len(a)):
        p[i] = odds[i]
        value += a[i] * p[i]
    worst, i, j = worst_excess(p, c, capacity)
    count = fill_taut_pairs(p, c, reported, taut) if len(taut) else 0
    return value, worst, i, j, count


def _when_ropes_give_up(programme: FairProgramme) -> Floats:
    """Odds of a programme that took too long: large, with a large capacity, or one that ties lead round in circles."""
    a, c, budget = programme.rewards, programme.distances, programme.budget
    if budget < math.inf:
        p, used = search_price(a, c, budget, LEAST_GAIN, CHANGES_PER_CANDIDATE * len(a))
        if used >= 0:
            return p
    log.warning("passing surplus down took too many steps for %d candidates; HiGHS takes over", len(a))
    return solve_by_lazy_rows(programme)


def _checked(p: Floats, programme: FairProgramme) -> Allocation:
    """The answer made of these odds, if they keep to the rules."""
    residual = verify_odds(p, programme)
    p.setflags(write=False)
    return Allocation(p, float(programme.rewards @ p), _price_of_capacity(p, programme), programme, residual)


def _price_of_capacity(p: Floats, programme: FairProgramme) -> float:
    """What one more unit of capacity would buy: the highest mean reward of a set that can still rise.

    A solver's own dual value may be any price between what the last unit brought and what the next one would.
    """
    if programme.budget - p.sum() > REPORTED_TOLERANCE * len(p):
        return 0.0
    ropes = find_taut(p, programme.distances, REPORTED_TOLERANCE)
    stuck = p >= 1.0 - REPORTED_TOLERANCE
    spread_stuck(ropes, stuck)
    nobody = np.zeros(len(p), np.bool_)
    smaller, exponent = scaled(programme.rewards)
    mean, _ = richest_closed_set(smaller, ropes, stuck, nobody, LEAST_GAIN)
    return max(0.0, math.ldexp(mean, exponent))
