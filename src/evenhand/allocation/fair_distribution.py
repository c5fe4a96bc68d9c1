"""The best fair odds for given rewards and distances."""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from evenhand.allocation.allocation import REPORTED_TOLERANCE, Allocation
from evenhand.allocation.closure import LEAST_GAIN, richest_closed_set
from evenhand.allocation.lazy_rows import solve_by_lazy_rows
from evenhand.allocation.passing_down import PATHS_PER_CANDIDATE, search_price
from evenhand.allocation.programme import FairProgramme, check_programme
from evenhand.allocation.taut_ropes import TAUT_TOLERANCE, find_taut, spread_stuck
from evenhand.allocation.verify import verify_odds
from evenhand.allocation.water_filling import fill
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Method = Literal["auto", "ropes", "highs"]

log = logging.getLogger(__name__)

# Which method is the fastest. Kernels alone, measured in one run on one core, in milliseconds, for k candidates under
# one tight and one loose Mahalanobis metric (A of size 0.05 / 0.5). `benchmarks/allocation.py` measures the whole.
#
#     capacity  k      water-filling    price search    lazy rows
#     1         10     0.03 / 0.003     0.01 / 0.005    1.6 / 0.6
#     1         100    0.15 / 0.01      3.0 / 0.13      3.2 / 1.0
#     1         1000   2.3 / 0.6        -               80 / 22
#     k/4       30     0.5 / 0.04       0.2 / 0.04      6.5 / 1.0
#     k/4       100    26 / 0.7         2.1 / 0.3       19 / 1.8
#     k/4       300    1460 / 25        754 / 18        168 / 6
#     none      30     0.9 / 0.1        0.05 / 0.009    1.2 / 0.5
#     none      100    47 / 1.7         6.1 / 0.05      19 / 1.3
#     none      300    1050 / 52        98 / 0.8        97 / 3
#     none      1000   -                1520 / 177      372 / 48
MOST_FOR_PRICE_SEARCH = 150
"""With a capacity, lazy rows are faster beyond this many candidates, once water-filling has given up."""

MOST_FOR_PASSING_DOWN = 300
"""Without a capacity, lazy rows are faster beyond this many candidates."""


def water_filling_pays(k: int, budget: float) -> bool:
    """Whether to try water-filling first: its events grow with the capacity, those of the price search do not."""
    return budget <= max(1.0, k / 20) or (math.isfinite(budget) and k > MOST_FOR_PRICE_SEARCH)


def events_worth_trying(k: int) -> int:
    """After how many events water-filling gives up: then capacity is large, or hardly binds.

    Capacity 1 takes about 30 events for 30 candidates, 50 for 100 and 80 for 1000.
    """
    return min(20 + k, 100 + k // 4)


def fair_distribution(
    rewards: ArrayLike, distances: ArrayLike, capacity: float | None = 1, *, method: Method = "auto"
) -> Allocation:
    """The odds p that maximise a.p subject to 0 <= p <= 1, |p_i - p_j| <= c_ij and sum p <= B.

    The paper's LP(a, c). rewards: a (k,), finite, of any sign. distances: c (k, k), >= 0, inf where two candidates
    have nothing to do with each other; of c_ij and c_ji the smaller counts, since a gap has no direction, and the
    diagonal is ignored. They need not be a metric. capacity: B > 0, any real number, or None for no limit; what the
    odds leave of it means "nobody". method: "ropes" (exact and combinatorial: water-filling, or passing surplus
    down), "highs" (a simplex solver), or "auto", whichever is the fastest. Cost: tens of microseconds for k = 10,
    below a millisecond for k = 100 and capacity 1, milliseconds without a limit.

    >>> best = fair_distribution([0.9, 0.5, -0.2], [[0, 0.1, 1], [0.1, 0, 1], [1, 1, 0]])
    >>> best.probabilities.round(12).tolist(), round(best.value, 12)
    ([0.55, 0.45, 0.0], 0.72)
    """
    if method not in ("auto", "ropes", "highs"):
        raise InvalidInput(f"method is {method!r}; it must be 'auto', 'ropes' or 'highs'")
    programme = check_programme(rewards, distances, capacity)
    p, price = _solve(programme, method)
    verify_odds(p, programme)
    p.setflags(write=False)
    return Allocation(p, float(programme.rewards @ p), price, programme)


def _solve(programme: FairProgramme, method: Method) -> tuple[Floats, float]:
    """Optimal odds and the price of capacity."""
    k, limited = len(programme), math.isfinite(programme.budget)
    if method != "highs" and water_filling_pays(k, programme.budget):
        found = _by_water_filling(programme)
        if found is not None:
            return found
    most = MOST_FOR_PRICE_SEARCH if limited else MOST_FOR_PASSING_DOWN
    if method == "ropes" or (method == "auto" and k <= most):
        p = _by_passing_down(programme)
    else:
        p = solve_by_lazy_rows(programme)
    return p, _price_of_capacity(p, programme)


def _by_water_filling(programme: FairProgramme) -> tuple[Floats, float] | None:
    a = programme.scaled_rewards()
    events = events_worth_trying(len(a))
    p, price, used = fill(a, programme.distances, programme.budget, TAUT_TOLERANCE, LEAST_GAIN, events)
    return (p, math.ldexp(price, programme.exponent)) if used >= 0 else None


def _by_passing_down(programme: FairProgramme) -> Floats:
    a = programme.scaled_rewards()
    paths = PATHS_PER_CANDIDATE * len(a)
    p, used = search_price(a, programme.distances, programme.budget, LEAST_GAIN, paths)
    if used >= 0:
        return p
    log.warning("passing surplus down took too many steps for %d candidates; HiGHS takes over", len(a))
    return solve_by_lazy_rows(programme)


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
    mean, _ = richest_closed_set(programme.scaled_rewards(), ropes, stuck, nobody, LEAST_GAIN)
    return max(0.0, math.ldexp(mean, programme.exponent))
