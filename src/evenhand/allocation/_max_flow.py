"""Maximum flow by Dinic's algorithm, on real capacities.

Arcs come in pairs: arc e and its reverse e ^ 1. `first[v]` is the first arc out of node v, `following[e]` the next
one out of the same node, -1 the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.jit import jit


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
