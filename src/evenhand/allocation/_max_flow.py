"""The graph of tight constraints, and maximum flows on it by Dinic's algorithm: closures and dual prices.

In the graph an arc i -> j means that i can rise only with j (p_i - p_j = c_ij). Capacities are real numbers.
Arcs come in pairs: arc e and its reverse e ^ 1. `first[v]` is the first arc out of node v, `following[e]` the next
one out of the same node, -1 the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.jit import jit

TIGHT_TOLERANCE = 1e-12
"""A constraint is tight when its slack is at most this. Probabilities lie in [0, 1], so the scale is 1."""


class TightGraph(NamedTuple):
    """Arcs out of each candidate: i -> below[i, 0..degree[i] - 1]."""

    degree: Indices
    below: NDArray[np.int32]
    waiting: Indices
    """Scratch of `close`: for ten candidates, allocating it costs more than the work."""


@jit
def find_tight(p: Floats, c: Floats, tolerance: float) -> TightGraph:
    """All tight constraints of p (k,) under the distances c (k, k). Cost: O(k^2)."""
    k = len(p)
    graph = TightGraph(np.zeros(k, np.int64), np.empty((k, k), np.int32), np.empty(k, np.int64))
    for i in range(k):
        for j in range(k):
            if i != j and p[i] - p[j] >= c[i, j] - tolerance:
                graph.below[i, graph.degree[i]] = j
                graph.degree[i] += 1
    return graph


@jit
def close(graph: TightGraph, members: Mask) -> None:
    """Add to `members` all candidates who must rise when a member rises."""
    waiting = graph.waiting
    count = 0
    for i in range(len(members)):
        if members[i]:
            waiting[count] = i
            count += 1
    while count > 0:
        count -= 1
        i = waiting[count]
        for e in range(graph.degree[i]):
            j = graph.below[i, e]
            if not members[j]:
                members[j] = True
                waiting[count] = j
                count += 1


@jit
def spread_stuck(graph: TightGraph, stuck: Mask) -> None:
    """Mark as stuck all candidates who can rise only with a stuck one."""
    changed = True
    while changed:
        changed = False
        for i in range(len(stuck)):
            if not stuck[i]:
                for e in range(graph.degree[i]):
                    if stuck[graph.below[i, e]]:
                        stuck[i] = True
                        changed = True
                        break


@jit
def fill_tight_pairs(p: Floats, c: Floats, tolerance: float, pairs: Indices) -> int:
    """Write the pairs i < j with |p_i - p_j| = c_ij, sorted, to `pairs` (k(k-1)/2, 2), and return their number.

    Cost: O(k^2).
    """
    k, count = len(p), 0
    for i in range(k):
        for j in range(i + 1, k):
            if abs(p[i] - p[j]) >= c[i, j] - tolerance:
                pairs[count, 0] = i
                pairs[count, 1] = j
                count += 1
    return count


class Network(NamedTuple):
    """The residual network: n nodes, room for a fixed number of arcs."""

    first: Indices
    following: Indices
    head: Indices
    room: Floats


@jit
def empty_network(nodes: int, arcs: int) -> Network:
    """A network of `nodes` nodes with space for `arcs` arcs and their reverses."""
    return Network(
        np.full(nodes, -1, np.int64),
        np.empty(2 * arcs, np.int64),
        np.empty(2 * arcs, np.int64),
        np.empty(2 * arcs, np.float64),
    )


@jit
def add_arc(network: Network, position: int, tail: int, head: int, room: float) -> int:
    """Write the arc tail -> head at `position`, its reverse after it, and return the next free position."""
    network.head[position] = head
    network.room[position] = room
    network.following[position] = network.first[tail]
    network.first[tail] = position
    network.head[position + 1] = tail
    network.room[position + 1] = 0.0
    network.following[position + 1] = network.first[head]
    network.first[head] = position + 1
    return position + 2


@jit
def label_levels(network: Network, source: int, level: Indices, queue: Indices, least_room: float) -> None:
    """Set level[v] to the number of arcs from the source to v, -1 where no arc with room leads there."""
    level[:] = -1
    level[source] = 0
    queue[0] = source
    done, waiting = 0, 1
    while done < waiting:
        node = queue[done]
        done += 1
        arc = network.first[node]
        while arc != -1:
            other = network.head[arc]
            if level[other] < 0 and network.room[arc] > least_room:
                level[other] = level[node] + 1
                queue[waiting] = other
                waiting += 1
            arc = network.following[arc]


@jit
def push_blocking_flow(
    network: Network, source: int, sink: int, level: Indices, path: Indices, least_room: float
) -> None:
    """Send flow along shortest paths until each of them has an arc without room."""
    current = network.first.copy()
    node, depth = source, 0
    while True:
        if node == sink:
            amount = np.inf
            for step in range(depth):
                amount = min(amount, network.room[path[step]])
            keep = 0
            for step in range(depth - 1, -1, -1):
                arc = path[step]
                network.room[arc] -= amount
                network.room[arc ^ 1] += amount
                if network.room[arc] <= least_room:
                    keep = step
            depth = keep
            node = network.head[path[depth] ^ 1]
        arc = current[node]
        while arc != -1 and (network.room[arc] <= least_room or level[network.head[arc]] != level[node] + 1):
            arc = network.following[arc]
        current[node] = arc
        if arc != -1:
            path[depth] = arc
            depth += 1
            node = network.head[arc]
        elif depth > 0:
            level[node] = -1  # a dead end: no path through here reaches the sink any more
            depth -= 1
            node = network.head[path[depth] ^ 1]
        else:
            return


@jit
def saturate(network: Network, source: int, sink: int, least_room: float) -> Indices:
    """Push a maximum flow through the network and return the levels, >= 0 on the source's side of a minimum cut.

    An arc with no more room than `least_room` counts as full, since capacities have rounding errors. Cost: O(n^2 m) at
    worst, close to O(m) on the sparse graphs of tight constraints.
    """
    nodes = len(network.first)
    level = np.empty(nodes, np.int64)
    scratch = np.empty(nodes + 1, np.int64)
    label_levels(network, source, level, scratch, least_room)
    while level[sink] >= 0:
        push_blocking_flow(network, source, sink, level, scratch, least_room)
        label_levels(network, source, level, scratch, least_room)
    return level


@jit
def dual_flow(
    surplus: Floats, p: Floats, c: Floats, lower: Floats, upper: Floats, tolerance: float, least_room: float
) -> tuple[Indices, Floats]:
    """The tight constraints, (n, 2) as (upper, lower) candidate, and the flow along each (n,): its dual price.

    Candidate i has the surplus a_i - price, which may flow along a tight constraint i -> j. At a probability strictly
    between its floor and its ceiling the flow must balance; at the ceiling some surplus may remain (its price) and at
    the floor some may be missing (its price). The probabilities are optimal exactly when such a flow exists.

    surplus (k,), p (k,), c (k, k), floors and ceilings (k,). Ceilings and floors meet in one extra node, which balances
    the whole: then a single maximum flow fills every demand if any flow does. Cost: O(k^2) and one maximum flow.
    """
    k = len(p)
    graph = find_tight(p, c, tolerance)
    outside, source, sink = k, k + 1, k + 2
    network = empty_network(k + 3, graph.degree.sum() + 3 * k + 1)
    position = 0
    for i in range(k):  # the constraints first, so that arc 2e is constraint e
        for e in range(graph.degree[i]):
            position = add_arc(network, position, i, graph.below[i, e], np.inf)
    count = position // 2
    for i in range(k + 1):
        amount = -surplus.sum() if i == outside else surplus[i]
        if amount > 0.0:
            position = add_arc(network, position, source, i, amount)
        elif amount < 0.0:
            position = add_arc(network, position, i, sink, -amount)
    for i in range(k):
        if p[i] >= upper[i] - tolerance:
            position = add_arc(network, position, i, outside, np.inf)
        if p[i] <= lower[i] + tolerance:
            position = add_arc(network, position, outside, i, np.inf)
    saturate(network, source, sink, least_room)
    ends = np.empty((count, 2), np.int64)
    flow = np.empty(count)
    for e in range(count):
        ends[e, 0] = network.head[2 * e + 1]
        ends[e, 1] = network.head[2 * e]
        flow[e] = network.room[2 * e + 1]
    return ends, flow


LEAST_GAIN = 1e-15  # Gains below this are rounding. Rewards are scaled to at most 1 beforehand.


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

    A set is closed when no tight constraint leads from it to a candidate outside: it can rise as a whole. Dinkelbach's
    algorithm: take the mean of the best set so far as price, find the closed set with the largest gain at this price
    (a maximum closure, that is a minimum cut), and repeat until there is no gain.

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
