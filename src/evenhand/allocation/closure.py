"""The closed set of candidates with the highest mean reward: a maximum-ratio closure.

A set is closed when nobody in it is tied by a taut rope to somebody outside: it can rise as a whole. Dinkelbach's
steps: take the mean of the best set so far as price, find the closed set that gains most at this price (a maximum
closure, that is a minimum cut), and repeat until none gains.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.jit import jit
from evenhand.allocation.max_flow import add_arc, empty_network, saturate
from evenhand.allocation.tight_constraints import TautRopes, close

LEAST_GAIN = 1e-15
"""Gains below this are rounding. Rewards are scaled to at most 1 beforehand."""


@jit
def mean_reward(a: NDArray[np.float64], members: NDArray[np.bool_]) -> float:
    """The mean of a over the members, -inf when there are none."""
    total, count = 0.0, 0
    for i in range(len(a)):
        if members[i]:
            total += a[i]
            count += 1
    return total / count if count > 0 else -np.inf


@jit
def maximum_closure(
    a: NDArray[np.float64], price: float, ropes: TautRopes, stuck: NDArray[np.bool_], least_gain: float
) -> NDArray[np.bool_]:
    """The closed set S without stuck members that maximises sum over S of (a_i - price); empty when none gains.

    Only candidates who gain on their own, and those they take along, can be in it: the network is built on them.
    """
    k = len(a)
    reached = np.zeros(k, np.bool_)
    for i in range(k):
        reached[i] = a[i] > price and not stuck[i]
    close(ropes, reached)
    place = np.empty(k, np.int64)
    nodes, arcs = 0, 0
    for i in range(k):
        if reached[i]:
            place[i] = nodes
            nodes += 1
            arcs += 1 + ropes.degree[i]
    source, sink, position = nodes, nodes + 1, 0
    network = empty_network(nodes + 2, arcs)
    for i in range(k):
        if reached[i]:
            if a[i] > price:
                position = add_arc(network, position, source, place[i], a[i] - price)
            else:
                position = add_arc(network, position, place[i], sink, price - a[i])
            for e in range(ropes.degree[i]):
                position = add_arc(network, position, place[i], place[ropes.below[i, e]], np.inf)
    level = saturate(network, source, sink, least_gain)
    for i in range(k):
        reached[i] = reached[i] and level[place[i]] >= 0
    return reached


@jit
def richest_closed_set(
    a: NDArray[np.float64],
    ropes: TautRopes,
    stuck: NDArray[np.bool_],
    start: NDArray[np.bool_],
    least_gain: float,
) -> tuple[float, NDArray[np.bool_]]:
    """The highest mean reward of a closed set without stuck members, and the set; (-inf, nobody) when all are stuck.

    `stuck` must be spread along the ropes (`spread_stuck`). `start` is a guess, any set of candidates.
    """
    k = len(a)
    best = start & ~stuck
    close(ropes, best)
    mean = mean_reward(a, best)
    top = -np.inf
    alone = np.empty(k, np.bool_)
    for i in range(k):
        if not stuck[i]:
            top = max(top, a[i])
            if a[i] > mean:  # what one candidate takes along is often all of the best set
                alone[:] = False
                alone[i] = True
                close(ropes, alone)
                alone_mean = mean_reward(a, alone)
                if alone_mean > mean:
                    mean = alone_mean
                    best[:] = alone
    while top > mean + least_gain:
        better = maximum_closure(a, mean, ropes, stuck, least_gain)
        better_mean = mean_reward(a, better)
        if better_mean <= mean + least_gain:
            break
        mean, best = better_mean, better
    return mean, best
