"""Uniform points of a polytope's projection: hit-and-run whose chords are found by small linear programs.

The polytope is {(w, t) : A w + C t >= b}; wanted are points w uniform in its shadow {w : some t fits}. From a
point w the chord of the shadow along a coordinate ends where no t fits any more: two linear programs in the step
and t. The t on the way are interpolated between those of the two ends, which fit because the polytope is convex.
"""

from __future__ import annotations

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.jit import jit
from evenhand.metrics.version_space.tuning import ProjectedVolumeTuning


def shadow_middle(
    points: Floats,
    inner: Floats,
    A: Floats,
    C: Floats,
    b: Floats,
    rng: np.random.Generator,
    tuning: ProjectedVolumeTuning,
) -> tuple[Floats, Floats]:
    """The mean of the shadow and uniform points of it, (r,) and (N, r), from N points (w, t) of the polytope.

    points w (N, r), inner t (N, s), A (n, r), C (n, s), b (n,); all coordinates and rows should be scaled to about one.
    """
    w, t = points.copy(), inner.copy()
    middles = np.zeros(w.shape[1])
    for _ in range(tuning.shadow_sweeps):
        middles[:] = 0.0
        uniforms = rng.random((*w.shape, 1 + t.shape[1]))
        slacks = np.maximum(w @ A.T + t @ C.T - b, 0.0)
        limits = (tuning.pivot, tuning.max_pivots)
        _shadow_sweep(w, t, slacks, A, C, rng.permutation(w.shape[1]), uniforms, middles, *limits)
    return middles / len(w), w


@jit
def _shadow_sweep(
    w: Floats,
    t: Floats,
    slacks: Floats,
    A: Floats,
    C: Floats,
    order: Indices,
    uniforms: Floats,
    middles: Floats,
    pivot: float,
    max_pivots: int,
) -> None:
    """Move every w once along every coordinate of the shadow, and every t once along each of its own; in place."""
    n, s = C.shape
    tableau, low, high, move = np.empty((n + 1, s + 2)), np.empty(1 + s), np.empty(1 + s), np.empty(1 + s)
    owner, free, column = np.empty(n, np.int64), np.empty(1 + s, np.bool_), np.empty(n)
    for i in range(len(w)):
        slack = slacks[i]
        for step in range(len(order)):
            j = order[step]
            _farthest(A, C, j, -1.0, slack, tableau, owner, free, pivot, max_pivots, high)
            _farthest(A, C, j, 1.0, slack, tableau, owner, free, pivot, max_pivots, low)
            low[0] = -low[0]
            middles[j] += w[i, j] + 0.5 * (low[0] + high[0])
            for c in range(1 + s):
                move[c] = low[c] + uniforms[i, step, 0] * (high[c] - low[c])
            w[i, j] += move[0]
            for f in range(n):
                along = 0.0
                for c in range(s):
                    along += C[f, c] * move[1 + c]
                slack[f] = max(slack[f] + A[f, j] * move[0] + along, 0.0)
            # The interpolated t may lie on a face: move it inside its own fibre, which leaves the walk of w alone.
            for c in range(s):
                for f in range(n):
                    column[f] = C[f, c]
                low_c, high_c = _chord(column, slack, pivot)
                shift = low_c + uniforms[i, step, 1 + c] * (high_c - low_c)
                t[i, c] += move[1 + c] + shift
                for f in range(n):
                    slack[f] = max(slack[f] + column[f] * shift, 0.0)


@jit
def _chord(column: Floats, slack: Floats, pivot: float) -> tuple[float, float]:
    """Between which steps slack + step * column stays >= 0; no step at all where nothing bounds it."""
    low, high = -np.inf, np.inf
    for f in range(len(slack)):
        if column[f] > pivot:
            low = max(low, -slack[f] / column[f])
        elif column[f] < -pivot:
            high = min(high, -slack[f] / column[f])
    if low == -np.inf or high == np.inf:
        return 0.0, 0.0
    return low, high


@jit
def _farthest(
    A: Floats,
    C: Floats,
    j: int,
    sign: float,
    slack: Floats,
    tableau: Floats,
    owner: Indices,
    free: Mask,
    pivot: float,
    max_pivots: int,
    x: Floats,
) -> None:
    """Fill in the free x with sign * A_j x_0 - C x_rest <= slack whose first entry is largest, slack >= 0.

    The simplex method on a dense tableau (n + 1, s + 2). x = 0 fits, so the slacks are a first basis. A free unknown
    that has entered the basis never leaves it. `owner` (n,) and `free` (1 + s,) are scratch.
    """
    n, p = len(slack), len(x)
    for k in range(p):
        free[k] = True  # whether a column still stands for an x
        x[k], tableau[n, k] = 0.0, 0.0
    tableau[n, 0], tableau[n, p] = -1.0, 0.0
    for f in range(n):
        owner[f] = -1  # which x a row stands for, -1 for a slack
        tableau[f, 0], tableau[f, p] = sign * A[f, j], slack[f]
        for k in range(1, p):
            tableau[f, k] = -C[f, k - 1]
    for _ in range(max_pivots * p):
        entering, best = -1, pivot
        for k in range(p):
            gain = abs(tableau[n, k]) if free[k] else -tableau[n, k]
            if gain > best:
                entering, best = k, gain
        if entering < 0:
            break
        way = 1.0 if tableau[n, entering] < 0.0 else -1.0
        leaving, least = -1, np.inf
        for f in range(n):
            rate = way * tableau[f, entering]
            if owner[f] < 0 and rate > pivot and max(tableau[f, p], 0.0) / rate < least:
                leaving, least = f, max(tableau[f, p], 0.0) / rate
        if leaving < 0:
            break
        _pivot(tableau, leaving, entering)
        owner[leaving] = entering if free[entering] else -1
        free[entering] = False
    for f in range(n):
        if owner[f] >= 0:
            x[owner[f]] = tableau[f, p]


@jit
def _pivot(tableau: Floats, row: int, column: int) -> None:
    """Exchange the unknown of a row with that of a column; in place."""
    value, (n, width) = tableau[row, column], tableau.shape
    for i in range(width):
        tableau[row, i] /= value
    tableau[row, column] = 1.0 / value
    for f in range(n):
        factor = tableau[f, column]
        if f != row and factor != 0.0:
            tableau[f, column] = 0.0
            for i in range(width):
                tableau[f, i] -= factor * tableau[row, i]
