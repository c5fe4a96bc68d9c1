"""The graph of taut ropes: an arc i -> j says that i cannot rise unless j rises too (p_i - p_j = c_ij)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.jit import jit

TAUT_TOLERANCE = 1e-12
"""A rope is taut when its slack is at most this. Odds lie in [0, 1], so the scale is 1."""


class TautRopes(NamedTuple):
    """Arcs out of each candidate: i -> below[i, 0..degree[i] - 1]."""

    degree: NDArray[np.int64]
    below: NDArray[np.int32]
    waiting: NDArray[np.int64]
    """Scratch of `close`: for ten candidates, asking for memory costs more than the work."""


@jit
def find_taut(p: NDArray[np.float64], c: NDArray[np.float64], tolerance: float) -> TautRopes:
    """All taut ropes of the odds p (k,) under the distances c (k, k). Cost: O(k^2)."""
    k = len(p)
    ropes = TautRopes(np.zeros(k, np.int64), np.empty((k, k), np.int32), np.empty(k, np.int64))
    for i in range(k):
        for j in range(k):
            if i != j and p[i] - p[j] >= c[i, j] - tolerance:
                ropes.below[i, ropes.degree[i]] = j
                ropes.degree[i] += 1
    return ropes


@jit
def close(ropes: TautRopes, members: NDArray[np.bool_]) -> None:
    """Add to `members` everybody whom a member would have to take along when rising."""
    waiting = ropes.waiting
    count = 0
    for i in range(len(members)):
        if members[i]:
            waiting[count] = i
            count += 1
    while count > 0:
        count -= 1
        i = waiting[count]
        for e in range(ropes.degree[i]):
            j = ropes.below[i, e]
            if not members[j]:
                members[j] = True
                waiting[count] = j
                count += 1


@jit
def spread_stuck(ropes: TautRopes, stuck: NDArray[np.bool_]) -> None:
    """Mark as stuck everybody who is tied, directly or not, to a candidate who cannot rise any more."""
    changed = True
    while changed:
        changed = False
        for i in range(len(stuck)):
            if not stuck[i]:
                for e in range(ropes.degree[i]):
                    if stuck[ropes.below[i, e]]:
                        stuck[i] = True
                        changed = True
                        break


@jit
def fill_taut_pairs(p: NDArray[np.float64], c: NDArray[np.float64], tolerance: float, pairs: NDArray[np.int64]) -> int:
    """Fill in the pairs i < j with |p_i - p_j| = c_ij, sorted, in front of `pairs` (k(k-1)/2, 2), and count them.

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
