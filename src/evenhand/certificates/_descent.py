"""Descent: the metric that fits the evidence and brings two candidates closest, and the verdicts that bind it.

It is the lowest point of a small polyhedron in a direction, found by a dual simplex over rows with two ends. Every row
has a lower and an upper end, so any basis can be made dual feasible by choosing for each of its rows the end that
matches the sign of its price: a walk may start from any earlier end point. Every intermediate point has prices that
prove a lower bound; nothing depends on reaching the optimum. General solvers failed here: HiGHS found no solution in
sets a thousandth wide, between hundreds of nearly parallel rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.factorisations import eigh
from evenhand._internal.jit import jit
from evenhand.certificates._budget import UNLIMITED, SearchBudget
from evenhand.certificates._consistent_set import ConsistentSet, unit_features

ROOM = 1e-10  # Accepted violation of a row, relative to the size of G: prices prove their bound in any case.
NUDGE = 1e-8  # Prices are perturbed by this share of the largest, so that none is zero; a bound may lose as much.
NEGATIVE = 1e-9  # An eigenvalue counts as negative below minus this, relative to the size of G.
REFINEMENTS = 12  # Maximum number of times a bound is tightened by directions of negative length.
WORTHWHILE = 1e-4  # Tightening stops when two refinements gained less than this share of the bound.
STEPS_PER_UNKNOWN = 50  # Maximum steps of a walk, per unknown.
STARTS = 64  # How many end points of walks are kept as starting points.
WORK_AT_ONCE = 1e8  # A walk is interrupted after this much work, to look at the budget.
WORK_BESIDE = 3e5  # What comes with each walk: eigenvalues, new rows, calls.
REFRESH = 50  # Steps after which the inverse is computed again: updates lose digits.

OPTIMAL, EMPTY, STEP_LIMIT = 0, 1, 2
"""The optimum was found; the set is empty; the maximum number of steps was reached."""


class Hint(NamedTuple):
    """The result of a descent; it proves nothing by itself."""

    metric: Floats
    """alpha of the closest metric, (m,)."""
    rows: Indices
    """The verdicts that bind it."""
    weights: Floats
    """Their weights, all > 0."""
    empty: bool
    """No metric fits at all; the verdicts are those that contradict each other."""


class Descent:
    """Walks in one set, each started from the end of an earlier one.

    G is positive semidefinite: whenever a walk ends at a matrix that is not, directions of negative length are added
    to the set, and to `found`, and the walk continues. Walks end with OutOfBudget when `budget` is used up.
    """

    def __init__(self, known: ConsistentSet, budget: SearchBudget = UNLIMITED) -> None:
        self.known, self._budget = known, budget
        self.found: list[Floats] = []
        self._n = len(known.rows)
        self._rows, self._low, self._high = known.rows, known.low, known.high
        self._verdicts = np.concatenate([np.full(self._n - len(known.usable), -1), known.usable])
        self._ends: list[Floats] = []
        self._bases: list[Indices] = []

    def lowest(self, z: Floats, violated: Callable[[Floats], int | None] = lambda metric: None) -> Hint | None:
        """The metric with the smallest z'Gz for z (d,) in the set's directions; None after a numerical failure.

        `violated` may name a verdict that a metric found on the way violates, and that was left out of the set: it is
        added then.
        """
        inner = self.known.inner
        goal = np.ascontiguousarray(inner.features(self._inward(z[None, :]))[0])
        basis = self._start(goal)
        values: list[float] = []
        while True:
            try:
                status, x, rows, prices = self._walk(basis, goal)
            except np.linalg.LinAlgError:
                return None
            if status == EMPTY:
                return self._hint(x, rows, prices, empty=True)
            row = violated(self._outward(x))
            if row is not None:
                self._add_verdict(row)
                continue
            values.append(float(goal @ x))
            if len(values) > REFINEMENTS or _is_stuck(values) or not self._refine(x):
                self._remember(x, basis)
                return self._hint(x, rows, prices, empty=False)

    def _walk(self, basis: Indices, goal: Floats) -> tuple[int, Floats, Indices, Floats]:
        """One walk, in parts of at most WORK_AT_ONCE."""
        m = len(basis)
        room, left = ROOM * self.known.unit, STEPS_PER_UNKNOWN * m
        step, inverse = float(self._n * m + 3 * m * m), float(2 * m**3)
        self._budget.spend(WORK_BESIDE)
        at_once = max(REFRESH, int(WORK_AT_ONCE / step))
        while True:
            self._budget.spend(2.0 * inverse)
            status, x, rows, prices, steps = walk(
                self._rows, self._low, self._high, self._n, basis, goal, room, NUDGE, min(left, at_once), REFRESH
            )
            self._budget.spend(steps * step + steps // REFRESH * inverse)
            left -= steps
            if status != STEP_LIMIT or left <= 0:
                return status, x, rows, prices

    def _add_verdict(self, row: int) -> None:
        """Add a verdict that was left out."""
        verdicts = self.known.verdicts
        direction = self._inward(verdicts.differences[row : row + 1])
        end = float(verdicts.thresholds[row] / verdicts.squared_lengths[row])
        low, high = (0.0, end) if verdicts.unfair[row] else (end, self._high[0])
        self._add(direction, low, high, row)

    def _start(self, goal: Floats) -> Indices:
        """The basis of the best of all ends so far: the new end is likely to be near it."""
        if not self._ends:
            return np.arange(self.known.inner.n_unknowns)
        return self._bases[int(np.argmin(np.array(self._ends) @ goal))].copy()

    def _remember(self, x: Floats, basis: Indices) -> None:
        self._ends, self._bases = [*self._ends, x][-STARTS:], [*self._bases, basis][-STARTS:]

    def _inward(self, directions: Floats) -> Floats:
        return directions if self.known.frame is None else directions @ self.known.frame

    def _outward(self, x: Floats) -> Floats:
        """alpha in the coordinates of all features."""
        if self.known.frame is None:
            return x
        return self.known.space.flatten(self.known.frame @ self.known.inner.unflatten(x) @ self.known.frame.T)

    def _refine(self, x: Floats) -> bool:
        """Add the directions in which the matrix of x has a negative length; whether there was any."""
        if self.known.inner.structure == "diagonal":
            return False
        values, vectors = eigh(self.known.inner.unflatten(x))
        new = vectors[:, values < -NEGATIVE * self.known.unit].T
        if len(new):
            self._add(new, 0.0, float(self._high[0]), -1)
            self.found.extend(new if self.known.frame is None else new @ self.known.frame.T)
        return len(new) > 0

    def _add(self, directions: Floats, low: float, high: float, verdict: int) -> None:
        end = self._n + len(directions)
        if end > len(self._rows):
            more = max(len(self._rows), len(directions))
            self._rows = np.concatenate([self._rows, np.zeros((more, self._rows.shape[1]))])
            self._low, self._high = (np.concatenate([ends, np.zeros(more)]) for ends in (self._low, self._high))
            self._verdicts = np.concatenate([self._verdicts, np.zeros(more, np.int64)])
        place = slice(self._n, end)
        self._rows[place] = unit_features(self.known.inner, directions)
        self._low[place], self._high[place], self._verdicts[place] = low, high, verdict
        self._n = end

    def _hint(self, x: Floats, rows: Indices, prices: Floats, *, empty: bool) -> Hint:
        """Prices of rows as weights of verdicts; those of other rows go into what must be left semidefinite."""
        verdicts, used = self.known.verdicts, self._verdicts[rows]
        binding = (used >= 0) & (verdicts.unfair[used] == (prices < 0.0)) & (prices != 0.0)
        used, prices = used[binding], prices[binding]
        return Hint(self._outward(x), used, np.abs(prices) / verdicts.squared_lengths[used], empty)


def _is_stuck(values: list[float]) -> bool:
    # One refinement may gain nothing because the optimum was not the only one; two in a row rarely do.
    return len(values) > 2 and values[-1] > 0.0 and values[-1] - values[-3] < WORTHWHILE * values[-1]


@jit
def walk(
    rows: Floats,
    low: Floats,
    high: Floats,
    n: int,
    basis: Indices,
    goal: Floats,
    room: float,
    nudge: float,
    most: int,
    refresh: int,
) -> tuple[int, Floats, Indices, Floats, int]:
    """Minimise goal.x over low <= rows @ x <= high, the first n rows of (N, m); `basis` (m,) is changed in place.

    Rows may be violated by `room`; prices are perturbed by a share `nudge` of the largest. Returns the status, x (m,),
    the binding rows (m + 1,) and their prices (m + 1,), above zero at a lower end and below zero at an upper one: sum
    prices * rows = goal but for the nudge. If the set is empty: sum prices * rows = 0 and sum prices * ends > 0. Last
    comes the number of steps. O(n m + m^2) per step, O(m^3) for the inverse, computed again every `refresh` steps.
    """
    m = len(basis)
    taken = np.zeros(n, np.bool_)
    taken[basis] = True
    inverse = np.linalg.inv(rows[basis])  # noqa: TID251  numba's own; `lowest` handles its failure
    prices = goal @ inverse
    # Prices of zero, as all but one are for a goal that is one of the rows, would make the walk cycle.
    signs = np.where(prices >= 0.0, 1.0, -1.0)
    aim = goal + (signs * (1.0 + np.arange(m) / m) * nudge * np.max(np.abs(prices))) @ rows[basis]
    x, weights = np.zeros(m), np.zeros(m)
    entering, side, status, steps = -1, 1.0, 2, 0
    for step in range(most):
        steps = step + 1
        if step % refresh == 0 and step > 0:  # updates lose digits
            inverse = np.linalg.inv(rows[basis])  # noqa: TID251
        if step % refresh == 0:
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
        true_prices = goal @ np.linalg.inv(rows[basis])  # noqa: TID251
        result[:m] = np.where((true_prices > 0.0) == (prices >= 0.0), true_prices, 0.0)
    return status, x, found, result, steps


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
