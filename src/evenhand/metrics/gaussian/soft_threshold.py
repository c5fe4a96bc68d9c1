"""A soft threshold: how likely a gap exceeds an uncertain distance plus noise."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.metrics.gaussian.truncated_normal import TINY, chance_below, quantiles_above_zero, score_exceeded

NODES = 32  # Of Gauss and Legendre: six digits, since the wider of two distributions is smooth over the narrower one.


def chance_exceeded(mean: Floats, sd: Floats, gaps: Floats, softness: float) -> Floats:
    """How likely D + s e < g, elementwise: D^2 ~ N(mean, sd^2), given that it is not negative; e ~ N(0, 1).

    s: `softness`.
    Of D and s e the narrower is averaged over its quantiles; given that one, the chance is known in closed form.

    >>> chance_exceeded(np.array([0.09]), np.array([0.0]), np.array([0.4]), 0.1).round(3).tolist()
    [0.841]
    """
    if softness == 0.0:
        return chance_below(mean, sd, gaps**2)
    from scipy.special import ndtr  # takes longer to load than a first decision may take

    levels, noise, weights = _levels()
    chances = np.empty(len(mean))
    spread = sd / np.maximum(2.0 * np.sqrt(np.maximum(mean, sd)), TINY)
    wide = spread > softness
    thresholds = np.maximum(gaps[wide] - softness * noise[:, None], 0.0) ** 2
    chances[wide] = weights @ chance_below(mean[wide], sd[wide], thresholds)
    squares = quantiles_above_zero(mean[~wide], sd[~wide], levels)
    chances[~wide] = weights @ ndtr((gaps[~wide] - np.sqrt(squares)) / softness)
    return chances


@lru_cache(maxsize=1)
def _levels() -> tuple[Floats, Floats, Floats]:
    """Probabilities between 0 and 1, the scores that have them, and their weights, each (NODES,)."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    levels = 0.5 + 0.5 * nodes
    return levels, np.array([score_exceeded(float(level)) for level in levels]), 0.5 * weights
