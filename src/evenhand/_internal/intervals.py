"""Confidence intervals of shares, and of means of values that depend on each other in clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

CONFIDENCE = 0.95


def wilson(successes: int, n: int) -> tuple[float, float]:
    """95% Wilson interval of a share of n; all of [0, 1] if n is 0.

    >>> [round(end, 3) for end in wilson(9, 10)]
    [0.596, 0.982]
    """
    if n == 0:
        return 0.0, 1.0
    from scipy.stats import binomtest  # takes half a second to import, and deciding does not need it

    low, high = binomtest(successes, n).proportion_ci(CONFIDENCE, method="wilson")
    return float(low), float(high)


@dataclass(frozen=True)
class MeanInterval:
    """A mean and its 95% confidence interval; None for a mean of nothing, and for the ends of an unknown interval."""

    value: float | None = None
    lower: float | None = None
    upper: float | None = None


def mean_of_clusters(
    clusters: ArrayLike, values: ArrayLike, *, low: float = -np.inf, high: float = np.inf
) -> MeanInterval:
    """The mean of values, (n,), with its 95% interval; values of the same cluster, (n,), depend on each other.

    The interval is that of a ratio of sums over clusters, with Student's t; unknown for fewer than two clusters. low,
    high: what a mean can be.

    >>> mean_of_clusters([0, 0, 1, 2], [0.25, 0.75, 0.5, 0.5])
    MeanInterval(value=0.5, lower=0.5, upper=0.5)
    """
    numbers = np.asarray(values, dtype=np.float64)
    if not len(numbers):
        return MeanInterval()
    _, place = np.unique(np.asarray(clusters), return_inverse=True)
    sums, counts = np.bincount(place, weights=numbers), np.bincount(place).astype(np.float64)
    mean, m = float(sums.sum() / counts.sum()), len(sums)
    if m < 2:
        return MeanInterval(mean)
    from scipy.special import stdtrit  # slow to import

    variance = float(np.sum((sums - mean * counts) ** 2)) * m / (m - 1) / float(counts.sum()) ** 2
    half = float(stdtrit(m - 1, (1 + CONFIDENCE) / 2)) * variance**0.5
    return MeanInterval(mean, float(np.clip(mean - half, low, high)), float(np.clip(mean + half, low, high)))
