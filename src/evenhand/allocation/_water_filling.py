"""The exact fair allocation by water-filling.

All probabilities start at 0. In each step the set with the highest mean reward that can rise as a whole does so, all
members at one speed, until a constraint becomes tight, a member reaches 1, the capacity is used up or no mean is
positive.

Why this is exact: at a price on capacity, the best probabilities only rise as the price falls (difference constraints
make the program L-natural-concave), and the next price at which anything moves is the highest mean reward over
the sets that can rise. The prices met on the way are those means, so the path holds the optimum of every capacity.

The sets that can rise are the lifted subtrees of the spanning tree: as the price falls to the mean of one, its surplus
becomes positive. It leaves its parent, rises until a constraint is tight, and is attached to the candidate stopping it.
"""

from __future__ import annotations

import math

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.jit import jit
from evenhand.allocation._network_simplex import Tree, initial_tree, move_subtree, subtree
from evenhand.allocation._program import scaled


@jit
def richest_lifted(tree: Tree, least_gain: float) -> int:
    """The top of the lifted subtree with the highest mean reward, -1 when no mean exceeds `least_gain`."""
    best, reward, size = -1, least_gain, 1.0
    for i in range(len(tree) - 1):
        if not tree[i].held and tree[i].reward * size > reward * tree[i].size:
            best, reward, size = i, tree[i].reward, tree[i].size
    return best


@jit
def shortest_slack(
    tree: Tree, p: Floats, c: Floats, rising: Indices, count: int, outside: Floats
) -> tuple[float, int, int]:
    """How far the first `count` of `rising` can rise, who is stopped then, and by whom: k for their ceiling.

    `outside` (k,) holds the probabilities of those who stay and inf for those who rise. Cost: O(k |rising|).
    """
    k = len(p)
    step, stopped, by = np.inf, -1, k
    for e in range(count):
        i = rising[e]
        if tree[i].ceiling - p[i] < step:
            step, stopped, by = tree[i].ceiling - p[i], i, k
        reach, closer = p[i] + step, False
        for j in range(k):  # most rows have no smaller slack, and a loop without an exit is vectorised
            closer |= c[i, j] + outside[j] < reach
        if closer:
            for j in range(k):
                slack = c[i, j] + outside[j] - p[i]
                if slack < step:
                    step, stopped, by = slack, i, j
    return max(step, 0.0), stopped, by


@jit
def fill(
    a: Floats, c: Floats, capacity: float, tolerance: float, least_gain: float, rows: int
) -> tuple[Floats, float, int]:
    """The best probabilities (k,), the price of capacity and how many rows of c were read, -1 if over `rows`.

    a (k,) rewards, c (k, k) symmetric distances, capacity > 0 or inf. The price is the reward per unit of additional
    capacity. Cost: O(k) per row, one row whenever a candidate rises.
    """
    k = len(a)
    smaller, exponent = scaled(a)
    p = np.zeros(k)
    price, read = pour(initial_tree(smaller), p, c, capacity, tolerance, least_gain, rows)
    return p, math.ldexp(price, exponent), read


@jit
def pour(
    tree: Tree, p: Floats, c: Floats, left: float, tolerance: float, least_gain: float, rows: int
) -> tuple[float, int]:
    """Raise the probabilities p (k,) of a tree to the best ones, in place; the price and the number of rows read.

    left: the capacity that is not used yet.
    """
    k, read = len(p), 0
    outside, rising = p.copy(), np.empty(k + 1, np.int64)
    while True:
        top = richest_lifted(tree, least_gain)
        if top < 0:
            return 0.0, read
        count = subtree(tree, top, rising)
        if read + count > rows:
            return 0.0, -1
        read += count
        for e in range(count):
            outside[rising[e]] = np.inf
        step, stopped, by = shortest_slack(tree, p, c, rising, count, outside)
        move = min(step, left / count)
        left = max(0.0, left - move * count)
        for e in range(count):
            i = rising[e]
            p[i] = min(tree[i].ceiling, p[i] + move)
            outside[i] = p[i]
        if step - move > tolerance:  # the capacity stops them, not a constraint
            return tree[top].reward / count, read
        move_subtree(tree, top, stopped, by, True)
