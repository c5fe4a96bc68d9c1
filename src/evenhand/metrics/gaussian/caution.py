"""Which squared distance is played under a belief: a low quantile, or the lower end once the distance is known."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.jit import jit
from evenhand.metrics.gaussian._moment_matching import LANES, moments_of_lanes
from evenhand.metrics.gaussian.truncated_normal import score_exceeded, truncated_mean, truncated_quantile


class Caution(NamedTuple):
    """How cautiously squared distances are played, in numbers for kernels, which have no constants of their own."""

    keep: float
    """One minus the quantile that is played while a distance is not known."""
    untruncated: float
    """The score that a Gaussian stays below with probability `keep`."""
    end: float
    """How many standard deviations the lower end lies below the mean."""
    known: float
    """How far the lower end of a known distance lies below its estimate at most. The upper end lies above the lower by
    twice this at most."""
    shade: float
    """How far below its estimate a known distance is played at least."""
    softness: float = 0.0
    """The deviation of the reviewer's threshold, in distance."""

    @staticmethod
    @lru_cache(maxsize=64)
    def at(epsilon: float, quantile: float, end: float, known: float, shade: float, softness: float = 0.0) -> Caution:
        """The caution at this accuracy, quantile and softness; end, known and shade as in `BayesPointTuning`."""
        exceeded = score_exceeded(1.0 - quantile)
        return Caution(1.0 - quantile, exceeded, end, known * epsilon, shade * epsilon, softness)


def cautious_squares(mean: Floats, sd: Floats, caution: Caution) -> Floats:
    """The squared distance to play for each mean and standard deviation of one, (n,)."""
    squares = np.empty(len(mean))
    _fill_squares(mean, sd, *caution, squares)
    return squares


@jit
def _fill_squares(
    mean: Floats,
    sd: Floats,
    keep: float,
    untruncated: float,
    end: float,
    known: float,
    shade: float,
    softness: float,
    squares: Floats,
) -> None:
    for row in range(len(mean)):
        squares[row] = cautious_square(mean[row], sd[row], keep, untruncated, end, known, shade, softness)


@jit
def cautious_square(
    mean: float, sd: float, keep: float, untruncated: float, end: float, known: float, shade: float, softness: float
) -> float:
    """The squared distance to play for this mean and standard deviation; for the rest see `Caution`.

    The upper end is asked for, too, for beliefs near zero: with a mean below, even the widest has its lower end there.
    Elsewhere it lies nearer to the estimate than the lower end does.
    """
    middle = math.sqrt(max(mean, 0.0))
    lower = math.sqrt(max(mean - end * sd, 0.0))
    upper = math.sqrt(max(mean + end * sd, 0.0))
    if middle - lower <= known and upper - lower <= 2.0 * known:
        square = max(min(lower, middle - shade), 0.0) ** 2
    else:
        square = truncated_quantile(mean, sd, keep, untruncated)
    if softness == 0.0 or untruncated <= 0.0:
        return square
    return min(_soft_square(mean, sd, square, keep, untruncated, softness), square)


@jit
def _soft_square(mean: float, sd: float, square: float, keep: float, untruncated: float, softness: float) -> float:
    """What is played instead of `square`, the cautious quantile of the squared distance, under a soft threshold.

    The threshold is taken as normal, truncated at zero: around the root of the mean square, with a variance to which
    the uncertain distance and the softness add up. How uncertain the distance is, its own quantile says.
    """
    middle = math.sqrt(truncated_mean(mean, sd))
    drop = max(middle - math.sqrt(square), 0.0) / untruncated
    return truncated_quantile(middle, math.sqrt(drop * drop + softness * softness), keep, untruncated) ** 2


@jit
def fill_distances(
    contexts: Floats,
    is_full: bool,
    mean: Floats,
    cov: Floats,
    keep: float,
    untruncated: float,
    end: float,
    known: float,
    shade: float,
    softness: float,
    table: Floats,
) -> None:
    """Fill a table (k, k) with the distances to play between the rows of `contexts` (k, d), LANES pairs at a time.

    To the bit what features, moments, guesses and their roots are; the calls would take longer than a small round does.
    """
    (k, d), m, weight = contexts.shape, len(mean), math.sqrt(2.0)
    z, lanes, sums = np.zeros((d, LANES)), np.empty((m, LANES)), np.empty((2, LANES))
    middle, variance = np.empty(LANES), np.empty(LANES)
    first, second, count = np.empty(LANES, np.int64), np.empty(LANES, np.int64), 0
    for i in range(k):
        table[i, i] = 0.0
        for j in range(i + 1, k):
            for a in range(d):
                z[a, count] = contexts[i, a] - contexts[j, a]
            first[count], second[count] = i, j
            count += 1
            if count < LANES and i + 2 < k:
                continue
            width, row = (count + 7) // 8 * 8, 0  # whole registers
            for a in range(d):
                for p in range(width):
                    lanes[row, p] = z[a, p] * z[a, p]
                row += 1
                for b in range(a + 1, d if is_full else 0):
                    for p in range(width):
                        lanes[row, p] = z[a, p] * z[b, p] * weight
                    row += 1
            moments_of_lanes(lanes, width, mean, cov, sums, middle, variance)
            for p in range(count):
                sd = math.sqrt(max(variance[p], 0.0))
                square = cautious_square(middle[p], sd, keep, untruncated, end, known, shade, softness)
                table[first[p], second[p]] = table[second[p], first[p]] = math.sqrt(max(square, 0.0))
            count = 0
