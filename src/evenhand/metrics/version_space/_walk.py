"""Slice sampling of a density over metrics: the kernels.

The density is zero outside {alpha : smat(alpha) positive semidefinite, ||alpha|| <= radius, hard answers hold}.
Inside it depends on how many soft answers of each reviewer a metric disagrees with. A point moves along one axis at a
time: a level below its density is drawn, then places on its chord, and the chord shrinks towards the point at every
place that lies below the level or outside the cone. The first place accepted leaves the density invariant.
"""

from __future__ import annotations

import functools

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.jit import jit
from evenhand.metrics.version_space.constraints import fill_products

FAR = 1e300  # Beyond the end of any chord.


@jit
def walk(
    points: Floats,
    axes: Floats,
    A: Floats,
    b: Floats,
    n_hard: int,
    starts: Indices,
    bit_starts: Indices,
    bit_reviewers: Indices,
    log_weights: Floats,
    radius: float,
    n_features: int,
    window: float,
    max_tries: int,
    rng: np.random.Generator,
) -> int:
    """Move every point once along every axis, in place; return the number of places tried.

    points (N, m). axes (m, m): a row a direction, as long as the density is wide. A (m, n), b (n,): alpha A >= b, an
    inequality a column. The first n_hard always hold. Those from starts[r] to starts[r + 1] are the soft answers of
    reviewer r. Of those from bit_starts[g] to bit_starts[g + 1] at least one holds, or one more answer of reviewer
    bit_reviewers[g] is wrong; reviewer -1 is never wrong. log_weights (r, c): the log-density with c answers of
    reviewer r wrong. n_features: d of the cone, or 0 if the hard inequalities imply it. window: how far a move may
    lead at most, where answers are soft.
    """
    n_points, m = points.shape
    n, is_uniform = len(b), len(bit_reviewers) == 0 and starts[-1] == n_hard
    rates, paces = np.empty((len(axes), n)), np.empty((len(axes), n_hard))
    fill_products(axes, A, rates)
    for s in range(len(axes)):
        for f in range(n_hard):
            paces[s, f] = 1.0 / rates[s, f] if rates[s, f] != 0.0 else 0.0
    slack, upper, tried = np.empty(n), np.empty((n_features, n_features)), 0
    for row in range(n_points):
        p, density = points[row], 0.0
        for f in range(n):
            slack[f] = -b[f]
        for i in range(m):
            for f in range(n):
                slack[f] += A[i, f] * p[i]
        if not is_uniform:
            density = log_density(slack, rates[0], 0.0, starts, bit_starts, bit_reviewers, log_weights)
        for s in range(len(axes)):
            v, rate, level, there = axes[s], rates[s], 0.0, 0.0
            low, high = _chord_in_ball(p, v, radius)
            low, high = _chord_in_faces(slack, paces[s], low, high)
            if not is_uniform:
                level = density - rng.standard_exponential()
                start = -window * rng.random()
                low, high = max(low, start), min(high, start + window)
            for _ in range(max_tries):
                tried += 1
                step = low + rng.random() * (high - low)
                if not is_uniform:
                    there = log_density(slack, rate, step, starts, bit_starts, bit_reviewers, log_weights)
                if there >= level and (n_features == 0 or _is_positive(p, v, step, upper)):
                    for i in range(m):
                        p[i] += step * v[i]
                    for f in range(n):
                        slack[f] += step * rate[f]
                    density = there
                    break
                if step > 0.0:
                    high = step
                else:
                    low = step
    return tried


@jit
def log_density(
    slack: Floats,
    rate: Floats,
    step: float,
    starts: Indices,
    bit_starts: Indices,
    bit_reviewers: Indices,
    log_weights: Floats,
) -> float:
    """The log-density after a step, without the cone, the ball and the hard rows; -inf if a hard bit is violated."""
    total = 0.0
    for r in range(len(starts) - 1):
        wrong = 0  # counted in slices: loops between two unknown numbers are ten times slower
        slacks, rates = slack[starts[r] : starts[r + 1]], rate[starts[r] : starts[r + 1]]
        for f in range(len(slacks)):
            wrong += slacks[f] + step * rates[f] < 0.0
        for g in range(len(bit_reviewers)):
            if bit_reviewers[g] == r:
                wrong += not _any_holds(slack, rate, step, bit_starts[g], bit_starts[g + 1])
        total += log_weights[r, wrong]
    for g in range(len(bit_reviewers)):
        if bit_reviewers[g] < 0 and not _any_holds(slack, rate, step, bit_starts[g], bit_starts[g + 1]):
            return -np.inf
    return total


@jit
def _any_holds(slack: Floats, rate: Floats, step: float, start: int, stop: int) -> bool:
    for f in range(start, stop):  # noqa: SIM110  a generator takes longer to compile
        if slack[f] + step * rate[f] >= 0.0:
            return True
    return False


@jit
def _chord_in_ball(p: Floats, v: Floats, radius: float) -> tuple[float, float]:
    """Between which steps along v the point p stays in the ball."""
    along, reach, square = 0.0, 0.0, 0.0
    for i in range(len(p)):
        along += p[i] * v[i]
        reach += v[i] * v[i]
        square += p[i] * p[i]
    root = np.sqrt(max(along * along + reach * (radius * radius - square), 0.0))
    return min((-along - root) / reach, 0.0), max((-along + root) / reach, 0.0)


@functools.partial(jit, fastmath={"nnan", "ninf", "nsz"})  # so that several rows are looked at together
def _chord_in_faces(slack: Floats, pace: Floats, low: float, high: float) -> tuple[float, float]:
    """The part of a chord on which the hard rows hold. pace (n_hard,): one over the rate, or zero."""
    for f in range(len(pace)):
        end = -slack[f] * pace[f]
        lower, upper = end if pace[f] > 0.0 else -FAR, end if pace[f] < 0.0 else FAR
        low, high = lower if lower > low else low, upper if upper < high else high
    return min(low, 0.0), max(high, 0.0)


@jit
def _is_positive(p: Floats, v: Floats, step: float, upper: Floats) -> bool:
    """Whether smat(p + step v) is positive definite: by its Cholesky pivots. `upper` (d, d) is scratch."""
    d, place, weight = len(upper), 0, np.sqrt(0.5)
    for i in range(d):
        upper[i, i] = p[place] + step * v[place]
        for j in range(i + 1, d):
            upper[i, j] = (p[place + j - i] + step * v[place + j - i]) * weight
        place += d - i
    for i in range(d):
        if not upper[i, i] > 0.0:
            return False
        inverse = 1.0 / upper[i, i]
        for row in range(i + 1, d):
            factor = upper[i, row] * inverse
            for j in range(row, d):
                upper[row, j] -= factor * upper[i, j]
    return True


@jit
def fill_axes(columns: Floats, least: float, axes: Floats) -> None:
    """R of the QR factors of a table, given by its columns (m, N), which are used up; its diagonal at least `least`.

    By modified Gram-Schmidt. A factor of R'R, the covariance, would lose half the digits; and for tables of this size
    a threaded library spends more on waking its threads than on the work, a hundred times more on a busy machine.
    """
    m, n = columns.shape
    for i in range(m):
        square = 0.0
        for p in range(n):
            square += columns[i, p] * columns[i, p]
        axes[i, i] = max(np.sqrt(square), least)
        for j in range(i + 1, m):
            product = 0.0
            for p in range(n):
                product += columns[i, p] * columns[j, p]
            axes[i, j] = product / axes[i, i]
            factor = axes[i, j] / axes[i, i]
            for p in range(n):
                columns[j, p] -= factor * columns[i, p]
