"""The sums of a ridge regression in one array, and the two kernels that read and renew it: a call takes few arguments.

Rows of `sums` (2d + 2, d): V (d of them), V^-1 (d), b, theta-hat = V^-1 b.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from evenhand._internal.jit import jit
from evenhand.rewards.model import Floats


class Sums(NamedTuple):
    """Views of the parts of an array of sums."""

    V: Floats
    """lambda I + sum x x', (d, d)."""
    V_inv: Floats
    """Its inverse, (d, d)."""
    b: Floats
    """sum r x, (d,)."""
    theta: Floats
    """V^-1 b, (d,)."""

    @classmethod
    def of(cls, sums: Floats) -> Sums:
        """The parts of this array."""
        d = sums.shape[1]
        return cls(sums[:d], sums[d : 2 * d], sums[2 * d], sums[2 * d + 1])


class Bounds(NamedTuple):
    """What is believed of the reward of each of k contexts."""

    estimate: Floats
    width: Floats
    optimistic: Floats
    """Their sum."""


def no_sums(n_features: int, regularisation: float) -> Floats:
    """The sums before any outcome, (2d + 2, d)."""
    sums = np.zeros((2 * n_features + 2, n_features))
    parts = Sums.of(sums)
    parts.V[:] = np.eye(n_features) * regularisation
    parts.V_inv[:] = np.eye(n_features) / regularisation
    return sums


def joined(V: Floats, V_inv: Floats, b: Floats, theta: Floats) -> Floats:
    """The array of these parts; a ValueError if they do not fit together, since kernels trust its shape."""
    d = len(b)
    if not V.shape == V_inv.shape == (d, d) or not theta.shape == b.shape == (d,):
        raise ValueError(f"sums for {d} features cannot be of shapes {V.shape}, {V_inv.shape} and {theta.shape}")
    return np.concatenate([V, V_inv, b[None, :], theta[None, :]])


@jit
def fill_bounds(contexts: Floats, sums: Floats, radius: float, norm_bound: float, most: float, bounds: Floats) -> None:
    """Fill `bounds` (3, k) with estimate, width and their sum for each row of `contexts` (k, d). O(k d^2).

    most: what cuts widths off; where infinite, as far as the truth can lie at most.
    """
    k, d = contexts.shape
    V_inv, theta = sums[d : 2 * d], sums[2 * d + 1]
    reach = np.empty(d)
    for row in range(k):
        x = contexts[row]
        estimate, spread, square = 0.0, 0.0, 0.0
        reach[:] = 0.0
        for j in range(d):
            for i in range(d):
                reach[i] += V_inv[j, i] * x[j]  # V^-1 is symmetric: sums that need not wait for each other
        for j in range(d):
            estimate += x[j] * theta[j]
            spread += x[j] * reach[j]
            square += x[j] * x[j]
        farthest = most if most < np.inf else norm_bound * math.sqrt(square) + abs(estimate)
        bounds[0, row] = estimate
        bounds[1, row] = min(math.sqrt(max(spread, 0.0)) * radius, farthest)
        bounds[2, row] = bounds[0, row] + bounds[1, row]


@jit
def tell(contexts: Floats, row: int, reward: float, sums: Floats, renewed: Floats) -> tuple[float, float]:
    """Fill in the sums after one outcome, of that row of `contexts` (n, d).

    Returns ||x||^2_{V^-1} before it, and the squared residual over 1 + that. O(d^2).
    """
    x, d = contexts[row], contexts.shape[1]
    V, V_inv, b, theta = sums[:d], sums[d : 2 * d], sums[2 * d], sums[2 * d + 1]
    more_V, less_V_inv, more_b, new_theta = renewed[:d], renewed[d : 2 * d], renewed[2 * d], renewed[2 * d + 1]
    direction = np.zeros(d)
    for j in range(d):
        for i in range(d):
            direction[i] += V_inv[j, i] * x[j]
    spread, foreseen = 0.0, 0.0
    for i in range(d):
        spread += x[i] * direction[i]
        foreseen += x[i] * theta[i]
        more_b[i] = b[i] + reward * x[i]
        new_theta[i] = 0.0
    for i in range(d):
        for j in range(d):
            more_V[i, j] = V[i, j] + x[i] * x[j]
            less_V_inv[i, j] = V_inv[i, j] - direction[i] * direction[j] / (1.0 + spread)
            new_theta[j] += less_V_inv[i, j] * more_b[i]
    return spread, (reward - foreseen) ** 2 / (1.0 + spread)
