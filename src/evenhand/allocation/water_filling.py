"""The exact fair allocation by water-filling with ropes.

Every pair is tied with a rope as long as its distance, and all odds start at 0. Again and again the closed set with
the highest mean reward rises, all members at one speed, until a rope goes taut, a member reaches 1, the capacity is
used up or no mean is positive.

Why this is exact: at a price on capacity, the best odds only ever rise as the price falls (difference constraints
make the programme L-natural-concave), and the next price at which anything moves is the highest mean reward over
the sets that can rise. The prices met on the way are those means, so the path holds the optimum of every capacity.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand.allocation.closure import richest_closed_set
from evenhand.allocation.taut_ropes import TautRopes, find_taut, slacken, spread_stuck, tie
from evenhand.compiled import compiled


@compiled
def shortest_slack(
    p: NDArray[np.float64],
    c: NDArray[np.float64],
    rising: NDArray[np.bool_],
    tolerance: float,
    pairs: NDArray[np.int32],
) -> tuple[float, int]:
    """How far the rising set can go until a rope to somebody outside is taut, and how many ropes then are.

    These ropes are written to `pairs`. Cost: O(k |rising|).
    """
    step, count = np.inf, 0
    for i in range(len(p)):
        if not rising[i]:
            continue
        for j in range(len(p)):
            slack = c[i, j] - (p[i] - p[j])
            if slack <= step + tolerance and not rising[j]:
                if slack < step - tolerance:
                    count = 0
                step = min(step, slack)
                pairs[count, 0] = i
                pairs[count, 1] = j
                count += 1
    return step, count


@compiled
def raise_set(
    p: NDArray[np.float64],
    c: NDArray[np.float64],
    rising: NDArray[np.bool_],
    stuck: NDArray[np.bool_],
    ropes: TautRopes,
    limit: float,
    tolerance: float,
    pairs: NDArray[np.int32],
) -> float:
    """Raise the set as far as ropes and the ceiling 1 let it, at most by `limit`; return by how much."""
    step, count = shortest_slack(p, c, rising, tolerance, pairs)
    step = min(step, limit)
    for i in range(len(p)):
        if rising[i]:
            step = min(step, 1.0 - p[i])
    newly_stuck = False
    for i in range(len(p)):
        if rising[i]:
            p[i] += step
            if p[i] >= 1.0 - tolerance:
                stuck[i] = True
                newly_stuck = True
    slacken(ropes, rising)
    for e in range(count):
        i, j = pairs[e]
        if p[i] - p[j] >= c[i, j] - tolerance:
            tie(ropes, i, j)
            newly_stuck = newly_stuck or stuck[j]
    if newly_stuck:
        spread_stuck(ropes, stuck)
    return step


@compiled
def fill(
    a: NDArray[np.float64], c: NDArray[np.float64], capacity: float, tolerance: float, least_gain: float, events: int
) -> tuple[NDArray[np.float64], float, int]:
    """The best odds (k,), the price of capacity and the number of events, -1 when more than `events` were needed.

    a (k,) rewards of size at most 1, c (k, k) symmetric distances, capacity > 0 or inf. Each event costs
    O(k |rising set|) and a few cuts on the taut ropes.
    """
    k = len(a)
    p = np.zeros(k)
    ropes = find_taut(p, c, tolerance)
    stuck = np.zeros(k, np.bool_)
    rising = np.zeros(k, np.bool_)
    pairs = np.empty(((k * k) // 4 + 1, 2), np.int32)
    left = capacity
    for event in range(events):
        mean, rising = richest_closed_set(a, ropes, stuck, rising, least_gain)
        if mean <= least_gain:
            return p, 0.0, event
        if left <= tolerance:
            return p, mean, event
        size = np.count_nonzero(rising)
        step = raise_set(p, c, rising, stuck, ropes, left / size, tolerance, pairs)
        left -= step * size
    return p, 0.0, -1
