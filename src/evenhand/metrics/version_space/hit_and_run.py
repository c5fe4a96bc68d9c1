"""Uniform points of a convex body: coordinate hit-and-run, in coordinates in which the body is round.

The body is {alpha : A alpha >= b, ||alpha|| <= radius}. A cloud of points walks in it, all points one sweep over all
coordinates at a time, and after each sweep the coordinates are chosen anew so that the cloud's covariance is the
identity. Points are stored in those coordinates, so bodies of any elongation keep their digits: the covariance
of alpha itself is never formed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

SMALLEST_SLACK = 1e-300
"""A point on a face counts as this far inside it, so that the ratio to the slack stays a number."""

SMALLEST_VARIANCE = 1e-12
"""Relative to the previous coordinates: a cloud that has collapsed further (copies of one point) keeps this much."""

SETTLED = 0.1
"""A body is found round when a sweep changes the log of the variance by less than this per dimension, plus 1."""

BLOCK = 32
"""How many points walk side by side."""

MOST_SWEEPS = 200
"""Growing stops after so many sweeps in any case; each one lets a direction grow by a factor of several."""


def _compiled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Numba's `njit`, with what lets the loops over points run several at a time."""
    # No check for a zero divisor, and maxima that need not care for NaN. Sums keep their order, so that results do
    # not depend on the width of the machine's registers.
    dispatcher: Callable[Parameters, Result] = numba.njit(cache=True, error_model="numpy", fastmath={"nnan", "nsz"})(
        function
    )
    return dispatcher


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
        y *= (rng.random(n) ** (1.0 / len(centre)) / np.maximum(np.linalg.norm(y, axis=1), SMALLEST_SLACK))[:, None]
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

    def resampled(self, alive: NDArray[np.bool_], rng: np.random.Generator) -> Cloud:
        """As many points as before, the dead ones replaced by copies of living ones."""
        rows = np.flatnonzero(alive)
        points = self.points.copy()
        points[~alive] = self.points[rng.choice(rows, size=len(points) - len(rows))]
        return Cloud(self.centre, self.shape, points, points.mean(axis=0))


def walked(cloud: Cloud, A: Floats, b: Floats, radius: float, rng: np.random.Generator) -> tuple[Cloud, float]:
    """The cloud after one sweep over all coordinates, made round again, and by how much its log-volume^2 grew.

    A (n, m), b (n,). All points must lie in the body. O(N m (n + m)).
    """
    n, m = cloud.points.shape
    start = cloud.alphas()
    columns = np.ascontiguousarray((A @ cloud.shape).T)
    gram = cloud.shape.T @ cloud.shape
    points, middles = np.ascontiguousarray(cloud.points.T), np.zeros(m)
    slacks = (A @ cloud.centre - b)[:, None] + columns.T @ points
    _sweep(
        points,
        np.maximum(slacks, SMALLEST_SLACK),
        cloud.shape.T @ start.T,
        np.sum(start**2, axis=1),
        columns,
        gram,
        radius**2,
        rng.permutation(m),
        rng.random((m, n)),
        middles,
        BLOCK,
        SMALLEST_SLACK,
    )
    return rounded(Cloud(cloud.centre, cloud.shape, points.T, middles / n))


def rounded(cloud: Cloud) -> tuple[Cloud, float]:
    """The same points in coordinates in which their covariance is one, and the log of its determinant before."""
    mean = cloud.points.mean(axis=0)
    y = cloud.points - mean
    variances, axes = np.linalg.eigh(y.T @ y / len(y))
    scales = np.sqrt(np.maximum(variances, SMALLEST_VARIANCE))
    shape = cloud.shape @ (axes * scales)
    turned = Cloud(cloud.centre + cloud.shape @ mean, shape, y @ axes / scales, (cloud.middle - mean) @ axes / scales)
    return turned, float(2.0 * np.sum(np.log(scales)))


def grown(cloud: Cloud, A: Floats, b: Floats, radius: float, rng: np.random.Generator) -> Cloud:
    """The cloud spread over the whole body, from any start inside it: sweeps until its volume settles."""
    threshold = 1.0 + SETTLED * len(cloud.centre)
    for _ in range(MOST_SWEEPS):
        cloud, gain = walked(cloud, A, b, radius, rng)
        if gain < threshold:
            break
    return cloud


@_compiled
def _sweep(
    points: Floats,
    slacks: Floats,
    products: Floats,
    squares: Floats,
    columns: Floats,
    gram: Floats,
    radius_squared: float,
    order: NDArray[np.int64],
    uniforms: Floats,
    middles: Floats,
    block: int,
    least: float,
) -> None:
    """Move every point once along every coordinate, to a uniform place of its chord; points and middles change.

    points (m, N), slacks (n, N) of the faces, products (m, N) = shape' alpha, squares (N,) = ||alpha||^2, columns
    (m, n) = (A shape)', uniforms (m, N). Points go in blocks whose slacks fit the cache, and the loops over a block
    have no reduction, so they run several points at a time.
    """
    m, n_points = points.shape
    for start in range(0, n_points, block):
        stop = min(start + block, n_points)
        y = points[:, start:stop].copy()
        slack = slacks[:, start:stop].copy()
        product = products[:, start:stop].copy()
        square = squares[start:stop].copy()
        steepest_up, steepest_down, move = np.empty(stop - start), np.empty(stop - start), np.empty(stop - start)
        for step in range(m):
            j = order[step]
            column = columns[j]
            _steepest(column, slack, steepest_up, steepest_down)
            reach = gram[j, j]
            for i in range(stop - start):
                along = product[j, i]
                root = np.sqrt(max(along * along + reach * (radius_squared - square[i]), 0.0))
                low, high = min((-along - root) / reach, 0.0), max((-along + root) / reach, 0.0)
                if steepest_up[i] > 0.0:
                    low = max(low, -1.0 / steepest_up[i])
                if steepest_down[i] < 0.0:
                    high = min(high, -1.0 / steepest_down[i])
                move[i] = low + uniforms[step, start + i] * (high - low)
                middles[j] += y[j, i] + 0.5 * (low + high)
                y[j, i] += move[i]
                square[i] += move[i] * (2.0 * along + move[i] * reach)
            _moved(column, slack, move, least)
            _moved(gram[j], product, move, -np.inf)
        points[:, start:stop] = y


@_compiled
def _steepest(column: Floats, slack: Floats, up: Floats, down: Floats) -> None:
    """The extreme ratios column / slack of every point, (n,) and (n, w) -> (w,) each."""
    up[:] = 0.0
    down[:] = 0.0
    for f in range(len(column)):
        rate, row = column[f], slack[f]
        for i in range(len(up)):
            ratio = rate / row[i]
            up[i] = max(up[i], ratio)
            down[i] = min(down[i], ratio)


@_compiled
def _moved(column: Floats, table: Floats, move: Floats, least: float) -> None:
    """Add column x move to the table (n, w), in place, nothing ending below `least`."""
    for f in range(len(column)):
        rate, row = column[f], table[f]
        for i in range(len(move)):
            row[i] = max(row[i] + rate * move[i], least)
