"""The best fair odds when distances are dear: only those that can matter are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.jit import jit
from evenhand.allocation.allocation import REPORTED_TOLERANCE, Allocation
from evenhand.allocation.closure import LEAST_GAIN
from evenhand.allocation.fair_distribution import ROWS_PER_CANDIDATE, fair_distribution
from evenhand.allocation.network_simplex import CHANGES_PER_CANDIDATE, search_price
from evenhand.allocation.program import read_programme
from evenhand.allocation.tight_constraints import TAUT_TOLERANCE
from evenhand.allocation.water_filling import fill

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

NEARLY = 0.1
"""Of the pairs in doubt those are found out first whose gap is this near to their upper end: they hold the odds, and
once they hold them lower most others are in doubt no more."""

SELECTIVE, PATIENT = 8, 16
"""After so many steps all pairs in doubt are found out at once, and after so many all pairs there are.

Most programmes take 3 to 6. A thousand people on a line, of whom nothing is known yet, would take hundreds."""

AT_ONCE = 50_000
"""So many pairs at most are found out with one call."""

Floats = NDArray[np.float64]
PairsOf = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BoundedDistances:
    """Distances between k candidates that are known from above, and found out where that is not enough."""

    upper: Floats
    """The upper end of every distance, (k, k), symmetric, and exact where found out: it is written to."""
    may_reach: Callable[[Floats, float, NDArray[np.bool_]], PairsOf]
    """From odds (k,), a tolerance and what is settled (k, k): the pairs (n, 2) that are not settled and whose distance
    may be no longer than their gap plus the tolerance."""
    exact: Callable[[PairsOf], Floats]
    """The distance of each of some pairs, (n,)."""


def fair_distribution_within(
    rewards: ArrayLike, distances: BoundedDistances | ArrayLike, capacity: float | None = 1
) -> Allocation:
    """What `fair_distribution` says of the exact distances: the same value, the same promise to every pair.

    Odds are chosen for the upper ends; the pairs whose gap may not be fair are found out; and again, until there are
    none. Proof: upper ends allow all odds that exact distances allow, so the best odds within them are worth no less
    than the best fair ones; and in the end they are fair themselves, as each gap is either within an exact distance or
    below what is certain. It ends since every pair is found out at most once. Pairs not found out are not tight either,
    neither by the exact distance nor by the upper end. (If several odds are best, these may be others of them.)

    >>> table = np.array([[0.0, 0.2], [0.2, 0.0]])
    >>> everybody = lambda odds, tolerance, settled: np.array([[0, 1]])[~settled[[0], [1]]]
    >>> bounded = BoundedDistances(4.0 * table, everybody, lambda pairs: table[pairs[:, 0], pairs[:, 1]])
    >>> fair_distribution_within([1.0, 0.0], bounded).probabilities.round(12).tolist()
    [0.6, 0.4]
    """
    if not isinstance(distances, BoundedDistances):
        return fair_distribution(rewards, distances, capacity)
    table, settled = distances.upper, np.zeros(distances.upper.shape, np.bool_)
    a, _, limit = read_programme(rewards, table, capacity)
    if not np.all(np.isfinite(a)):
        return fair_distribution(a, table, capacity)  # which says what is wrong
    for step in count():
        p, used = odds_within(a, table, limit, TAUT_TOLERANCE, LEAST_GAIN, ROWS_PER_CANDIDATE, CHANGES_PER_CANDIDATE)
        if used < 0:
            p = fair_distribution(a, table, capacity).probabilities
        pairs = distances.may_reach(p, REPORTED_TOLERANCE, settled)
        if len(pairs) == 0:
            return fair_distribution(a, table, capacity)
        if step < SELECTIVE:
            taut = np.abs(p[pairs[:, 0]] - p[pairs[:, 1]]) >= (1.0 - NEARLY) * table[pairs[:, 0], pairs[:, 1]]
            pairs = pairs[taut] if np.any(taut) else pairs
        elif step >= PATIENT:
            pairs = np.argwhere(np.triu(~settled, 1))
        for start in range(0, len(pairs), AT_ONCE):
            part = pairs[start : start + AT_ONCE]
            first, second = part.T
            table[first, second] = table[second, first] = distances.exact(part)
            settled[first, second] = settled[second, first] = True
    raise AssertionError("counting never ends")


@jit
def odds_within(
    a: Floats, c: Floats, capacity: float, tolerance: float, least_gain: float, rows: int, changes: int
) -> tuple[Floats, int]:
    """The odds that `fair_distribution` gives for distances that need no examination; negative if it takes long."""
    if capacity < len(a):
        p, _, used = fill(a, c, capacity, tolerance, least_gain, rows * len(a))
    else:
        p, used = search_price(a, c, np.inf, least_gain, changes * len(a))
    return p, used
