"""The hot kernel of BayesPoint: a Gaussian told one half-space after another by moment matching, in place."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.jit import jit

Floats = NDArray[np.float64]

SURE = 6.5
"""So far inside, in standard deviations, a verdict's likelihood has no slope that counts: phi(6.5) = 3e-10."""


@jit
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
    rows = (normals, thresholds, sides, error_rates)
    tell_what_matters(mean, cov, *rows, blur, surprise, limits, np.inf, scores, evidences)


@jit
def tell_what_matters(
    mean: Floats,
    cov: Floats,
    normals: Floats,
    thresholds: Floats,
    sides: Floats,
    error_rates: Floats,
    blur: float,
    surprise: float,
    limits: tuple[float, float, float],
    widest: float,
    scores: Floats,
    evidences: Floats,
) -> None:
    """The same mean and covariance to the bit, in O(m) for rows that lie so far inside that they cannot matter.

    widest: no standard deviation along a unit vector exceeds it at first, nor later, unless a verdict that seems wrong
    widens the belief; from then on every row is looked at. Of rows that lie at least SURE standard deviations inside if
    their own were that wide, and teach nothing whatever it is, the scores are what they would be if it were. What
    somebody says who is wrong more often than right may still matter there.
    """
    n, m = normals.shape
    reach = np.empty(m)
    copies = rows_told_before(normals, thresholds, sides)
    for row in range(n):
        u = normals[row]
        middle, squares = middle_and_square(mean, u)
        inside = sides[row] * (middle - thresholds[row])
        if inside > SURE * math.sqrt(widest * widest * squares + blur * blur) and error_rates[row] <= 0.5:
            scores[row], evidences[row] = inside / math.sqrt(widest * widest * squares + blur * blur), 1.0
            continue
        about = (inside, squares, sides[row], error_rates[row], copies[row])
        scores[row], evidences[row], shrink = tell_row(mean, cov, u, *about, blur, surprise, limits, reach)
        if shrink < 0.0:
            widest = np.inf


@jit
def tell_row(
    mean: Floats,
    cov: Floats,
    u: Floats,
    inside: float,
    squares: float,
    side: float,
    error_rate: float,
    is_copy: bool,
    blur: float,
    surprise: float,
    limits: tuple[float, float, float],
    reach: Floats,
) -> tuple[float, float, float]:
    """Tell N(mean, cov), in place, one half-space with the normal u (m,): its score, its evidence, and the shrink.

    inside: how far inside it the mean lies; squares: <u, u>; reach (m,) is scratch. O(m^2).
    """
    m, variance, largest = len(u), 0.0, 0.0
    most_shrink, negligible, known_variance = limits
    _reach_of(cov, u, reach)
    for i in range(m):
        variance += reach[i] * u[i]
        largest = max(largest, cov[i, i])
    known = known_variance * largest * squares
    sd = math.sqrt(max(variance, known, 1e-300) + blur * blur)
    z = inside / sd
    evidence = 1.0 if is_copy else 0.5 * math.erfc(-z / math.sqrt(2.0))
    if z < surprise or variance <= known or is_copy:
        return z, evidence, 0.0
    slope = slope_of(z, error_rate)
    if abs(slope) < negligible:
        return z, evidence, 0.0
    shrink = min(slope * (slope + z) / (sd * sd), most_shrink / variance)
    step = side * slope / sd
    for i in range(m):
        mean[i] += step * reach[i]
        for j in range(m):
            # In this order it stays symmetric to the bit: what was off by rounding when the covariance was large
            # would in the end outweigh a small one.
            cov[i, j] -= shrink * (reach[i] * reach[j])
    return z, evidence, shrink


