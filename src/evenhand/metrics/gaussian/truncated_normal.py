"""A Gaussian truncated at zero: its quantiles and probabilities."""

from __future__ import annotations

import math

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.jit import jit

FAR = 1e4  # Beyond this many standard deviations below zero the Gaussian's tail above zero is taken as exponential.

TINY = float(np.finfo(np.float64).tiny)

CERTAIN = 9.0  # A mean this many standard deviations above zero is not truncated at all, in double precision.

TAIL = -5.0
"""Below this score probabilities come from a continued fraction: differences of scores would lose digits there."""

MOST_STEPS = 100  # Newton's method takes four steps; from a caution of 1e-300 it takes some more.


def quantile_above_zero(mean: Floats, sd: Floats, quantile: float) -> Floats:
    """The quantile of N(mean, sd^2) given that it is not negative: itself never negative, elementwise.

    >>> quantile_above_zero(np.array([0.0, 10.0]), np.array([1.0, 1.0]), 0.5).round(3).tolist()
    [0.674, 10.0]
    """
    return np.asarray(quantiles_above_zero(mean, sd, np.array([quantile]))[0])


def quantiles_above_zero(mean: Floats, sd: Floats, levels: Floats) -> Floats:
    """The same at each of some levels, (l,): (l, n)."""
    values = np.empty((len(levels), len(mean)))
    _fill_quantiles(np.asarray(mean, np.float64), np.asarray(sd, np.float64), levels, values)
    return values


def chance_below(mean: Floats, sd: Floats, threshold: Floats) -> Floats:
    """How likely N(mean, sd^2), given that it is not negative, lies below a threshold >= 0, elementwise.

    >>> chance_below(np.array([0.0]), np.array([1.0]), np.array([0.674])).round(2).tolist()
    [0.5]
    """
    from scipy.special import log_ndtr  # takes longer to load than a first decision may take

    scale = np.maximum(sd, TINY)
    with np.errstate(over="ignore"):  # of twins nothing is uncertain: infinitely many deviations to either side
        beyond = log_ndtr(np.maximum((mean - threshold) / scale, -FAR))
        above_zero = log_ndtr(np.maximum(mean / scale, -FAR))
    return np.asarray(np.abs(np.expm1(np.minimum(beyond - above_zero, 0.0))))


@jit
def truncated_quantile(mean: float, sd: float, keep: float, untruncated: float) -> float:
    """The value that N(mean, sd^2), given that it is not negative, exceeds with probability `keep`.

    untruncated: what `score_exceeded` says of `keep`; most distances need nothing else.
    """
    scale = max(sd, TINY)
    z = mean / scale
    if z > CERTAIN:
        return max(mean - scale * untruncated, 0.0)
    if z > TAIL:
        target = keep * 0.5 * math.erfc(-z / math.sqrt(2.0))
        return max(mean - scale * _score_of(target, min(z, untruncated)), 0.0)
    if mean < -FAR * scale:
        return -math.log(keep) * scale * (scale / -mean)
    return scale * _drop_in_tail(-z, keep)


@jit
def _fill_quantiles(mean: Floats, sd: Floats, levels: Floats, values: Floats) -> None:
    for level in range(len(levels)):
        keep = 1.0 - levels[level]
        untruncated = score_exceeded(keep)
        for row in range(len(mean)):
            values[level, row] = truncated_quantile(mean[row], sd[row], keep, untruncated)


@jit
def truncated_mean(mean: float, sd: float) -> float:
    """The mean of N(mean, sd^2), given that it is not negative."""
    scale = max(sd, TINY)
    z = mean / scale
    if z > CERTAIN:
        return mean
    if z > TAIL:
        return mean + scale * math.exp(-0.5 * z * z) / (math.sqrt(2.0 * math.pi) * 0.5 * math.erfc(-z / math.sqrt(2.0)))
    if mean < -FAR * scale:
        return scale * (scale / -mean)
    return max(mean + scale / _mills_ratio(-z), 0.0)


@jit
def score_exceeded(keep: float) -> float:
    """The score h with Phi(h) = keep."""
    if keep > 0.5:  # the other tail has more digits
        return -_score_of(1.0 - keep, 0.0)
    return _score_of(keep, 0.0)


@jit
def _score_of(chance: float, start: float) -> float:
    """h with Phi(h) = chance, by Halley's method on log Phi, which is concave: each step trebles the right digits."""
    h = start
    for _ in range(MOST_STEPS):
        below = 0.5 * math.erfc(-h / math.sqrt(2.0))
        slope = math.exp(-0.5 * h * h) / (math.sqrt(2.0 * math.pi) * below)
        step = math.log(below / chance) / slope
        h -= step / max(1.0 + 0.5 * step * (h + slope), 0.5)
        if abs(step) < 1e-6:
            break
    return h


@jit
def _drop_in_tail(s: float, keep: float) -> float:
    """x with Phi(-s - x) = keep Phi(-s), s > 0: by Newton's method on -log Phi, which is convex and nearly linear."""
    here = _mills_ratio(s)
    x = -math.log(keep) * here
    for _ in range(MOST_STEPS):
        there = _mills_ratio(s + x)
        step = (s * x + 0.5 * x * x - math.log(there / here) + math.log(keep)) * there
        x -= step
        if abs(step) <= 1e-12 * x:
            break
    return max(x, 0.0)


@jit
def _mills_ratio(s: float) -> float:
    """Phi(-s) / phi(s) for s >= 5, by a continued fraction: exact where both underflow."""
    ratio = s
    for i in range(40, 0, -1):
        ratio = s + i / ratio
    return 1.0 / ratio
