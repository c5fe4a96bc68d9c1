"""The exact fair allocation without a capacity, or at a fixed price of capacity, by the network simplex method.

Without a capacity the program is the dual of a transport problem: candidates with positive reward supply a surplus,
those with negative reward demand it, and it is shipped between candidates at a cost of their distance. In the first
basis nothing is shipped: suppliers are at their ceiling, the others at their floor, 1 and 0 unless others are given. A
violated constraint enters the basis, the surplus on the cycle it closes is rerouted along it, and the arc whose flow
falls to zero first leaves. The cost of the transport falls with each pivot, until no constraint is violated.

A basis is a spanning tree of tight constraints: the parent of a candidate is another one or the root, which stands for
both bounds. A candidate is held when the constraint to its parent keeps it from rising (p_i - p_parent = c, or p_i is
at its ceiling), and lifted when it keeps it from sinking (p_parent - p_i = c, or p_i is at its floor). At a price on
capacity, a subtree of n candidates with total reward r has the surplus r - n * price. Probabilities are optimal at that
price when no constraint is violated, no held subtree has a surplus below 0 and no lifted one above 0: the surplus then
flows from higher probabilities to lower ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.jit import jit
from evenhand.allocation._program import scaled

VIOLATION_TOLERANCE = 1e-13
"""A constraint is violated when a gap exceeds it by more than this: above the rounding of 10,000s of pivots."""

CHANGES_PER_CANDIDATE = 200  # Maximum pivots per candidate; random instances need fewer than 20.
MOST_PRICES = 100  # Maximum number of prices tried; random instances need fewer than 20.

NODE = np.dtype(
    [
        ("parent", np.int64),
        ("child", np.int64),  # the first child, -1 if there is none
        ("following", np.int64),  # the next child of the same parent, -1 at the end
        ("preceding", np.int64),
        ("reward", np.float64),  # of the whole subtree
        ("size", np.float64),  # of the whole subtree
        ("floor", np.float64),
        ("ceiling", np.float64),
        ("held", np.bool_),
    ],
    align=True,
)
"""One node of a tree. One array per field makes kernels half as fast for ten candidates."""

Tree = NDArray[np.void]
"""(k + 1,) nodes: the candidates, and the root last."""


@jit
def initial_tree(a: Floats) -> Tree:
    """The tree of all probabilities 0 for rewards a (k,): every candidate is lifted by the root. Ceilings are 1."""
    k = len(a)
    tree = np.empty(k + 1, NODE)
    for i in range(k):
        tree[i].parent = k
        tree[i].child = -1
        tree[i].following = i + 1
        tree[i].preceding = i - 1
        tree[i].reward = a[i]
        tree[i].size = 1.0
        tree[i].floor = 0.0
        tree[i].ceiling = 1.0
        tree[i].held = False
    tree[k - 1].following = -1
    tree[k].parent = -1
    tree[k].child = 0
    return tree


@jit
def set_bounds(tree: Tree, lower: Floats, upper: Floats) -> None:
    """Give all candidates of a tree these floors and ceilings, (k,) each."""
    for i in range(len(lower)):
        tree[i].floor = lower[i]
        tree[i].ceiling = upper[i]


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


@jit
def shift_subtree(tree: Tree, top: int, p: Floats, by: float, members: Indices) -> None:
    """Change the probabilities of a whole subtree. `members` (k + 1,) is scratch."""
    for e in range(subtree(tree, top, members)):
        p[members[e]] += by


@jit
def fit_to_price(tree: Tree, p: Floats, price: float, members: Indices) -> None:
    """Make the tree feasible at this price: lifted subtrees with a surplus go up, held ones with a deficit go down.

    Their top goes to its ceiling or its floor, and is attached to the root.

    Small subtrees first, since a subtree that leaves changes the surplus of those above it.
    """
    root = len(p)
    count = subtree(tree, root, members)
    nodes = members[:count].copy()
    for e in range(count - 1, 0, -1):
        i = nodes[e]
        surplus = tree[i].reward - price * tree[i].size
        if surplus < 0.0 if tree[i].held else surplus > 0.0:
            shift_subtree(tree, i, p, (tree[i].ceiling if surplus > 0.0 else tree[i].floor) - p[i], members)
            move_subtree(tree, i, i, root, surplus > 0.0)


@jit
def most_violated(i: int, p: Floats, c: Floats, ceiling: float, tolerance: float) -> tuple[float, int]:
    """The largest violation p_i - p_j - c_ij of i's constraints, and j; (tolerance, -1) when there is none.

    The root, number k, has probability 0: p_i <= ceiling is a constraint against it.
    """
    k = len(p)
    worst, lower = tolerance, -1
    if p[i] - ceiling > worst:
        worst, lower = p[i] - ceiling, k
    reach, violated = p[i] - worst, False
    for j in range(k):  # most rows have no worse violation, and a loop without an exit is vectorised
        violated |= c[i, j] + p[j] < reach
    if violated:
        for j in range(k):
            excess = p[i] - p[j] - c[i, j]
            if excess > worst:
                worst, lower = excess, j
    return worst, lower


@jit
def farthest_below(tree: Tree, p: Floats, tolerance: float) -> tuple[float, int]:
    """The same for the root: by how much somebody is below their floor, and who."""
    worst, lower = tolerance, -1
    for j in range(len(p)):
        if tree[j].floor - p[j] > worst:
            worst, lower = tree[j].floor - p[j], j
    return worst, lower


@jit
def leaving_subtree(tree: Tree, upper: int, lower: int, price: float, visits: Indices, visit: int) -> tuple[int, bool]:
    """The subtree cut off when the constraint `upper` -> `lower` enters the basis, and whether `lower` is in it.

    Rerouting reduces the flow on the cycle through their lowest common ancestor; the arc with the least flow leaves.
    `visits` (k + 1,) is scratch, and `visit` a number that is not in it yet.
    """
    node = upper
    while node >= 0:
        visits[node] = visit
        node = tree[node].parent
    least, top, is_lower = np.inf, -1, False
    node = lower
    while visits[node] != visit:
        flow = price * tree[node].size - tree[node].reward
        if not tree[node].held and flow < least:
            least, top, is_lower = flow, node, True
        node = tree[node].parent
    meeting, node = node, upper
    while node != meeting:
        flow = tree[node].reward - price * tree[node].size
        if tree[node].held and flow < least:
            least, top, is_lower = flow, node, False
        node = tree[node].parent
    return top, is_lower


@jit
def solve_at_price(tree: Tree, p: Floats, c: Floats, price: float, changes: int) -> int:
    """Make a tree and its probabilities (k,) optimal at this price, in place; return the pivots, -1 if over the limit.

    Something must fit between floors and ceilings. Cost: O(k) per pivot, and per candidate whose constraints are
    scanned: some 3 per pivot.
    """
    k = len(p)
    members, visits = np.empty(k + 1, np.int64), np.zeros(k + 1, np.int64)
    fit_to_price(tree, p, price, members)
    used, intact, upper = 0, 0, 0
    while intact <= k:
        if upper < k:
            excess, lower = most_violated(upper, p, c, tree[upper].ceiling, VIOLATION_TOLERANCE)
        else:
            excess, lower = farthest_below(tree, p, VIOLATION_TOLERANCE)
        if lower < 0:
            intact += 1
        else:
            intact = 0
            used += 1
            top, is_lower = leaving_subtree(tree, upper, lower, price, visits, used)
            if used > changes or top < 0:  # some arc always leaves, but for rounding
                return -1
            if is_lower:
                shift_subtree(tree, top, p, excess, members)
                move_subtree(tree, top, lower, upper, False)
            else:
                shift_subtree(tree, top, p, -excess, members)
                move_subtree(tree, top, upper, lower, True)
        upper = upper + 1 if upper < k else 0
    return used


@jit
def worth_more(a: Floats, price: float, p: Floats, other: Floats) -> float:
    """How much more p is worth than `other`, at a price on capacity."""
    total = 0.0
    for i in range(len(a)):
        total += (a[i] - price) * (p[i] - other[i])
    return total


@jit
def mixture(tree: Tree, p: Floats, other: Floats, share: float) -> Floats:
    """p + share * (other - p), clipped to floors and ceilings."""
    mixed = np.empty(len(p))
    for i in range(len(p)):
        mixed[i] = min(tree[i].ceiling, max(tree[i].floor, p[i] + share * (other[i] - p[i])))
    return mixed


@jit
def search_price(a: Floats, c: Floats, capacity: float, least: float, changes: int) -> tuple[Floats, int]:
    """Probabilities (k,) that maximise a.p within the capacity, and the number of prices tried, -1 on failure.

    a (k,) rewards, c (k, k) symmetric distances, at most `changes` pivots at each price.
    """
    k = len(a)
    a, _ = scaled(a)
    return search_from(initial_tree(a), a, c, capacity, np.zeros(k), np.zeros(k), least, changes)


@jit
def search_price_between(
    a: Floats, c: Floats, capacity: float, lower: Floats, upper: Floats, floors: Floats, least: float, changes: int
) -> tuple[Floats, int]:
    """The same between floors and ceilings (k,); `floors` (k,) are the implied ones, from `implied_floors`."""
    a, _ = scaled(a)
    tree = initial_tree(a)
    set_bounds(tree, lower, upper)
    return search_from(tree, a, c, capacity, floors.copy(), lower.copy(), least, changes)


@jit
def search_from(
    tree: Tree, a: Floats, c: Floats, capacity: float, below: Floats, above: Floats, least: float, changes: int
) -> tuple[Floats, int]:
    """Search for the price of capacity, from a tree whose candidates are at their floors, `above` (k,), overwritten.

    below (k,): the least probabilities that keep to all constraints. A price on capacity replaces the constraint.
    Two solutions, one above the capacity and one below, are equally good at exactly one price; if no other is better at
    that price, their mixture that fits the capacity is optimal (the feasible set is convex). Otherwise the better one
    replaces one of the two: Newton's method on a piecewise linear function, so it ends. Cost: `solve_at_price` once
    without a capacity, some 10 times with one.
    """
    k = len(a)
    used, tried = solve_at_price(tree, above, c, 0.0, changes), 1
    latest = above
    while used >= 0 and tried < MOST_PRICES:
        excess, spare = above.sum() - capacity, capacity - below.sum()
        if excess <= 0.0:
            return mixture(tree, above, above, 0.0), tried
        price = worth_more(a, 0.0, above, below) / (excess + spare)
        latest = latest.copy()
        used, tried = solve_at_price(tree, latest, c, price, changes), tried + 1
        resolution = k * least * 100.0  # of the probabilities
        if used >= 0 and worth_more(a, price, latest, below) <= resolution:
            return mixture(tree, below, above, spare / (excess + spare)), tried
        if latest.sum() > capacity:
            above = latest
        else:
            below = latest
    return below, -1
