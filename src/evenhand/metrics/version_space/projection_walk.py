"""Uniform points of a polytope's projection: hit-and-run whose chords are found by small linear programmes.

The polytope is {(w, t) : A w + C t >= b}; wanted are points w uniform in its shadow {w : some t fits}. From a
point w the chord of the shadow along a coordinate ends where no t fits any more: two linear programmes in the step
and t. The t on the way are interpolated between those of the two ends, which fit because the polytope is convex.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.jit import jit

Floats = NDArray[np.float64]

PIVOT = 1e-11
"""Smaller entries of a tableau whose rows have length about one count as zero."""

MOST_PIVOTS = 50
"""Pivots per unknown of a chord's programme; a chord cut short by it is still a chord of the shadow."""

SWEEPS = 4
"""How often all points walk along all coordinates."""


def shadow_middle(
    points: Floats, inner: Floats, A: Floats, C: Floats, b: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """The mean of the shadow and uniform points of it, (r,) and (N, r), from N points (w, t) of the polytope.

    points w (N, r), inner t (N, s), A (n, r), C (n, s), b (n,); all coordinates and rows should be scaled to about one.
    """
    w, t = points.copy(), inner.copy()
    middles = np.zeros(w.shape[1])
    for _ in range(SWEEPS):
        middles[:] = 0.0
        uniforms = rng.random((*w.shape, 1 + t.shape[1]))
        _shadow_sweep(w, t, A, C, b, rng.permutation(w.shape[1]), uniforms, middles, PIVOT, MOST_PIVOTS)
    return middles / len(w), w


@jit
def _shadow_sweep(
    w: Floats,
    t: Floats,
    A: Floats,
    C: Floats,
    b: Floats,
    order: NDArray[np.int64],
    uniforms: Floats,
    middles: Floats,
    pivot: float,
    most_pivots: int,
) -> None:
    """Move every w once along every coordinate of the shadow, and every t once along each of its own; in place."""
    n, s = C.shape
    M = np.empty((n, 1 + s))
    M[:, 1:] = -C
    tableau = np.empty((n + 1, s + 2))
    for i in range(len(w)):
        slack = np.maximum(A @ w[i] + C @ t[i] - b, 0.0)
        for step in range(len(order)):
            j = order[step]
            M[:, 0] = -A[:, j]
            high = _farthest(M, slack, tableau, pivot, most_pivots)
            M[:, 0] = A[:, j]
            low = _farthest(M, slack, tableau, pivot, most_pivots)
            low[0] = -low[0]
            middles[j] += w[i, j] + 0.5 * (low[0] + high[0])
            move = low + uniforms[i, step, 0] * (high - low)
            w[i, j] += move[0]
            t[i] += move[1:]
            slack = np.maximum(slack + A[:, j] * move[0] + C @ move[1:], 0.0)
            # The interpolated t may lie on a face: move it inside its own fibre, which leaves the walk of w alone.
            for c in range(s):
                low_c, high_c = _chord(C[:, c], slack, pivot)
                shift = low_c + uniforms[i, step, 1 + c] * (high_c - low_c)
                t[i, c] += shift
                slack = np.maximum(slack + C[:, c] * shift, 0.0)


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
def _farthest(M: Floats, slack: Floats, tableau: Floats, pivot: float, most_pivots: int) -> Floats:
    """The free x with M x <= slack whose first entry is largest, slack >= 0: the simplex method on a dense tableau.

    x = 0 fits, so the slacks are a first basis. A free unknown that has entered the basis never leaves it.
    """
    n, p = M.shape
    tableau[:n, :p] = M
    tableau[:n, p] = slack
    tableau[n, :] = 0.0
    tableau[n, 0] = -1.0
    free = np.ones(p, dtype=np.bool_)  # whether a column still stands for an x
    owner = np.full(n, -1)  # which x a row stands for, -1 for a slack
    for _ in range(most_pivots * p):
        entering, best = -1, pivot
        for k in range(p):
            gain = abs(tableau[n, k]) if free[k] else -tableau[n, k]
            if gain > best:
                entering, best = k, gain
        if entering < 0:
            break
        sign = 1.0 if tableau[n, entering] < 0.0 else -1.0
        leaving, least = -1, np.inf
        for f in range(n):
            rate = sign * tableau[f, entering]
            if owner[f] < 0 and rate > pivot and max(tableau[f, p], 0.0) / rate < least:
                leaving, least = f, max(tableau[f, p], 0.0) / rate
        if leaving < 0:
            break
        _pivot(tableau, leaving, entering)
        owner[leaving] = entering if free[entering] else -1
        free[entering] = False
    x = np.zeros(p)
    for f in range(n):
        if owner[f] >= 0:
            x[owner[f]] = tableau[f, p]
    return x


@jit
def _pivot(tableau: Floats, row: int, column: int) -> None:
    """Exchange the unknown of a row with that of a column; in place."""
    value = tableau[row, column]
    tableau[row] /= value
    tableau[row, column] = 1.0 / value
    for f in range(len(tableau)):
        factor = tableau[f, column]
        if f != row and factor != 0.0:
            tableau[f, column] = 0.0
            tableau[f] -= factor * tableau[row]
