"""The lowest point of a small polyhedron in a direction: a dual simplex over rows with two ends.

Every row has a lower and an upper end, so any basis can be made dual feasible by choosing for each of its rows the end
that matches the sign of its price: a walk may start from any earlier end point. Every intermediate point has prices
that prove a lower bound; nothing depends on reaching the optimum. General solvers failed here: HiGHS found no solution
in sets a thousandth wide, between hundreds of nearly parallel rows.
"""

from __future__ import annotations

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.jit import jit

OPTIMAL, EMPTY, STEP_LIMIT = 0, 1, 2
"""The optimum was found; the set is empty; the maximum number of steps was reached."""


@jit
def walk(
    rows: Floats, low: Floats, high: Floats, n: int, basis: Indices, goal: Floats, room: float, nudge: float, most: int
) -> tuple[int, Floats, Indices, Floats]:
    """Minimise goal.x over low <= rows @ x <= high, the first n rows of (N, m); `basis` (m,) is changed in place.

    Rows may be violated by `room`; prices are perturbed by a share `nudge` of the largest. Returns the status, x (m,),
    the binding rows (m + 1,) and their prices (m + 1,), above zero at a lower end and below zero at an upper one: sum
    prices * rows = goal but for the nudge. If the set is empty: sum prices * rows = 0 and sum prices * ends > 0.
    O(n m + m^2) per step.
    """
    m = len(basis)
    taken = np.zeros(n, np.bool_)
    taken[basis] = True
    inverse = np.linalg.inv(rows[basis])
    prices = goal @ inverse
    # Prices of zero, as all but one are for a goal that is one of the rows, would make the walk cycle.
    signs = np.where(prices >= 0.0, 1.0, -1.0)
    aim = goal + (signs * (1.0 + np.arange(m) / m) * nudge * np.max(np.abs(prices))) @ rows[basis]
    x, weights = np.zeros(m), np.zeros(m)
    entering, side, status = -1, 1.0, 2
    for step in range(most):
        if step % 50 == 0:  # updates lose digits
            inverse = np.linalg.inv(rows[basis])
            prices = aim @ inverse
        x[:] = inverse @ np.where(prices >= 0.0, low[basis], high[basis])
        entering, side = _most_violated(rows[:n], low, high, x, room, taken)
        if entering < 0:
            status = 0
            break
        weights[:] = rows[entering] @ inverse
        leaving = _blocking(prices, side * weights)
        if leaving < 0:
            status = 1
            break
        length = prices[leaving] / (side * weights[leaving])
        prices -= side * length * weights
        # A price below zero marks an upper end, also after a step of length zero.
        prices[leaving] = length if side > 0.0 else min(-length, -5e-324)
        inverse[:, leaving] /= weights[leaving]
        for i in range(m):
            if i != leaving:
                inverse[:, i] -= weights[i] * inverse[:, leaving]
        taken[basis[leaving]], taken[entering] = False, True
        basis[leaving] = entering
    found, result = np.zeros(m + 1, np.int64), np.zeros(m + 1)
    found[:m] = basis
    if status == 1:
        found[m], result[m] = entering, side
        result[:m] = -side * weights
    else:
        true_prices = goal @ np.linalg.inv(rows[basis])
        result[:m] = np.where((true_prices > 0.0) == (prices >= 0.0), true_prices, 0.0)
    return status, x, found, result


@jit
def _most_violated(rows: Floats, low: Floats, high: Floats, x: Floats, room: float, taken: Mask) -> tuple[int, float]:
    """The row that x violates most, and 1 if x is below its lower end, -1 if above its upper one; row -1 for none."""
    entering, side, worst, values = -1, 1.0, room, rows @ x
    for row in range(len(values)):
        if not taken[row]:
            below, above = low[row] - values[row], values[row] - high[row]
            if below > worst:
                entering, side, worst = row, 1.0, below
            elif above > worst:
                entering, side, worst = row, -1.0, above
    return entering, side


@jit
def _blocking(prices: Floats, slopes: Floats) -> int:
    """The price that falls to zero first as all fall by their slopes; -1 if none does."""
    leaving, ratio, pivot = -1, np.inf, 0.0
    for i in range(len(prices)):
        slope = slopes[i]
        if abs(slope) > 1e-11 and (slope > 0.0) == (prices[i] >= 0.0):
            here = prices[i] / slope
            # Of those that fall to zero at once the one with the largest pivot keeps the basis well conditioned.
            if here < ratio - 1e-14 or (here <= ratio + 1e-14 and abs(slope) > pivot):
                leaving, ratio, pivot = i, min(here, ratio), abs(slope)
    return leaving