@jit
def middle_and_square(mean: Floats, u: Floats) -> tuple[float, float]:
    """<mean, u> and <u, u>, each in four sums that need not wait for each other."""
    m = len(u)
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    e, f, g, h = 0.0, 0.0, 0.0, 0.0
    i = 0
    while i + 4 <= m:
        a, e = a + mean[i] * u[i], e + u[i] * u[i]
        b, f = b + mean[i + 1] * u[i + 1], f + u[i + 1] * u[i + 1]
        c, g = c + mean[i + 2] * u[i + 2], g + u[i + 2] * u[i + 2]
        d, h = d + mean[i + 3] * u[i + 3], h + u[i + 3] * u[i + 3]
        i += 4
    while i < m:
        a, e = a + mean[i] * u[i], e + u[i] * u[i]
        i += 1
    return (a + b) + (c + d), (e + f) + (g + h)


@jit
def _reach_of(cov: Floats, u: Floats, reach: Floats) -> None:
    """Fill `reach` (m,) with cov @ u, adding up rows of the symmetric cov: sums that need not wait for each other."""
    m = len(u)
    for i in range(m):
        reach[i] = 0.0
    j = 0
    while j + 4 <= m:
        u0, u1, u2, u3 = u[j], u[j + 1], u[j + 2], u[j + 3]
        for i in range(m):
            reach[i] += u0 * cov[j, i] + u1 * cov[j + 1, i] + u2 * cov[j + 2, i] + u3 * cov[j + 3, i]
        j += 4
    while j < m:
        for i in range(m):
            reach[i] += u[j] * cov[j, i]
        j += 1


@jit
def slope_of(z: float, error_rate: float) -> float:
    """The logarithmic derivative of eta + (1 - 2 eta) Phi(z)."""
    if error_rate == 0.0 and z < -6.0:  # phi / Phi by a continued fraction: exact where both underflow
        ratio = -z
        for i in range(40, 0, -1):
            ratio = -z + i / ratio
        return ratio
    keep = 1.0 - 2.0 * error_rate
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return keep * density / (error_rate + keep * 0.5 * math.erfc(-z / math.sqrt(2.0)))


@jit
def rows_told_before(normals: Floats, thresholds: Floats, sides: Floats) -> NDArray[np.bool_]:
    """Which rows say exactly what an earlier row says, (n,): of exact copies of candidates one is news.

    Rows are sorted by a number that is the same for the same rows, so that few need to be compared. O(n (m + log n)).
    """
    n, m = normals.shape
    keys, copies = np.empty(n), np.zeros(n, np.bool_)
    for row in range(n):
        key = thresholds[row] * 0.7548776662466927
        for i in range(m):
            key += normals[row, i] * (1.0 + 0.618033988749895 * i)
        keys[row] = key
    order = np.argsort(keys, kind="mergesort")
    for place in range(1, n):
        row = order[place]
        back = place - 1
        while back >= 0 and keys[order[back]] == keys[row] and not copies[row]:
            copies[row] = _says_the_same(order[back], row, normals, thresholds, sides)
            back -= 1
    return copies


@jit
def _says_the_same(row: int, other: int, normals: Floats, thresholds: Floats, sides: Floats) -> bool:
    """Whether two rows are equal to the bit; minus zero is zero."""
    if thresholds[row] != thresholds[other] or sides[row] != sides[other]:
        return False
    same = True
    for i in range(normals.shape[1]):
        same &= normals[row, i] == normals[other, i]
    return same


@jit
def largest_deviation(cov: Floats) -> float:
    """An upper end of the root of the largest eigenvalue of cov (m, m): by its Frobenius norm, or its largest row."""
    m, squares, largest = len(cov), 0.0, 0.0
    square, size = np.zeros(m), np.zeros(m)
    for i in range(m):  # by columns, which are the rows of what is symmetric: sums that need not wait for each other
        row = cov[i]
        for j in range(m):
            square[j] += row[j] * row[j]
            size[j] += abs(row[j])
    for j in range(m):
        squares += square[j]
        largest = max(largest, size[j])
    return math.sqrt(min(math.sqrt(squares), largest)) * (1.0 + 1e-9)
