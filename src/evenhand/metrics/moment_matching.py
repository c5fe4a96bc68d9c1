"""The hot kernel of BayesPoint: a Gaussian told one half-space after another by moment matching, in place."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from evenhand.compiled import compiled

Floats = NDArray[np.float64]


@compiled
def tell_all(
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
    """Tell N(mean, cov) that sides * (<alpha, normals> - thresholds) >= 0, row by row, each wrong at its own rate.

    mean (m,) and cov (m, m) are changed in place; `scores` and `evidences` (n,) are filled: how many standard
    deviations inside the half-space the mean lay when the row's turn came, and how likely the half-space itself was
    then, 1 for an exact repetition of an earlier row. A row that scores below `surprise`, or repeats one, is scored and
    not heard. limits: the most shrink of a variance, the least slope that counts, the least share of variance that is
    not yet known. O(n m^2).
    """
    n, m = normals.shape
    most_shrink, negligible, known_variance = limits
    reach = np.empty(m)
    for row in range(n):
        u = normals[row]
        variance, middle, largest, squares = 0.0, 0.0, 0.0, 0.0
        for i in range(m):
            total = 0.0
            for j in range(m):
                total += cov[i, j] * u[j]
            reach[i] = total
            variance += total * u[i]
            middle += mean[i] * u[i]
            squares += u[i] * u[i]
            largest = max(largest, cov[i, i])
        known = known_variance * largest * squares
        sd = math.sqrt(max(variance, known, 1e-300) + blur * blur)
        z = sides[row] * (middle - thresholds[row]) / sd
        scores[row] = z
        repeats = _was_told(row, normals, thresholds, sides)
        evidences[row] = 1.0 if repeats else 0.5 * math.erfc(-z / math.sqrt(2.0))
        if z < surprise or variance <= known or repeats:
            continue
        slope = _slope(z, error_rates[row])
        if abs(slope) < negligible:
            continue
        shrink = min(slope * (slope + z) / (sd * sd), most_shrink / variance)
        step = sides[row] * slope / sd
        for i in range(m):
            mean[i] += step * reach[i]
            for j in range(m):
                # In this order it stays symmetric to the bit: what was off by rounding when the covariance was large
                # would in the end outweigh a small one.
                cov[i, j] -= shrink * (reach[i] * reach[j])


@compiled
def _slope(z: float, error_rate: float) -> float:
    """The logarithmic derivative of eta + (1 - 2 eta) Phi(z)."""
    if error_rate == 0.0 and z < -6.0:  # phi / Phi by a continued fraction: exact where both underflow
        ratio = -z
        for i in range(40, 0, -1):
            ratio = -z + i / ratio
        return ratio
    keep = 1.0 - 2.0 * error_rate
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return keep * density / (error_rate + keep * 0.5 * math.erfc(-z / math.sqrt(2.0)))


@compiled
def _was_told(row: int, normals: Floats, thresholds: Floats, sides: Floats) -> bool:
    """Whether an earlier row says exactly the same: of exact copies of candidates one is news."""
    for other in range(row):
        if thresholds[other] == thresholds[row] and sides[other] == sides[row]:
            same = True
            for i in range(normals.shape[1]):
                if normals[other, i] != normals[row, i]:
                    same = False
                    break
            if same:
                return True
    return False
