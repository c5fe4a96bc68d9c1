"""The spanning tree of tight constraints that is a basis of the network simplex method, and its pivots.

Of all tight constraints, k prove that probabilities are optimal. They form a tree: the parent of a candidate is another
one or the root, which stands for both bounds 0 and 1. A candidate is held when the constraint to its parent keeps it
from rising (p_i - p_parent = c, or p_i = 1), and lifted when it keeps it from sinking (p_parent - p_i = c, or p_i = 0).
At a price on capacity, a subtree of n candidates with total reward r has the surplus r - n * price.

Probabilities are optimal at that price when no constraint is violated, no held subtree has a surplus below 0 and no
lifted one above 0: the surplus then flows from higher probabilities to lower ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.jit import jit

NODE = np.dtype(
    [
        ("parent", np.int64),
        ("child", np.int64),  # the first child, -1 if there is none
        ("following", np.int64),  # the next child of the same parent, -1 at the end
        ("preceding", np.int64),
        ("reward", np.float64),  # of the whole subtree
        ("size", np.float64),  # of the whole subtree
        ("held", np.bool_),
    ],
    align=True,
)
"""One node of a tree. One array per field makes kernels half as fast for ten candidates."""

Tree = NDArray[np.void]
"""(k + 1,) nodes: the candidates, and the root last."""


@jit
def initial_tree(a: Floats) -> Tree:
    """The tree of all probabilities 0 for rewards a (k,): every candidate is lifted by the root."""
    k = len(a)
    tree = np.empty(k + 1, NODE)
    for i in range(k):
        tree[i].parent = k
        tree[i].child = -1
        tree[i].following = i + 1
        tree[i].preceding = i - 1
        tree[i].reward = a[i]
        tree[i].size = 1.0
        tree[i].held = False
    tree[k - 1].following = -1
    tree[k].parent = -1
    tree[k].child = 0
    return tree


@jit
def subtree(tree: Tree, top: int, members: Indices) -> int:
    """Write the subtree of `top` to `members` (k + 1,), parents first, and return its number of nodes."""
    members[0] = top
    done, count = 0, 1
    while done < count:
        node = tree[members[done]].child
        done += 1
        while node >= 0:
            members[count] = node
            count += 1
            node = tree[node].following
    return count


@jit
def move_subtree(tree: Tree, top: int, end: int, onto: int, held: bool) -> None:
    """Cut the subtree of `top` off its parent and attach its member `end` to the node `onto`.

    Parents and `held` are reversed on the path from `end` to `top`. Cost: O(depth of the tree).
    """
    reward, size = tree[top].reward, tree[top].size
    add_above(tree, tree[top].parent, -reward, -size)
    node, target = end, onto
    lower_reward, lower_size = 0.0, 0.0
    while True:
        parent, was_held = tree[node].parent, tree[node].held
        own_reward, own_size = tree[node].reward, tree[node].size
        detach(tree, node)
        attach(tree, node, target, held)
        tree[node].reward = reward - lower_reward
        tree[node].size = size - lower_size
        if node == top:
            break
        lower_reward, lower_size = own_reward, own_size
        node, target, held = parent, node, not was_held
    add_above(tree, onto, reward, size)


@jit
def add_above(tree: Tree, node: int, reward: float, size: float) -> None:
    """Add to the sums of this node and of its ancestors."""
    root = len(tree) - 1
    while node != root:
        tree[node].reward += reward
        tree[node].size += size
        node = tree[node].parent


@jit
def detach(tree: Tree, node: int) -> None:
    """Take the node off its parent's list."""
    before, after = tree[node].preceding, tree[node].following
    if before >= 0:
        tree[before].following = after
    else:
        tree[tree[node].parent].child = after
    if after >= 0:
        tree[after].preceding = before


@jit
def attach(tree: Tree, node: int, parent: int, held: bool) -> None:
    """Put the node first on a new parent's list."""
    first = tree[parent].child
    tree[node].parent = parent
    tree[node].held = held
    tree[node].preceding = -1
    tree[node].following = first
    tree[parent].child = node
    if first >= 0:
        tree[first].preceding = node
