"""Moment matching for many unknowns: half-spaces told in blocks, so that the covariance is read once a block.

What `tell_all` does row by row, in other words. Let S be the covariance at the start of a block, U its normals. As the
covariance only ever changes by multiples of (S u)(S u)' of rows that were heard, what becomes of U S U' (n, n) tells
all scores; the rows' reaches at their turn are combinations of those at the start, U S (n, m). So a block takes three
matrix products instead of two passes over the covariance for each of its rows. Same formulas, same order of rows; only
sums are added up in another order.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.jit import jit
from evenhand.metrics.gaussian.moment_matching import rows_told_before, slope_of

Floats = NDArray[np.float64]

ROWS = 256
"""The most rows of a block: more would cost more in scores, O(n^3), than they save in products."""


def tell_in_blocks(
    mean: Floats,
    cov: Floats,
    normals: Floats,
    thresholds: Floats,
    sides: Floats,
    error_rates: Floats,
    blur: float,
    surprise: float,
    limits: tuple[float, float, float],
    scores: Floats,
    evidences: Floats,
) -> None:
    """What `tell_all` does, with the same arguments: mean (m,) and cov (m, m) are changed in place. O(n m^2)."""
    copies = rows_told_before(normals, thresholds, sides)
    for start in range(0, len(normals), ROWS):
        rows = slice(start, start + ROWS)
        U = normals[rows]
        reach = U @ cov
        about = (thresholds[rows], sides[rows], error_rates[rows], copies[rows])
        known = limits[2] * float(np.max(np.diag(cov))) * np.einsum("ij,ij->i", U, U)
        heard, shares, steps, shrinks = tell_block(
            reach @ U.T, U @ mean, *about, known, blur, surprise, limits, scores[rows], evidences[rows]
        )
        if len(heard) == 0:
            continue
        changes = shares @ reach
        mean += steps @ changes
        # Products of a matrix with its own transpose are symmetric to the bit, and so the covariance stays.
        for sign in (1.0, -1.0):
            those = sign * shrinks > 0.0
            if np.any(those):
                roots = changes[those] * np.sqrt(np.abs(shrinks[those]))[:, None]
                cov -= sign * (roots.T @ roots)


@jit
def tell_block(
    spread: Floats,
    middle: Floats,
    thresholds: Floats,
    sides: Floats,
    error_rates: Floats,
    copies: NDArray[np.bool_],
    known: Floats,
    blur: float,
    surprise: float,
    limits: tuple[float, float, float],
    scores: Floats,
    evidences: Floats,
) -> tuple[NDArray[np.int64], Floats, Floats, Floats]:
    """The rows heard (h,), and of each: its reach as shares of all reaches (h, n), the mean's step, the shrink.

    spread: U S U' (n, n), and middle: U mean (n,), both used up; known: the variance below which a row is not heard.
    """
    n = len(middle)
    most_shrink, negligible, _ = limits
    shares = np.eye(n)
    heard, steps, shrinks = np.empty(n, np.int64), np.empty(n), np.empty(n)
    count = 0
    for row in range(n):
        variance = spread[row, row]
        sd = math.sqrt(max(variance, known[row], 1e-300) + blur * blur)
        z = sides[row] * (middle[row] - thresholds[row]) / sd
        scores[row] = z
        evidences[row] = 1.0 if copies[row] else 0.5 * math.erfc(-z / math.sqrt(2.0))
        if z < surprise or variance <= known[row] or copies[row]:
            continue
        slope = slope_of(z, error_rates[row])
        if abs(slope) < negligible:
            continue
        shrink = min(slope * (slope + z) / (sd * sd), most_shrink / variance)
        step = sides[row] * slope / sd
        heard[count], steps[count], shrinks[count] = row, step, shrink
        count += 1
        for later in range(row + 1, n):
            middle[later] += step * spread[row, later]
            part = shrink * spread[row, later]
            for i in range(row + 1):
                shares[later, i] -= part * shares[row, i]
            for j in range(row + 1, n):
                spread[later, j] -= part * spread[row, j]
    return heard[:count], shares[heard[:count]], steps[:count], shrinks[:count]
