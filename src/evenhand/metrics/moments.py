"""The hot kernel of asking: mean and standard deviation of <alpha, u> under a Gaussian, for many u at once."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from evenhand.compiled import compiled

Floats = NDArray[np.float64]

LANES = 64
"""So many rows are worked on side by side: what is kept of them stays in the nearest cache up to 1,000 unknowns."""


@compiled
def fill_moments(normals: Floats, mean: Floats, cov: Floats, means: Floats, sds: Floats) -> None:
    """Mean and standard deviation of <alpha, u>, alpha ~ N(mean, cov), for each row u of `normals` (n, m), each (n,).

    `means` and `sds` are filled: to be given an array costs a kernel a tenth of what it costs to return one. A row's
    moments are the same to the bit whatever other rows are asked for with it. O(n m^2), half of what a product with the
    whole of the symmetric `cov` takes.
    """
    n, m = normals.shape
    lanes, reach = np.empty((m, LANES)), np.empty(LANES)
    middle, variance = np.empty(LANES), np.empty(LANES)
    for start in range(0, n, LANES):
        count = min(LANES, n - start)
        width = (count + 7) // 8 * 8  # whole registers
        for a in range(m):
            for p in range(width):
                lanes[a, p] = normals[start + p, a] if p < count else 0.0
        moments_of_lanes(lanes, width, mean, cov, reach, middle, variance)
        for p in range(count):
            means[start + p] = middle[p]
            sds[start + p] = math.sqrt(max(variance[p], 0.0))


@compiled
def moments_of_lanes(
    lanes: Floats, width: int, mean: Floats, cov: Floats, reach: Floats, middle: Floats, variance: Floats
) -> None:
    """Fill `middle` and `variance` (LANES,) for the columns of `lanes` (m, LANES); `reach` is scratch.

    u'Cu = 2 sum_a u_a (C_aa u_a / 2 + sum_{b<a} C_ab u_b): only the lower triangle is read. Four b at a time, since
    what is summed up has to be fetched and put back for each.
    """
    middle[:width] = 0.0
    variance[:width] = 0.0
    for a in range(len(mean)):
        half = 0.5 * cov[a, a]
        for p in range(width):
            reach[p] = half * lanes[a, p]
        b = 0
        while b + 4 <= a:
            c0, c1, c2, c3 = cov[a, b], cov[a, b + 1], cov[a, b + 2], cov[a, b + 3]
            for p in range(width):
                reach[p] += c0 * lanes[b, p] + c1 * lanes[b + 1, p] + c2 * lanes[b + 2, p] + c3 * lanes[b + 3, p]
            b += 4
        while b < a:
            c0 = cov[a, b]
            for p in range(width):
                reach[p] += c0 * lanes[b, p]
            b += 1
        for p in range(width):
            middle[p] += mean[a] * lanes[a, p]
            variance[p] += 2.0 * reach[p] * lanes[a, p]
