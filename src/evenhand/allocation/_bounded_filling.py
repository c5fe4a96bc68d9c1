"""Water-filling between floors and ceilings on single probabilities.

A floor on one candidate is a floor on all others, lowered by their distance: together they are the implied floors, the
least probabilities that keep to all floors and distances. Nothing fits if one of them exceeds a ceiling, or if their
sum exceeds the capacity. Otherwise water-filling starts from them instead of from 0, and ceilings stop it as 1 does.
Without a capacity the network simplex method is faster (`search_price_between`).

It stays exact for the same reason: at a very high price the least probabilities are the best ones, and the best ones
only rise as the price falls. The tree starts with every candidate below the one whose floor lifts it, or the root.
"""

from __future__ import annotations

import math

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.jit import jit
from evenhand.allocation._network_simplex import Tree, attach, initial_tree, set_bounds
from evenhand.allocation._program import scaled
from evenhand.allocation._water_filling import pour


@jit
def implied_floors(lower: Floats, c: Floats, extra: float) -> tuple[Floats, Indices, Indices]:
    """The implied floors (k,), who lifts each candidate (k,), k for their own floor, and an order, lifters first (k,).

    lower (k,) floors, c (k, k) distances, each of them longer by `extra`. Dijkstra's algorithm, highest floor first:
    p_i = max over j of (p_j - c_ij), also where the distances break the triangle inequality. Cost: O(k^2).
    """
    k = len(lower)
    p, lifter, order = lower.copy(), np.full(k, k, np.int64), np.empty(k, np.int64)
    settled = np.zeros(k, np.bool_)
    for place in range(k):
        highest = -1
        for j in range(k):
            if not settled[j] and (highest < 0 or p[j] > p[highest]):
                highest = j
        settled[highest] = True
        order[place] = highest
        for i in range(k):
            if not settled[i] and p[highest] - (c[highest, i] + extra) > p[i]:
                p[i] = p[highest] - (c[highest, i] + extra)
                lifter[i] = highest
    return p, lifter, order


@jit
def tree_of_floors(a: Floats, lifter: Indices, order: Indices) -> Tree:
    """The tree at the implied floors for rewards a (k,): every candidate is lifted by another one or the root."""
    k = len(a)
    tree = initial_tree(a)
    tree[k].child = -1
    for place in range(k):
        attach(tree, order[place], lifter[order[place]], False)
    for place in range(k - 1, -1, -1):
        i = order[place]
        if lifter[i] < k:
            tree[lifter[i]].reward += tree[i].reward
            tree[lifter[i]].size += tree[i].size
    return tree


@jit
def fill_between(
    a: Floats,
    c: Floats,
    capacity: float,
    floors: Floats,
    upper: Floats,
    lifter: Indices,
    order: Indices,
    tolerance: float,
    least_gain: float,
    rows: int,
) -> tuple[Floats, float, int]:
    """The best probabilities (k,), the price of capacity and how many rows of c were read, -1 if over `rows`.

    floors, lifter, order: from `implied_floors`; they fit below the ceilings `upper` (k,) and into the capacity.
    Everything else is as in `fill`.
    """
    smaller, exponent = scaled(a)
    p = floors.copy()
    left = max(0.0, capacity - p.sum())
    tree = tree_of_floors(smaller, lifter, order)
    set_bounds(tree, floors, upper)
    price, read = pour(tree, p, c, left, tolerance, least_gain, rows)
    return p, math.ldexp(price, exponent), read
