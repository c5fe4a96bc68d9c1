"""The cylinder over a knowledge set: its shadow, times the interval of each direction in which it is thin.

Cutting a set through its centroid takes a constant part of its volume, but volume says nothing of a set that is
already flat. The centroid of the cylinder Cyl(K, S) = (projection of K along S) x (intervals of S) cuts the
shadow instead, whose volume counts only directions that are still wide.
"""

from __future__ import annotations

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.metrics.half_spaces import MAX_SQUARED
from evenhand.metrics.version_space._projection_walk import shadow_middle
from evenhand.metrics.version_space.extents import Outline
from evenhand.metrics.version_space.sampled_set import SampledSet


def default_thinness(accuracy: float, bound: float, n_unknowns: int) -> float:
    """The width below which a direction is thin, delta = eps^2 / (16 m (m+1)^2) in units of a unit ball.

    `accuracy` is that of <alpha, u>; eps is the same for ||alpha|| <= 1 and ||u|| <= 1.
    """
    eps = accuracy / (MAX_SQUARED * bound)
    return bound * eps**2 / (16.0 * n_unknowns * (n_unknowns + 1) ** 2)


def thinned(sampled: SampledSet, thin: Floats, thinness: float) -> Floats:
    """`thin` (m, s) and every further direction, orthogonal to it, in which K is not wider than `thinness`.

    Candidates are the axes of the cloud orthogonal to `thin`, the narrowest first; a linear program decides.
    """
    outline = None
    while thin.shape[1] < sampled.known.n_unknowns:
        complement = _complement(thin)
        axes, deviations, _ = np.linalg.svd(complement.T @ sampled.cloud.shape, full_matrices=False)
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
    axes, deviations, turned = np.linalg.svd(complement.T @ cloud.shape, full_matrices=False)
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
