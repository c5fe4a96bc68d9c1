"""The exact fair allocation when capacity is free, or has a fixed price: every surplus is passed down the ropes.

Without a limit on capacity the programme is the dual of a transport: candidates with positive reward have a surplus,
those with negative reward a need, and surplus travels along ropes at a cost of their length. A surplus that finds
no cheaper place stays with a candidate whose odds have reached 1. Shortest augmenting paths solve it, one source
after the other, as in the Hungarian method; the odds are the potentials, and they only ever rise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand.compiled import compiled

PATHS_PER_CANDIDATE = 200
"""More augmenting paths than this for each candidate are not believed: random instances need fewer than 10."""

MOST_PRICES = 100
"""More prices than this are not believed either: random instances need fewer than 20."""


@compiled
def cheapest_way(
    source: int,
    p: NDArray[np.float64],
    c: NDArray[np.float64],
    received: NDArray[np.float64],
    need: NDArray[np.float64],
    least: float,
    before: NDArray[np.int64],
) -> int:
    """Raise the odds as far as needed to reach a place for surplus of the source; return that place.

    Dijkstra's algorithm: reach[i] is how far the source has risen when it reaches i, over ropes that have gone taut
    or back along ropes that carry surplus (received[i, j] is what i got from j). A candidate is a place when it is
    in need or at odds 1. `before` holds the way. Cost: O(k) for each candidate reached.
    """
    k = len(p)
    reach = np.full(k, np.inf)
    settled = np.zeros(k, np.bool_)
    reach[source] = 0.0
    before[source] = -1
    place, height = -1, np.inf
    while True:
        i, here = -1, height
        for j in range(k):
            if not settled[j] and reach[j] < here:
                i, here = j, reach[j]
        if i < 0:
            break
        settled[i] = True
        if need[i] > least:
            place, height = i, here
            break
        ceiling = here + max(0.0, 1.0 - p[i])
        if ceiling < height:
            place, height = i, ceiling
        base = here - p[i]
        for j in range(k):
            if not settled[j]:
                way = here if received[i, j] > least else max(here, base + c[i, j] + p[j])
                if way < reach[j]:
                    reach[j] = way
                    before[j] = i
    for i in range(k):
        if settled[i] and reach[i] < height:
            p[i] = min(1.0, p[i] + height - reach[i])
    return place


@compiled
def send_surplus(
    place: int,
    surplus: float,
    received: NDArray[np.float64],
    need: NDArray[np.float64],
    before: NDArray[np.int64],
    least: float,
) -> float:
    """Send what fits of the surplus along the way to the place; return how much."""
    amount = surplus
    if need[place] > least:
        amount = min(amount, need[place])
    j = place
    while before[j] >= 0:
        i = before[j]
        if received[i, j] > least:
            amount = min(amount, received[i, j])
        j = i
    if need[place] > least:
        need[place] -= amount
    j = place
    while before[j] >= 0:
        i = before[j]
        if received[i, j] > least:
            received[i, j] -= amount
        else:
            received[j, i] += amount
        j = i
    return amount


@compiled
def pass_down(
    w: NDArray[np.float64], c: NDArray[np.float64], least: float, paths: int
) -> tuple[NDArray[np.float64], int]:
    """Odds (k,) that maximise w.p subject to 0 <= p <= 1 and the ropes, and the number of paths, -1 if too many.

    w (k,) rewards of size about 1, c (k, k) symmetric distances; amounts up to `least` count as nothing.
    """
    k = len(w)
    p = np.zeros(k)
    received = np.zeros((k, k))
    need = np.maximum(-w, 0.0)
    before = np.empty(k, np.int64)
    used = 0
    for source in range(k):
        surplus = w[source]
        while surplus > least:
            if used == paths:
                return p, -1
            used += 1
            place = cheapest_way(source, p, c, received, need, least, before)
            surplus -= send_surplus(place, surplus, received, need, before, least)
    return p, used


@compiled
def search_price(
    a: NDArray[np.float64], c: NDArray[np.float64], capacity: float, least: float, paths: int
) -> tuple[NDArray[np.float64], int]:
    """Odds (k,) that maximise a.p within the capacity too, and the number of prices tried, -1 on giving up.

    At a price on capacity the limit itself can go. Two odds, one above the capacity and one below, are equally
    good at exactly one price; if none are better at that price, their mixture that fits the capacity is optimal
    (it is fair, since fair odds are a convex set). Otherwise the better ones replace one of the two: Newton's
    method on a piecewise linear function, so it ends. Cost: about 10 times `pass_down`.
    """
    k = len(a)
    above, used = pass_down(a, c, least, paths)
    below = np.zeros(k)
    tried = 1
    while used >= 0 and tried < MOST_PRICES:
        excess, spare = above.sum() - capacity, capacity - below.sum()
        if excess <= 0.0:
            return above, tried
        price = (a @ above - a @ below) / (excess + spare)
        between, used = pass_down(a - price, c, least, paths)
        tried += 1
        if (a - price) @ (between - below) <= k * least * 10.0:
            return below + (spare / (excess + spare)) * (above - below), tried
        if between.sum() > capacity:
            above = between
        else:
            below = between
    return below, -1
