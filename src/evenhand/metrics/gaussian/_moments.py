"""Mean and standard deviation of <alpha, u> under a Gaussian, for many u at once: the hot kernel of a decision."""

from __future__ import annotations

import math

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.jit import jit

LANES = 64  # Rows processed side by side: their scratch stays in the nearest cache up to 1,000 unknowns.


@jit
def fill_moments(normals: Floats, mean: Floats, cov: Floats, means: Floats, sds: Floats) -> None:
    """Mean and standard deviation of <alpha, u>, alpha ~ N(mean, cov), for each row u of `normals` (n, m), each (n,).

    A row's moments do not depend, to the bit, on the other rows. O(n m^2).
    """
    n, m = normals.shape
    lanes, sums, middle, variance = np.empty((m, LANES)), np.empty((2, LANES)), np.empty(LANES), np.empty(LANES)
    for start in range(0, n, LANES):
        count = min(LANES, n - start)
        width = (count + 7) // 8 * 8  # whole registers
        for a in range(m):
            for p in range(width):
                lanes[a, p] = normals[start + p, a] if p < count else 0.0
        moments_of_lanes(lanes, width, mean, cov, sums, middle, variance)
        for p in range(count):
            means[start + p] = middle[p]
            sds[start + p] = math.sqrt(max(variance[p], 0.0))


@jit
def moments_of_lanes(
    lanes: Floats, width: int, mean: Floats, cov: Floats, sums: Floats, middle: Floats, variance: Floats
) -> None:
    """Fill `middle` and `variance` (LANES,) for the columns u of `lanes` (m, LANES); `sums` (2, LANES) is scratch.

    u'Cu = 2 sum_a u_a (C_aa u_a / 2 + sum_{b<a} C_ab u_b) reads only the lower triangle of C, half of what a product
    takes. Two a and four b at a time, since each sum is loaded and stored for each b, and u_b loaded for each a.
    """
    m, even, odd = len(mean), sums[0], sums[1]
    for p in range(width):
        middle[p], variance[p] = 0.0, 0.0
    for a in range(0, m - 1, 2):
        half, other_half, between = 0.5 * cov[a, a], 0.5 * cov[a + 1, a + 1], cov[a + 1, a]
        for p in range(width):
            even[p] = half * lanes[a, p]
            odd[p] = other_half * lanes[a + 1, p] + between * lanes[a, p]
        b = 0
        while b + 4 <= a:
            c0, c1, c2, c3 = cov[a, b], cov[a, b + 1], cov[a, b + 2], cov[a, b + 3]
            e0, e1, e2, e3 = cov[a + 1, b], cov[a + 1, b + 1], cov[a + 1, b + 2], cov[a + 1, b + 3]
            for p in range(width):
                u0, u1, u2, u3 = lanes[b, p], lanes[b + 1, p], lanes[b + 2, p], lanes[b + 3, p]
                even[p] += c0 * u0 + c1 * u1 + c2 * u2 + c3 * u3
                odd[p] += e0 * u0 + e1 * u1 + e2 * u2 + e3 * u3
            b += 4
        while b < a:
            c0, e0 = cov[a, b], cov[a + 1, b]
            for p in range(width):
                even[p] += c0 * lanes[b, p]
                odd[p] += e0 * lanes[b, p]
            b += 1
        for p in range(width):
            middle[p] += mean[a] * lanes[a, p] + mean[a + 1] * lanes[a + 1, p]
            variance[p] += 2.0 * (even[p] * lanes[a, p] + odd[p] * lanes[a + 1, p])
    if m % 2 == 1:
        a = m - 1
        for p in range(width):
            even[p] = 0.5 * cov[a, a] * lanes[a, p]
        for b in range(a):
            c0 = cov[a, b]
            for p in range(width):
                even[p] += c0 * lanes[b, p]
        for p in range(width):
            middle[p] += mean[a] * lanes[a, p]
            variance[p] += 2.0 * even[p] * lanes[a, p]
