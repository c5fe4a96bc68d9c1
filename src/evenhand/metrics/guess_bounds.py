"""Bounds on the distance played for every pair of a round, at a thousandth of the cost of the guesses themselves.

A guess needs what is believed of a squared distance, O(m^2) a pair or more. These bounds need only its mean and the
size of the difference z, O(d) a pair: u' Sigma u <= ||Sigma|| ||z||^4. The `Limits` say how far from the mean the
distance played may lie; they depend on the belief.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.jit import jit
from evenhand.metrics.features import MetricSpace

ROUNDING = 1e-12  # Relative to the sizes that enter a bound: widened by this, bounds hold in spite of rounding.
TILE = 64  # Tables are filled in squares of this many candidates, so that both places of a pair are near.


class Limits(NamedTuple):
    """How far the distance played may lie from the mean M of the squared one. Squares, but for `known` and `drop`."""

    widest: float
    """A standard deviation s is at most this times ||z||^2."""
    known: float
    """A known distance is played at most this far below its mean."""
    drop: float
    """A soft threshold lowers the distance played by this at most."""
    near: float
    """A lower end may be 0 up to this M."""
    equal: float
    """The quantile is at most M, or this times s; infinity: it is at most M + at_zero s."""
    at_zero: float
    least_share: float
    """The quantile is at least this times M,"""
    untruncated: float
    """and at least M less this times s."""
    slack: float = 0.0
    """M is known to within this times ||z||^2; `GuessBounds` sets it."""


class GuessBounds:
    """Ends of the distances played between all rows of `contexts` (k, d), without any standard deviation.

    mean: of alpha, (m,). O(k^2 d).
    """

    upper: Floats
    """The upper end of every distance, (k, k)."""

    def __init__(self, contexts: Floats, space: MetricSpace, mean: Floats, limits: Limits) -> None:
        # Squared distances are sums of squared differences of these columns, less what negative eigenvalues take off.
        points, values = space.embedded(mean, contexts)
        self._shown = np.ascontiguousarray(points.T)
        self._plain = np.ascontiguousarray(contexts.T)
        slack = ROUNDING * float(np.max(np.abs(values))) + max(-float(np.min(values)), 0.0)
        self._limits = limits._replace(slack=slack)
        self.upper, self._is_near = _upper_ends(self._shown, self._plain, self._limits)

    def may_reach(self, p: Floats, tolerance: float, settled: Mask) -> Indices:
        """The pairs, (n, 2), whose distance may be at most their gap in the probabilities p (k,) plus the tolerance.

        Pairs that are `settled` (k, k) are left out. O(r k d), r being how many probabilities differ from the median.
        """
        usual, pairs = float(np.sort(p)[len(p) // 2]), np.empty((2 * len(p), 2), np.int64)
        table = (self._shown, self._plain, self._limits, self._is_near, p, usual, tolerance, settled)
        count = _within_reach(*table, pairs)
        if count > len(pairs):
            pairs = np.empty((count, 2), np.int64)
            _within_reach(*table, pairs)
        return pairs[:count]


@jit
def _squares(columns: Floats, i: int, start: int, squares: Floats) -> None:
    """Squared distances between candidate i and the next ones from `start` on, as many as `squares` holds."""
    squares[:] = 0.0
    for a in range(len(columns)):
        here, there = columns[a, i], columns[a, start : start + len(squares)]
        for p in range(len(squares)):
            difference = here - there[p]
            squares[p] += difference * difference


@jit
def _upper_ends(shown: Floats, plain: Floats, limits: Limits) -> tuple[Floats, Mask]:
    """The upper end of every pair, (k, k); and which candidates are so near to one that a lower end may be 0, (k,)."""
    k = shown.shape[1]
    if limits.equal < np.inf:
        on_mean, beside_mean = limits.equal * limits.widest, limits.slack
    else:
        on_mean, beside_mean = 0.0, limits.slack + limits.at_zero * limits.widest
    upper, tile, is_near = np.empty((k, k)), np.empty((TILE, TILE)), np.zeros(k, np.bool_)
    means, lengths = np.empty(TILE), np.empty(TILE)
    for top in range(0, k, TILE):
        for left in range(top, k, TILE):
            height, width = min(TILE, k - top), min(TILE, k - left)
            mean, length = means[:width], lengths[:width]
            for q in range(height):
                _squares(shown, top + q, left, mean)
                _squares(plain, top + q, left, length)
                near = 0
                for p in range(width):
                    most, least = mean[p] + beside_mean * length[p], on_mean * length[p]
                    tile[q, p] = math.sqrt(most if most > least else least) * (1.0 + ROUNDING)
                    near += mean[p] - limits.slack * length[p] <= limits.near
                if near > (top == left):  # every candidate is near itself
                    _mark_near(top + q, left, mean, length, limits, is_near)
            for q in range(height):
                for p in range(width):
                    upper[top + q, left + p] = tile[q, p]
            for p in range(width):
                for q in range(height):
                    upper[left + p, top + q] = tile[q, p]
    return upper, is_near


@jit
def _mark_near(i: int, start: int, mean: Floats, length: Floats, limits: Limits, is_near: Mask) -> None:
    """Mark candidate i, and those from `start` on, that are near to each other."""
    for p in range(len(mean)):
        if start + p != i and mean[p] - limits.slack * length[p] <= limits.near:
            is_near[i] = is_near[start + p] = True


@jit
def _lower_end(mean: float, length: float, limits: Limits) -> float:
    """The least that is played at this mean square of a difference of this squared length."""
    low = max(mean - limits.slack * length, 0.0)
    known = max(math.sqrt(low) - limits.known, 0.0)
    least = max(limits.least_share * low, low - limits.untruncated * limits.widest * length)
    return max(min(known, math.sqrt(least)) - limits.drop, 0.0) * (1.0 - ROUNDING)


@jit
def _within_reach(
    shown: Floats,
    plain: Floats,
    limits: Limits,
    is_near: Mask,
    p: Floats,
    usual: float,
    tolerance: float,
    settled: Mask,
    pairs: Indices,
) -> int:
    """Count the pairs that are not settled and whose lower end is at most their gap plus the tolerance.

    As many as fit are written to `pairs` (n, 2). Most candidates have the usual probability; of two of those only near
    ones are checked: no others have a lower end of 0.
    """
    k, count = len(p), 0
    mean, length = np.empty(k), np.empty(k)
    for i in range(k):
        if p[i] == usual and not is_near[i]:
            continue
        _squares(shown, i, 0, mean)
        _squares(plain, i, 0, length)
        for j in range(k):
            seen_from_j = j < i and (p[j] != usual or is_near[j])
            if j == i or seen_from_j or settled[i, j]:
                continue
            if _lower_end(mean[j], length[j], limits) <= abs(p[i] - p[j]) + tolerance:
                if count < len(pairs):
                    pairs[count, 0], pairs[count, 1] = min(i, j), max(i, j)
                count += 1
    return count
