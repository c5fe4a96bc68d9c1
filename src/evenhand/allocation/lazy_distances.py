"""Fair allocation with lazily computed distances: only those that can matter are computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.jit import jit
from evenhand.allocation._max_flow import LEAST_GAIN, TIGHT_TOLERANCE
from evenhand.allocation._network_simplex import CHANGES_PER_CANDIDATE, search_price
from evenhand.allocation._program import read_program
from evenhand.allocation._water_filling import fill
from evenhand.allocation.allocation import REPORTED_TOLERANCE, Allocation
from evenhand.allocation.fair_distribution import ROWS_PER_CANDIDATE, fair_distribution
from evenhand.errors import CollidingBounds

NEARLY = 0.1
"""Open pairs whose gap is this close to their upper bound are computed first: they limit the probabilities, and most
other pairs are then no longer open."""

SELECTIVE, PATIENT = 8, 16
"""After SELECTIVE steps all open pairs are computed at once, after PATIENT steps all pairs.

Most programs take 3 to 6 steps. A thousand candidates on a line, before any review, would take hundreds."""

AT_ONCE = 50_000  # Maximum number of pairs per call.


@dataclass(frozen=True, eq=False)
class BoundedDistances:
    """Distances between k candidates: upper bounds, and a way to compute exact ones."""

    upper: Floats
    """An upper bound on every distance, (k, k), symmetric; overwritten by exact distances once computed."""
    may_reach: Callable[[Floats, float, Mask], Indices]
    """From probabilities (k,), a tolerance and a mask of settled pairs (k, k): the open pairs (n, 2) whose distance may
    be at most their gap plus the tolerance."""
    exact: Callable[[Indices], Floats]
    """The distance of each of some pairs, (n,)."""


def fair_distribution_within(
    rewards: ArrayLike,
    distances: BoundedDistances,
    capacity: float | None = 1,
    *,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
) -> Allocation:
    """The result of `fair_distribution` on the exact distances: the same value, every pair within its distance.

    The program is solved for the upper bounds; pairs whose gap may exceed their distance are computed; and again,
    until there are none. Proof: upper bounds allow everything that exact distances allow, so the result is worth no
    less than the best fair one; and in the end it is fair, as each gap is within an exact distance or below a certain
    bound. It ends since every pair is computed at most once. Pairs that were not computed are not tight. (If there are
    several optima, this may be another one.) lower, upper: as in `fair_distribution`.

    >>> table = np.array([[0.0, 0.2], [0.2, 0.0]])
    >>> everybody = lambda p, tolerance, settled: np.array([[0, 1]])[~settled[[0], [1]]]
    >>> bounded = BoundedDistances(4.0 * table, everybody, lambda pairs: table[pairs[:, 0], pairs[:, 1]])
    >>> fair_distribution_within([1.0, 0.0], bounded).probabilities.round(12).tolist()
    [0.6, 0.4]
    """
    table, settled = distances.upper, np.zeros(distances.upper.shape, np.bool_)
    a, _, limit = read_program(rewards, table, capacity)
    if not np.all(np.isfinite(a)):
        return fair_distribution(a, table, capacity)  # raises
    for step in count():
        try:
            p = _solution(a, table, limit, lower, upper)
        except CollidingBounds:  # exact distances are no longer; all of them are needed to say what collides
            if np.all(settled | np.eye(len(a), dtype=np.bool_)):
                raise
            _compute(distances, settled, np.argwhere(np.triu(~settled, 1)))
            continue
        pairs = distances.may_reach(p, REPORTED_TOLERANCE, settled)
        if len(pairs) == 0:
            return fair_distribution(a, table, capacity, lower=lower, upper=upper)
        if step < SELECTIVE:
            near = np.abs(p[pairs[:, 0]] - p[pairs[:, 1]]) >= (1.0 - NEARLY) * table[pairs[:, 0], pairs[:, 1]]
            pairs = pairs[near] if np.any(near) else pairs
        elif step >= PATIENT:
            pairs = np.argwhere(np.triu(~settled, 1))
        _compute(distances, settled, pairs)
    raise AssertionError("unreachable")


def _solution(a: Floats, table: Floats, limit: float, lower: ArrayLike | None, upper: ArrayLike | None) -> Floats:
    """The best probabilities for these distances (k, k), which need no checks."""
    if lower is None and upper is None:
        p, used = probabilities_within(
            a, table, limit, TIGHT_TOLERANCE, LEAST_GAIN, ROWS_PER_CANDIDATE, CHANGES_PER_CANDIDATE
        )
        if used >= 0:
            return p
    return fair_distribution(a, table, limit, lower=lower, upper=upper).probabilities


def _compute(distances: BoundedDistances, settled: Mask, pairs: Indices) -> None:
    """Compute the exact distances of these pairs (n, 2)."""
    table = distances.upper
    for start in range(0, len(pairs), AT_ONCE):
        part = pairs[start : start + AT_ONCE]
        first, second = part.T
        table[first, second] = table[second, first] = distances.exact(part)
        settled[first, second] = settled[second, first] = True


@jit
def probabilities_within(
    a: Floats, c: Floats, capacity: float, tolerance: float, least_gain: float, rows: int, changes: int
) -> tuple[Floats, int]:
    """The probabilities that `fair_distribution` gives for checked distances; a negative count if over the limits."""
    if capacity < len(a):
        p, _, used = fill(a, c, capacity, tolerance, least_gain, rows * len(a))
    else:
        p, used = search_price(a, c, np.inf, least_gain, changes * len(a))
    return p, used
