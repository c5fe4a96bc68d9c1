"""Uniform points of a convex body: coordinate hit-and-run, in coordinates in which the body is round.

The body is {alpha : A alpha >= b, ||alpha|| <= radius}. A cloud of points walks in it, all points one sweep over all
coordinates at a time, and after each sweep the coordinates are chosen again so that the cloud's covariance is the
identity. Points are stored in those coordinates, so bodies of any elongation keep their digits: the covariance
of alpha itself is never formed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.factorisations import eigh
from evenhand._internal.jit import jit
from evenhand.metrics.version_space.tuning import DEFAULT, ProjectedVolumeTuning

# No check for a zero divisor, and maxima that need not care for NaN, so that loops over points run several at a time.
# Sums keep their order: results do not depend on the width of the machine's registers.
fast_jit = partial(jit, error_model="numpy", fastmath={"nnan", "nsz"})


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points alpha = centre + shape @ y of a body, the y having about mean zero and covariance one."""

    centre: Floats
    """(m,)."""
    shape: Floats
    """(m, m)."""
    points: Floats
    """The y, (N, m)."""
    middle: Floats
    """The centroid estimate in the same coordinates, (m,): the mean of the middles of all chords walked on."""

    @classmethod
    def in_ball(cls, centre: Floats, shape: Floats, radius: float, n: int, rng: np.random.Generator) -> Cloud:
        """n points uniform in the ellipsoid centre + radius * shape @ (unit ball)."""
        y = rng.standard_normal((n, len(centre)))
        y *= (rng.random(n) ** (1.0 / len(centre)) / np.maximum(np.linalg.norm(y, axis=1), DEFAULT.min_slack))[:, None]
        return cls(centre, shape * radius, y, np.zeros(len(centre)))

    @property
    def centroid(self) -> Floats:
        """The estimate of the body's centroid, (m,)."""
        return np.asarray(self.centre + self.shape @ self.middle)

    def values(self, normals: Floats) -> Floats:
        """<alpha, u> of all points: normals (n, m) -> (N, n)."""
        return np.asarray(normals @ self.centre + self.points @ (normals @ self.shape).T)

    def alphas(self) -> Floats:
        """The points themselves, (N, m)."""
        return np.asarray(self.centre + self.points @ self.shape.T)

    def resampled(self, alive: Mask, rng: np.random.Generator) -> Cloud:
        """As many points as before, the dead ones replaced by copies of living ones."""
        rows = np.flatnonzero(alive)
        points = self.points.copy()
        points[~alive] = self.points[rng.choice(rows, size=len(points) - len(rows))]
        return Cloud(self.centre, self.shape, points, points.mean(axis=0))


def walked(
    cloud: Cloud, A: Floats, b: Floats, radius: float, rng: np.random.Generator, tuning: ProjectedVolumeTuning = DEFAULT
) -> tuple[Cloud, float]:
    """The cloud after one sweep over all coordinates, made round again, and by how much its log-volume^2 grew.

    A (n, m), b (n,). All points must lie in the body. O(N m (n + m)).
    """
    n, m = cloud.points.shape
    start = cloud.alphas()
    columns = np.ascontiguousarray((A @ cloud.shape).T)
    gram = cloud.shape.T @ cloud.shape
    points, middles = np.ascontiguousarray(cloud.points.T), np.zeros(m)
    slacks = np.maximum((A @ cloud.centre - b)[:, None] + columns.T @ points, tuning.min_slack)
    products, squares = cloud.shape.T @ start.T, np.sum(start**2, axis=1)
    body = (columns, gram, radius**2, rng.permutation(m), tuning.min_slack)
    uniforms = rng.random((m, n))
    for first in range(0, n, tuning.block):
        part = slice(first, first + tuning.block)
        y, slack, product, chances = (table[:, part].copy() for table in (points, slacks, products, uniforms))
        _sweep(y, slack, product, chances, squares[part].copy(), *body, middles)
        points[:, part] = y
    return rounded(Cloud(cloud.centre, cloud.shape, points.T, middles / n), tuning)


def rounded(cloud: Cloud, tuning: ProjectedVolumeTuning = DEFAULT) -> tuple[Cloud, float]:
    """The same points in coordinates in which their covariance is one, and the log of its determinant before."""
    mean = cloud.points.mean(axis=0)
    y = cloud.points - mean
    variances, axes = eigh(y.T @ y / len(y))
    scales = np.sqrt(np.maximum(variances, tuning.min_variance))
    shape = cloud.shape @ (axes * scales)
    turned = Cloud(cloud.centre + cloud.shape @ mean, shape, y @ axes / scales, (cloud.middle - mean) @ axes / scales)
    return turned, float(2.0 * np.sum(np.log(scales)))


def grown(
    cloud: Cloud, A: Floats, b: Floats, radius: float, rng: np.random.Generator, tuning: ProjectedVolumeTuning = DEFAULT
) -> Cloud:
    """The cloud spread over the whole body, from any start inside it: sweeps until its volume settles."""
    threshold = 1.0 + tuning.settled * len(cloud.centre)
    for _ in range(tuning.max_growth_sweeps):
        cloud, gain = walked(cloud, A, b, radius, rng, tuning)
        if gain < threshold:
            break
    return cloud


@fast_jit
def _sweep(
    y: Floats,
    slack: Floats,
    product: Floats,
    uniforms: Floats,
    square: Floats,
    columns: Floats,
    gram: Floats,
    radius_squared: float,
    order: Indices,
    min_slack: float,
    middles: Floats,
) -> None:
    """Move each of w points once along every coordinate, to a uniform place of its chord; y and middles change.

    y (m, w), slack (n, w) of the faces, product (m, w) = shape' alpha, uniforms (m, w), square (w,) = ||alpha||^2,
    columns (m, n) = (A shape)'. The inner loops have no reduction, so they run several points at a time.
    """
    m, w = y.shape
    up, down, move = np.empty(w), np.empty(w), np.empty(w)
    for step in range(m):
        j = order[step]
        _steepest(columns[j], slack, up, down)
        reach = gram[j, j]
        for i in range(w):
            along = product[j, i]
            root = np.sqrt(max(along * along + reach * (radius_squared - square[i]), 0.0))
            low, high = min((-along - root) / reach, 0.0), max((-along + root) / reach, 0.0)
            if up[i] > 0.0:
                low = max(low, -1.0 / up[i])
            if down[i] < 0.0:
                high = min(high, -1.0 / down[i])
            move[i] = low + uniforms[step, i] * (high - low)
            middles[j] += y[j, i] + 0.5 * (low + high)
            y[j, i] += move[i]
            square[i] += move[i] * (2.0 * along + move[i] * reach)
        _add_moves(columns[j], slack, move, min_slack)
        _add_moves(gram[j], product, move, -np.inf)


@fast_jit
def _steepest(column: Floats, slack: Floats, up: Floats, down: Floats) -> None:
    """The extreme ratios column / slack of every point, (n,) and (n, w) -> (w,) each."""
    for i in range(len(up)):
        up[i], down[i] = 0.0, 0.0
    for f in range(len(column)):
        for i in range(len(up)):
            ratio = column[f] / slack[f, i]
            up[i] = max(up[i], ratio)
            down[i] = min(down[i], ratio)


@fast_jit
def _add_moves(column: Floats, table: Floats, move: Floats, least: float) -> None:
    """Add column x move to the table (n, w), in place, nothing ending below `least`."""
    for f in range(len(column)):
        for i in range(len(move)):
            table[f, i] = max(table[f, i] + column[f] * move[i], least)
