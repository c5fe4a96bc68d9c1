"""The kernels of a Gaussian belief: moments along many directions at once, and moment matching.

Moment matching (assumed density filtering) updates a Gaussian with one half-space after another, in place: row by row,
or, for many unknowns, in batches, so that the covariance is read once a batch.
"""

from __future__ import annotations

import math

import numpy as np

from evenhand._internal.arrays import Floats, Mask
from evenhand._internal.jit import jit
from evenhand.metrics.gaussian.tuning import BayesPointTuning

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


@jit
def soft_width(softness: float, threshold: float, middle: float) -> float:
    """The deviation of a threshold in squared distance, which `softness` is in distance.

    A distance D is flagged at the gap g with probability Phi((g - D) / s) = Phi((g^2 - D^2) / (s (g + D))): exact for a
    known D, also where D is small or far from g. D is taken at its mean square, `middle`.
    """
    if softness == 0.0:
        return 0.0
    return softness * (math.sqrt(max(threshold, 0.0)) + math.sqrt(max(middle, 0.0)))


@jit
def match_moments(
    inside: float,
    variance: float,
    known: float,
    error_rate: float,
    width: float,
    blur: float,
    contradiction: float,
    is_repeat: bool,
    max_shrink: float,
    min_slope: float,
    min_of_blur: float,
) -> tuple[float, float, float, float]:
    """One step: the score and the evidence of a half-space, and by which step and shrink it changes the moments.

    inside: how far inside <alpha, u> has its mean; variance: of <alpha, u>; known: the variance up to which it counts
    as known. The new mean is mean + side * step * cov u, the new covariance cov - shrink * (cov u)(cov u)'. Both are 0
    where the half-space changes nothing: a repetition, a contradiction, a known direction (also: one whose deviation
    is below `min_of_blur` times the blur), a likelihood without slope. width: of the threshold, see `soft_width`.
    """
    sd = math.sqrt(max(variance, known, 1e-300) + blur * blur + width * width)
    z = inside / sd
    evidence = 1.0 if is_repeat else 0.5 * math.erfc(-z / math.sqrt(2.0))
    if z < contradiction or variance <= max(known, (min_of_blur * blur) ** 2) or is_repeat:
        return z, evidence, 0.0, 0.0
    # The slope: the logarithmic derivative of the likelihood eta + (1 - 2 eta) Phi(z).
    if error_rate == 0.0 and z < -6.0:  # phi / Phi by a continued fraction: exact where both underflow
        slope = -z
        for i in range(40, 0, -1):
            slope = -z + i / slope
    else:
        keep = 1.0 - 2.0 * error_rate
        density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        slope = keep * density / (error_rate + keep * 0.5 * math.erfc(-z / math.sqrt(2.0)))
    if abs(slope) < min_slope:
        return z, evidence, 0.0, 0.0
    return z, evidence, slope / sd, min(slope * (slope + z) / (sd * sd), max_shrink / variance)


@jit
def update_rows(
    mean: Floats,
    cov: Floats,
    normals: Floats,
    thresholds: Floats,
    sides: Floats,
    error_rates: Floats,
    softness: Floats,
    blur: float,
    contradiction: float,
    max_shrink: float,
    min_slope: float,
    min_of_blur: float,
    known_variance: float,
    certain_score: float,
    few_rows: int,
    scores: Floats,
    evidences: Floats,
) -> int:
    """Update N(mean, cov) with sides * (<alpha, normals> - thresholds) >= 0, row by row; count the contradictions.

    error_rates, softness: the probability that each row is wrong, and the deviation of its threshold, in distance, each
    (n,), or (1,) for all. mean (m,) and cov (m, m) change in
    place; `scores` and `evidences` (n,) are filled: how many standard deviations inside the half-space the mean lay at
    the row's turn, and how likely the half-space was then. O(n m^2), but of more than `few_rows` O(m) for a row that
    lies `certain_score` deviations inside even if its own were the widest along any unit vector: it would change
    nothing, and is scored as if its deviation were that wide. An error rate above one half may still matter there, and
    once a verdict has widened the belief, the widest is not known any more.
    """
    n, m = normals.shape
    reach, repeats = np.empty(m), repeated_rows(normals, thresholds, sides)
    widest = largest_deviation(cov) if n > few_rows else np.inf
    contradictions = 0
    for row in range(n):
        u, error_rate = normals[row], error_rates[row if len(error_rates) > 1 else 0]
        middle, squares = _mean_and_square(mean, u)
        inside = sides[row] * (middle - thresholds[row])
        width = soft_width(softness[row if len(softness) > 1 else 0], thresholds[row], middle)
        most = math.sqrt(widest * widest * squares + blur * blur + width * width)
        if inside > certain_score * most and error_rate <= 0.5:
            scores[row], evidences[row] = inside / most, 1.0
            continue
        _multiply(cov, u, reach)
        variance, largest = 0.0, 0.0
        for i in range(m):
            variance += reach[i] * u[i]
            largest = max(largest, cov[i, i])
        scores[row], evidences[row], step, shrink = match_moments(
            inside, variance, known_variance * largest * squares, error_rate, width, blur, contradiction, repeats[row],
            max_shrink, min_slope, min_of_blur,
        )  # fmt: skip
        contradictions += scores[row] < contradiction
        if step == 0.0:
            continue
        if shrink < 0.0:
            widest = np.inf
        step = step * sides[row]
        for i in range(m):
            mean[i] += step * reach[i]
            for j in range(m):
                # In this order the covariance stays symmetric to the bit. An asymmetry from rounding while it was
                # large would in the end outweigh a small one.
                cov[i, j] -= shrink * (reach[i] * reach[j])
    return contradictions


