"""The dual prices of the fairness constraints, as a flow along the tight ones.

Candidate i has the surplus a_i - price, which may flow along a tight constraint i -> j. At a probability strictly
between 0 and 1 the flow must balance; at 1 some surplus may remain (the price of the ceiling) and at 0 some may be
missing (the price of the floor). The probabilities are optimal exactly when such a flow exists; the flow along a
constraint is its price.
"""

from __future__ import annotations

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.jit import jit
from evenhand.allocation._max_flow import add_arc, empty_network, saturate
from evenhand.allocation._tight_constraints import find_tight


@jit
def dual_flow(surplus: Floats, p: Floats, c: Floats, tolerance: float, least_room: float) -> tuple[Indices, Floats]:
    """The tight constraints, (n, 2) as (upper, lower) candidate, and the flow along each (n,).

    surplus (k,), p (k,), c (k, k). Ceiling and floor meet in one extra node, which balances the whole: then a
    single maximum flow fills every demand if any flow does. No path leads from the floor to the ceiling, since
    probabilities only fall along an arc. Cost: O(k^2) and one maximum flow.
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
        if p[i] >= 1.0 - tolerance:
            position = add_arc(network, position, i, outside, np.inf)
        if p[i] <= tolerance:
            position = add_arc(network, position, outside, i, np.inf)
    saturate(network, source, sink, least_room)
    ends = np.empty((count, 2), np.int64)
    flow = np.empty(count)
    for e in range(count):
        ends[e, 0] = network.head[2 * e + 1]
        ends[e, 1] = network.head[2 * e]
        flow[e] = network.room[2 * e + 1]
    return ends, flow
