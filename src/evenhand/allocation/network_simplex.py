"""The exact fair allocation when capacity is free, or has a fixed price: every surplus is passed down the ropes.

Without a limit on capacity the programme is the dual of a transport: candidates with positive reward have a surplus,
those with negative reward a need, and surplus travels along ropes at a cost of their length. At first everybody is
alone, at odds 1 with a surplus and at odds 0 in need. As long as a rope is broken, some surplus goes along that rope
instead of around it, as much as the way around had, and the rope that runs dry leaves the tree: the network simplex
method. The cost of the transport falls each time, until all ropes hold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.jit import jit
from evenhand.allocation.program import scaled
from evenhand.allocation.spanning_tree import RopeTree, branch, move_branch, on_the_floor

BROKEN_TOLERANCE = 1e-13
"""A rope is broken when a gap exceeds it by more than this: above the rounding of tens of thousands of changes."""

CHANGES_PER_CANDIDATE = 200
"""More changes of the tree than this for each candidate are not believed: random instances need fewer than 20."""

MOST_PRICES = 100
"""More prices than this are not believed either: random instances need fewer than 20."""


@jit
def shift_branch(tree: RopeTree, top: int, p: NDArray[np.float64], by: float, members: NDArray[np.int64]) -> None:
    """Change the odds of a whole branch. `members` (k + 1,) is scratch."""
    for e in range(branch(tree, top, members)):
        p[members[e]] += by


@jit
def plant(tree: RopeTree, p: NDArray[np.float64], price: float, members: NDArray[np.int64]) -> None:
    """Make the tree fit the price: a lifted branch with a surplus goes to the ceiling, a held one in need to the floor.

    Small branches first, since a branch that leaves changes the surplus of those it hung on.
    """
    ground = len(p)
    count = branch(tree, ground, members)
    nodes = members[:count].copy()
    for e in range(count - 1, 0, -1):
        i = nodes[e]
        surplus = tree[i].reward - price * tree[i].size
        if surplus < 0.0 if tree[i].held else surplus > 0.0:
            shift_branch(tree, i, p, (1.0 if surplus > 0.0 else 0.0) - p[i], members)
            move_branch(tree, i, i, ground, surplus > 0.0)


@jit
def most_broken(i: int, p: NDArray[np.float64], c: NDArray[np.float64], tolerance: float) -> tuple[float, int]:
    """By how much the odds of i are too far above somebody's, and whose; (tolerance, -1) when all is well.

    The ground, number k, has odds 0: nobody may be more than 1 above it, and it may not be above anybody.
    """
    k = len(p)
    worst, lower = tolerance, -1
    if i == k:
        for j in range(k):
            if -p[j] > worst:
                worst, lower = -p[j], j
        return worst, lower
    if p[i] - 1.0 > worst:
        worst, lower = p[i] - 1.0, k
    reach, broken = p[i] - worst, False
    for j in range(k):  # most rows hold nothing worse; a loop that never leaves early looks at many ropes at once
        broken |= c[i, j] + p[j] < reach
    if broken:
        for j in range(k):
            excess = p[i] - p[j] - c[i, j]
            if excess > worst:
                worst, lower = excess, j
    return worst, lower


@jit
def first_dry(
    tree: RopeTree, upper: int, lower: int, price: float, visits: NDArray[np.int64], visit: int
) -> tuple[int, bool]:
    """The branch that is cut off when surplus goes straight from `upper` to `lower`, and whether `lower` is in it.

    That surplus is then missing on the ropes which brought it to `lower` from where the two meet in the tree, and on
    those which took it there from `upper`; the one with the least of it runs dry. `visits` (k + 1,) is scratch, and
    `visit` a number that is not in it yet.
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
def pass_down(tree: RopeTree, p: NDArray[np.float64], c: NDArray[np.float64], price: float, changes: int) -> int:
    """Turn a tree and its odds (k,) into the best at this price, in place; return the changes, -1 if they were too few.

    Cost: O(k) for each change, and for each candidate whose ropes are looked at: some 3 for each change.
    """
    k = len(p)
    members, visits = np.empty(k + 1, np.int64), np.zeros(k + 1, np.int64)
    plant(tree, p, price, members)
    used, intact, upper = 0, 0, 0
    while intact <= k:
        excess, lower = most_broken(upper, p, c, BROKEN_TOLERANCE)
        if lower < 0:
            intact += 1
        else:
            intact = 0
            used += 1
            top, is_lower = first_dry(tree, upper, lower, price, visits, used)
            if used > changes or top < 0:  # some rope always runs dry first, but for rounding
                return -1
            if is_lower:
                shift_branch(tree, top, p, excess, members)
                move_branch(tree, top, lower, upper, False)
            else:
                shift_branch(tree, top, p, -excess, members)
                move_branch(tree, top, upper, lower, True)
        upper = upper + 1 if upper < k else 0
    return used


@jit
def worth_more(a: NDArray[np.float64], price: float, p: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """How much more the odds p are worth than the other ones, at a price on capacity."""
    total = 0.0
    for i in range(len(a)):
        total += (a[i] - price) * (p[i] - other[i])
    return total


@jit
def mixture(p: NDArray[np.float64], other: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Odds on the way from p to the other ones, rounding removed."""
    mixed = np.empty(len(p))
    for i in range(len(p)):
        mixed[i] = min(1.0, max(0.0, p[i] + share * (other[i] - p[i])))
    return mixed


@jit
def search_price(
    a: NDArray[np.float64], c: NDArray[np.float64], capacity: float, least: float, changes: int
) -> tuple[NDArray[np.float64], int]:
    """Odds (k,) that maximise a.p within the capacity too, and the number of prices tried, -1 on giving up.

    a (k,) rewards, c (k, k) symmetric distances, at most so many `changes` at each price. At a price on capacity the
    limit itself can go. Two odds, one above the capacity and one below, are equally good at exactly one price; if
    none are better at that price, their mixture that fits the capacity is optimal (it is fair, since fair odds are a
    convex set). Otherwise the better ones replace one of the two: Newton's method on a piecewise linear function, so
    it ends. Cost: `pass_down` once without a limit, some 10 times with one.
    """
    k = len(a)
    a, _ = scaled(a)
    tree = on_the_floor(a)
    below, above = np.zeros(k), np.zeros(k)
    used, tried = pass_down(tree, above, c, 0.0, changes), 1
    latest = above
    while used >= 0 and tried < MOST_PRICES:
        excess, spare = above.sum() - capacity, capacity - below.sum()
        if excess <= 0.0:
            return mixture(above, above, 0.0), tried
        price = worth_more(a, 0.0, above, below) / (excess + spare)
        latest = latest.copy()
        used, tried = pass_down(tree, latest, c, price, changes), tried + 1
        if used >= 0 and worth_more(a, price, latest, below) <= k * least * 100.0:  # as fine as odds are
            return mixture(below, above, spare / (excess + spare)), tried
        if latest.sum() > capacity:
            above = latest
        else:
            below = latest
    return below, -1