@jit
def _mean_and_square(mean: Floats, u: Floats) -> tuple[float, float]:
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
def _multiply(cov: Floats, u: Floats, reach: Floats) -> None:
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
def repeated_rows(normals: Floats, thresholds: Floats, sides: Floats) -> Mask:
    """Which rows equal an earlier one to the bit, (n,); minus zero is zero. Copies of candidates are not news.

    By a hash table with open addressing; the key is made of a few of the numbers. O(n m).
    """
    (n, m), size = normals.shape, 4
    while size < 4 * n:
        size *= 2
    repeats, table = np.zeros(n, np.bool_), np.full(size, -1)
    for row in range(n):
        key = thresholds[row] * 0.7548776662466927
        for i in range(0, m, 1 + m // 8):
            key += normals[row, i] * (1.0 + 0.618033988749895 * i)
        key *= 7919.0
        place = int((key - np.floor(key)) * size) % size  # of a key just below a whole number the share rounds to 1
        while table[place] >= 0 and not repeats[row]:
            other, i = table[place], 0
            if thresholds[row] == thresholds[other] and sides[row] == sides[other]:
                while i < m and normals[row, i] == normals[other, i]:
                    i += 1
            repeats[row] = i == m
            place = (place + 1) % size
        if not repeats[row]:
            table[place] = row
    return repeats


@jit
def largest_deviation(cov: Floats) -> float:
    """An upper end of the root of the largest eigenvalue of cov (m, m): by its Frobenius norm, or its largest row."""
    m, squares, largest = len(cov), 0.0, 0.0
    square, size = np.zeros(m), np.zeros(m)
    for i in range(m):  # by columns, which are the rows of a symmetric matrix: sums that need not wait for each other
        for j in range(m):
            square[j] += cov[i, j] * cov[i, j]
            size[j] += abs(cov[i, j])
    for j in range(m):
        squares += square[j]
        largest = max(largest, size[j])
    return math.sqrt(min(math.sqrt(squares), largest)) * (1.0 + 1e-9)


def update_in_batches(
    mean: Floats,
    cov: Floats,
    rows: tuple[Floats, Floats, Floats, Floats, Floats, Mask],
    blur: float,
    contradiction: float,
    tuning: BayesPointTuning,
    scores: Floats,
    evidences: Floats,
) -> int:
    """What `update_rows` does: mean (m,) and cov (m, m) change in place, scores and evidences are filled. O(n m^2).

    Let S be the covariance at the start of a batch, U its normals. The covariance only changes by multiples of
    (S u)(S u)' of rows that count, so the scores follow from U S U' (n, n), and S u at a row's turn is a combination of
    the rows of U S (n, m): three matrix products a batch. Same formulas, same order of rows; only sums are added up in
    another order.

    rows: normals (n, m), thresholds, sides, error rates, softness and repeats (n,).
    """
    limits = (blur, contradiction, tuning.max_shrink, tuning.min_slope, tuning.min_of_blur)
    for start in range(0, len(scores), tuning.batch_rows):
        part = slice(start, start + tuning.batch_rows)
        normals, thresholds, sides, error_rates, softness, repeats = rows
        U = normals[part]
        reach, n = U @ cov, len(U)
        known = tuning.known_variance * float(np.max(np.diag(cov))) * np.einsum("ij,ij->i", U, U)
        shares, steps, shrinks = np.eye(n), np.zeros(n), np.zeros(n)
        batch = (thresholds[part], sides[part], error_rates[part], softness[part], repeats[part], known, *limits)
        update_batch(reach @ U.T, U @ mean, *batch, scores[part], evidences[part], shares, steps, shrinks)
        counts = steps != 0.0
        changes, steps, shrinks = shares[counts] @ reach, steps[counts], shrinks[counts]
        mean += steps @ changes
        # Products of a matrix with its own transpose are symmetric to the bit, and so the covariance stays symmetric.
        for sign in (1.0, -1.0):
            those = sign * shrinks > 0.0
            if np.any(those):
                roots = changes[those] * np.sqrt(np.abs(shrinks[those]))[:, None]
                cov -= sign * (roots.T @ roots)
    return int(np.sum(scores < contradiction))


@jit
def update_batch(
    spread: Floats,
    middle: Floats,
    thresholds: Floats,
    sides: Floats,
    error_rates: Floats,
    softness: Floats,
    repeats: Mask,
    known: Floats,
    blur: float,
    contradiction: float,
    max_shrink: float,
    min_slope: float,
    min_of_blur: float,
    scores: Floats,
    evidences: Floats,
    shares: Floats,
    steps: Floats,
    shrinks: Floats,
) -> None:
    """Fill in, for each row: S u at its turn as shares of all S u (n, n), the step of the mean, the shrink.

    spread: U S U' (n, n), and middle: U mean (n,), both used up; known: the variance below which a row changes nothing;
    shares: the identity; steps and shrinks: zeros.
    """
    n = len(middle)
    for row in range(n):
        inside = sides[row] * (middle[row] - thresholds[row])
        width = soft_width(softness[row], thresholds[row], middle[row])
        scores[row], evidences[row], step, shrink = match_moments(
            inside, spread[row, row], known[row], error_rates[row], width, blur, contradiction, repeats[row],
            max_shrink, min_slope, min_of_blur,
        )  # fmt: skip
        if step == 0.0:
            continue
        steps[row], shrinks[row] = step * sides[row], shrink
        for later in range(row + 1, n):
            middle[later] += steps[row] * spread[row, later]
            part = shrink * spread[row, later]
            for i in range(row + 1):
                shares[later, i] -= part * shares[row, i]
            for j in range(row + 1, n):
                spread[later, j] -= part * spread[row, j]
