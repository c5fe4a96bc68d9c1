"""The graph of tight constraints: an arc i -> j means that i can rise only with j (p_i - p_j = c_ij)."""

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
