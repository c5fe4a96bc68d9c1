"""The tree of ropes that hold the odds, and how it changes by one rope at a time.

Of all taut ropes, at most k carry the proof that odds are optimal. They form a tree: every candidate hangs on another
one or on the ground, which is both the floor 0 and the ceiling 1. A candidate is held when its parent keeps it from
rising (p_i - p_parent = c, or p_i = 1), and lifted when its parent keeps it from sinking (p_parent - p_i = c, or
p_i = 0). A branch is a candidate and everybody who hangs on it, directly or not. At a price on capacity, a branch of
n candidates with rewards r in all has the surplus r - n * price.

Odds are optimal at that price when no rope is broken, no held branch has a surplus below 0 and no lifted one above:
surplus then travels down the ropes, from higher odds to lower ones, to where it is needed. In the network simplex
method such a tree is a basis, and its change a pivot.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.jit import jit

NODE = np.dtype(
    [
        ("parent", np.int64),
        ("child", np.int64),  # the first of those who hang on this node, -1 when nobody does
        ("following", np.int64),  # the next who hangs on the same parent, -1 at the end
        ("preceding", np.int64),
        ("reward", np.float64),  # of the whole branch
        ("size", np.float64),  # of the whole branch: how many candidates
        ("held", np.bool_),
    ],
    align=True,
)
"""One candidate, or the ground, in a tree. Kernels that hand on an array for each field are half as fast on ten."""

RopeTree = NDArray[np.void]
"""(k + 1,) nodes: the candidates, and the ground last."""


@jit
def on_the_floor(a: NDArray[np.float64]) -> RopeTree:
    """The tree of the odds 0 for rewards a (k,): the floor lifts everybody."""
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
def branch(tree: RopeTree, top: int, members: NDArray[np.int64]) -> int:
    """Write the branch of `top` to `members` (k + 1,), parents first, and return how many nodes it has."""
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
def move_branch(tree: RopeTree, top: int, end: int, onto: int, held: bool) -> None:
    """Cut the branch of `top` off its parent and hang it by its member `end` on the node `onto`.

    Between `end` and `top` it turns around who hangs on whom, and so who is held. Cost: O(depth of the tree).
    """
    reward, size = tree[top].reward, tree[top].size
    add_above(tree, tree[top].parent, -reward, -size)
    node, target = end, onto
    lower_reward, lower_size = 0.0, 0.0
    while True:
        parent, was_held = tree[node].parent, tree[node].held
        own_reward, own_size = tree[node].reward, tree[node].size
        unhook(tree, node)
        hook(tree, node, target, held)
        tree[node].reward = reward - lower_reward
        tree[node].size = size - lower_size
        if node == top:
            break
        lower_reward, lower_size = own_reward, own_size
        node, target, held = parent, node, not was_held
    add_above(tree, onto, reward, size)


@jit
def add_above(tree: RopeTree, node: int, reward: float, size: float) -> None:
    """Add to the sums of this node and of all on whom it hangs."""
    ground = len(tree) - 1
    while node != ground:
        tree[node].reward += reward
        tree[node].size += size
        node = tree[node].parent


@jit
def unhook(tree: RopeTree, node: int) -> None:
    """Take the node off its parent's list."""
    before, after = tree[node].preceding, tree[node].following
    if before >= 0:
        tree[before].following = after
    else:
        tree[tree[node].parent].child = after
    if after >= 0:
        tree[after].preceding = before


@jit
def hook(tree: RopeTree, node: int, parent: int, held: bool) -> None:
    """Put the node first on a new parent's list."""
    first = tree[parent].child
    tree[node].parent = parent
    tree[node].held = held
    tree[node].preceding = -1
    tree[node].following = first
    tree[parent].child = node
    if first >= 0:
        tree[first].preceding = node
