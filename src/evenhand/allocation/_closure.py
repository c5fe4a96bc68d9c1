"""The closed set of candidates with the highest mean reward: a maximum-ratio closure.

A set is closed when no tight constraint leads from it to a candidate outside: it can rise as a whole. Dinkelbach's
algorithm: take the mean of the best set so far as price, find the closed set with the largest gain at this price (a
maximum closure, that is a minimum cut), and repeat until there is no gain.
"""

from __future__ import annotations

import numpy as np

from evenhand._internal.arrays import Floats, Mask
from evenhand._internal.jit import jit
from evenhand.allocation._max_flow import add_arc, empty_network, saturate
from evenhand.allocation._tight_constraints import TightGraph, close

LEAST_GAIN = 1e-15
"""Gains below this are rounding. Rewards are scaled to at most 1 beforehand."""


@jit
def mean_reward(a: Floats, members: Mask) -> float:
    """The mean of a over the members, -inf when there are none."""
    total, count = 0.0, 0
    for i in range(len(a)):
        if members[i]:
            total += a[i]
            count += 1
    return total / count if count > 0 else -np.inf


@jit
def maximum_closure(a: Floats, price: float, graph: TightGraph, stuck: Mask, least_gain: float) -> Mask:
    """The closed set S without stuck members that maximises sum over S of (a_i - price); empty when none gains.

    Only candidates who gain on their own, and those who must rise with them, can be in it: the network has only these.
    """
    k = len(a)
    reached = np.zeros(k, np.bool_)
    for i in range(k):
        reached[i] = a[i] > price and not stuck[i]
    close(graph, reached)
    place = np.empty(k, np.int64)
    nodes, arcs = 0, 0
    for i in range(k):
        if reached[i]:
            place[i] = nodes
            nodes += 1
            arcs += 1 + graph.degree[i]
    source, sink, position = nodes, nodes + 1, 0
    network = empty_network(nodes + 2, arcs)
    for i in range(k):
        if reached[i]:
            if a[i] > price:
                position = add_arc(network, position, source, place[i], a[i] - price)
            else:
                position = add_arc(network, position, place[i], sink, price - a[i])
            for e in range(graph.degree[i]):
                position = add_arc(network, position, place[i], place[graph.below[i, e]], np.inf)
    level = saturate(network, source, sink, least_gain)
    for i in range(k):
        reached[i] = reached[i] and level[place[i]] >= 0
    return reached


@jit
def richest_closed_set(a: Floats, graph: TightGraph, stuck: Mask, start: Mask, least_gain: float) -> tuple[float, Mask]:
    """The highest mean reward of a closed set without stuck members, and the set; (-inf, empty) when all are stuck.

    `stuck` must be closed under `spread_stuck`. `start` is a guess, any set of candidates.
    """
    k = len(a)
    best = start & ~stuck
    close(graph, best)
    mean = mean_reward(a, best)
    top = -np.inf
    alone = np.empty(k, np.bool_)
    for i in range(k):
        if not stuck[i]:
            top = max(top, a[i])
            if a[i] > mean:  # the closure of one candidate is often the best set
                alone[:] = False
                alone[i] = True
                close(graph, alone)
                alone_mean = mean_reward(a, alone)
                if alone_mean > mean:
                    mean = alone_mean
                    best[:] = alone
    while top > mean + least_gain:
        better = maximum_closure(a, mean, graph, stuck, least_gain)
        better_mean = mean_reward(a, better)
        if better_mean <= mean + least_gain:
            break
        mean, best = better_mean, better
    return mean, best
