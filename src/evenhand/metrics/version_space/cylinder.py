"""The cylinder over a knowledge set: its shadow, times the interval of each direction in which it is thin.

Cutting a set through its centroid takes a constant part of its volume, but volume says nothing of a set that is
already flat. The centroid of the cylinder Cyl(K, S) = (projection of K along S) x (intervals of S) cuts the
shadow instead, whose volume counts only directions that are still wide.
"""

from __future__ import annotations

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.factorisations import svd
from evenhand._internal.jit import jit
from evenhand.metrics.version_space.extents import Outline
from evenhand.metrics.version_space.sampled_set import SampledSet
from evenhand.metrics.version_space.tuning import ProjectedVolumeTuning


def thinned(sampled: SampledSet, thin: Floats, thinness: float) -> Floats:
    """`thin` (m, s) and every further direction, orthogonal to it, in which K is not wider than `thinness`.

    Candidates are the axes of the cloud orthogonal to `thin`, the narrowest first; a linear program decides.
    """
    outline = None
    while thin.shape[1] < sampled.known.n_unknowns:
        complement = _complement(thin)
        axes, deviations, _ = svd(complement.T @ sampled.cloud.shape)
        # A body is at least two standard deviations wide, and the cloud's are at most about three times too large.
        if deviations[-1] > 2.0 * thinness:
            break
        direction = complement @ axes[:, -1]
        outline = Outline(sampled.known, sampled.cloud) if outline is None else outline
        low, high = outline.extent(direction)
        if high - low > thinness:
            break
        thin = np.column_stack([thin, direction])
    return thin


def cylinder_centroid(sampled: SampledSet, thin: Floats, rng: np.random.Generator) -> Floats:
    """The centroid of Cyl(K, S), S the columns of `thin` (m, s), orthonormal: (m,)."""
    if thin.shape[1] == 0:
        return sampled.cloud.centroid
    outline = Outline(sampled.known, sampled.cloud)
    ends = np.array([outline.extent(direction) for direction in thin.T])
    inner = thin @ ends.mean(axis=1)
    if thin.shape[1] == len(thin):
        return np.asarray(inner)
    widths = np.maximum(ends[:, 1] - ends[:, 0], sampled.known.tuning.min_width)
    return np.asarray(inner + shadow_centroid(sampled, thin, widths, rng))


def shadow_centroid(sampled: SampledSet, thin: Floats, widths: Floats, rng: np.random.Generator) -> Floats:
    """The centroid of K's projection orthogonal to `thin` (m, s), a point orthogonal to `thin`: (m,)."""
    cloud = sampled.cloud
    complement = _complement(thin)
    axes, deviations, turned = svd(complement.T @ cloud.shape)
    wide = complement @ (axes * deviations)  # alpha = centre + wide @ w + narrow @ t
    narrow = thin * widths
    w = cloud.points @ turned.T
    t = cloud.points @ (thin.T @ cloud.shape).T / widths
    A, b = _faces_with_ball(sampled)
    rows = np.column_stack([A @ wide, A @ narrow])
    lengths = np.maximum(np.linalg.norm(rows, axis=1), np.finfo(np.float64).tiny)
    rows /= lengths[:, None]
    offsets = (b - A @ cloud.centre) / lengths
    near = offsets > -sampled.known.reach
    rows, offsets = rows[near], offsets[near]
    r = wide.shape[1]
    split = np.ascontiguousarray(rows[:, :r]), np.ascontiguousarray(rows[:, r:])
    middle, _ = shadow_middle(w, t, *split, offsets, rng, sampled.known.tuning)
    return np.asarray(complement @ (complement.T @ cloud.centre) + wide @ middle)


def _faces_with_ball(sampled: SampledSet) -> tuple[Floats, Floats]:
    """The faces of K as A alpha >= b, the ball by its box and its tangents next to the outermost points."""
    A, b = sampled.known.signed()
    bound, alphas = sampled.known.bound, sampled.cloud.alphas()
    norms = np.linalg.norm(alphas, axis=1)
    tuning = sampled.known.tuning
    outer = np.flatnonzero(norms > tuning.near_ball * bound)[: tuning.max_ball_tangents]
    units = np.eye(alphas.shape[1])
    ball = np.concatenate([units, -units, -alphas[outer] / norms[outer, None]])
    return np.concatenate([A, ball]), np.concatenate([b, np.full(len(ball), -bound)])


def _complement(thin: Floats) -> Floats:
    """An orthonormal basis of the directions orthogonal to `thin` (m, s): (m, m - s)."""
    m, s = thin.shape
    return np.asarray(np.linalg.qr(thin, mode="complete")[0][:, s:]) if s else np.eye(m)


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

    The polytope is {(w, t) : A w + C t >= b}, its shadow {w : some t fits}. Hit-and-run: from a point w the chord of
    the shadow along a coordinate ends where no t fits any more: two linear programs in the step and t. The t on the way
    are interpolated between those of the two ends, which fit because the polytope is convex.

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
