"""The prices of ropes: a flow along the taut ropes that carries every candidate's surplus to where it is needed.

Candidate i has surplus a_i - price. It may pass it down a taut rope, i -> j. A candidate with odds strictly between
0 and 1 must come out even; one at 1 may keep surplus (the price of the ceiling) and one at 0 may lack some (the
price of the floor). The odds are optimal exactly when such a flow exists, and what flows along a rope is its price.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.jit import jit
from evenhand.allocation.max_flow import add_arc, empty_network, saturate
from evenhand.allocation.tight_constraints import find_taut


@jit
def rope_flow(
    surplus: NDArray[np.float64],
    p: NDArray[np.float64],
    c: NDArray[np.float64],
    tolerance: float,
    least_room: float,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The ropes that carry flow, (n, 2) as (upper, lower) candidate, and how much each carries (n,).

    surplus (k,), p (k,), c (k, k). Ceiling and floor meet in one extra node, which balances the whole: then a
    single maximum flow fills every demand if any flow does. No path leads from the floor to the ceiling, since
    odds only fall along a rope. Cost: O(k^2) and one maximum flow.
    """
    k = len(p)
    ropes = find_taut(p, c, tolerance)
    outside, source, sink = k, k + 1, k + 2
    network = empty_network(k + 3, ropes.degree.sum() + 3 * k + 1)
    position = 0
    for i in range(k):  # the ropes first, so that arc 2e is rope e
        for e in range(ropes.degree[i]):
            position = add_arc(network, position, i, ropes.below[i, e], np.inf)
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
