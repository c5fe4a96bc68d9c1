"""Confidence intervals over rounds: the studentized bootstrap, and empirical Bernstein."""

from __future__ import annotations

import math

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_number, check_whole
from evenhand._internal.randomness import Seed, as_generator
from evenhand.history.estimators import RoundTerms

CONFIDENCE = 0.95
RESAMPLES = 2000
CHUNK = 4_000_000  # Cells of the table of counts that are made at once.
FEWEST_ROUNDS = 10

Interval = tuple[float, float]


def bootstrap_interval(
    terms: RoundTerms, *, confidence: float = CONFIDENCE, resamples: int = RESAMPLES, seed: Seed = 0
) -> Interval:
    """The bootstrap-t interval of an estimate: rounds are drawn again with replacement (Efron 1981, Hall 1988).

    Each resample's error is divided by its own standard error, by the delta method for a ratio. This corrects for
    skewed weights, which the plain percentile interval does not.
    """
    check_number("confidence", confidence, above=0, below=1)
    check_whole("resamples", resamples, least=100)
    columns = np.stack([terms.sums, terms.weights, terms.sizes], axis=1)
    centre = columns.mean(axis=0)
    apart = columns - centre  # second moments about the mean keep their digits where it is large
    products = apart[:, [0, 0, 0, 1, 1, 2]] * apart[:, [0, 1, 2, 1, 2, 2]]
    own = np.concatenate([centre, products.mean(axis=0)])[None]
    value, spread = _studentized(own[:, :3], _covariances(own, centre), len(columns))
    if not spread[0] > 0.0:
        return float(value[0]), float(value[0])
    rng, n, ratios = as_generator(seed), len(columns), []
    table = np.concatenate([columns, products], axis=1)
    for size in _chunks(resamples, n):
        draws = rng.integers(n, size=(size, n)) + n * np.arange(size)[:, None]
        counts = np.bincount(draws.ravel(), minlength=size * n).reshape(size, n)
        means = counts @ table / n
        values, spreads = _studentized(means[:, :3], _covariances(means, centre), n)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios.append(np.where(spreads > 0.0, (values - value[0]) / spreads, 0.0))
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(np.nan_to_num(np.concatenate(ratios)), [tail, 1.0 - tail])
    return float(value[0] - high * spread[0]), float(value[0] - low * spread[0])


def _chunks(resamples: int, n: int) -> list[int]:
    most = max(1, CHUNK // n)
    return [min(most, resamples - at) for at in range(0, resamples, most)]


def _covariances(means: Floats, centre: Floats) -> Floats:
    """(m, 3, 3) from means, and second moments about the centre, (m, 9)."""
    first, second = means[:, :3] - centre, np.empty((len(means), 3, 3))
    for place, (i, j) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
        second[:, i, j] = second[:, j, i] = means[:, 3 + place]
    return second - first[:, :, None] * first[:, None, :]


def _studentized(means: Floats, covariances: Floats, n: int) -> tuple[Floats, Floats]:
    """Estimates (m,) and their standard errors, from means (m, 3) of sums, weights and sizes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        sums, weights, sizes = means.T
        ratio = sums / weights
        gradient = np.stack([sizes / weights, -ratio * sizes / weights, ratio], axis=1)
        variance = np.einsum("mi,mij,mj->m", gradient, covariances, gradient) / max(1, n - 1)
        return ratio * sizes, np.sqrt(np.maximum(variance, 0.0))


def bernstein_interval(values: Floats, span: float, *, confidence: float = CONFIDENCE) -> Interval:
    """The empirical Bernstein interval of a mean (Maurer and Pontil 2009, theorem 4, on both sides).

    values: (n,), independent, each in some interval of width `span`. It holds for any n and any distribution, and is
    wide: the mean lies in it with at least this confidence.

    >>> low, high = bernstein_interval(np.tile([0.0, 1.0], 500), 1.0)
    >>> round(low, 3), round(high, 3)
    (0.443, 0.557)
    """
    n, log = len(values), math.log(4.0 / (1.0 - confidence))
    variance = float(np.var(values, ddof=1))
    reach = math.sqrt(2.0 * variance * log / n) + 7.0 * span * log / (3.0 * (n - 1))
    mean = float(np.mean(values))
    return mean - reach, mean + reach
