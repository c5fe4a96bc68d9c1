"""That a metric's matrix is positive semidefinite, told to a belief that does not know it, and to draws from one."""

from __future__ import annotations

import math

import numpy as np

from evenhand.metrics.features import Floats, MetricSpace
from evenhand.metrics.gaussian.belief import Belief
from evenhand.metrics.gaussian.truncated_normal import quantile_above_zero

TOLERANCE = 1e-9
"""An eigenvalue of the mean counts as negative below minus this times the bound."""

ROUNDS = 4
"""So many certain verdicts a feature, at most, are spent on making the mean positive semidefinite."""


def mended(belief: Belief, space: MetricSpace, bound: float) -> Belief:
    """The belief, told for sure that directions in which its mean is negative are not."""
    tolerance = TOLERANCE * bound
    if space.is_metric(belief.mean, tolerance):
        return belief

    def negative_direction(mean: Floats) -> Floats | None:
        lowest, u = space.most_negative_direction(mean)
        return u if lowest < -tolerance else None

    return belief.told_positive(negative_direction, most=ROUNDS * space.n_features)


def drawn_metric(belief: Belief, space: MetricSpace, bound: float, rng: np.random.Generator) -> Floats:
    """A draw from the belief, given that no squared length is negative, (d, d).

    As long as the draw has a negative direction, the squared length along it is drawn anew, above zero, and the rest
    follows as it depends on it.
    """
    mean, cov = belief.mean, belief.cov
    alpha = rng.multivariate_normal(mean, cov, check_valid="ignore", method="eigh")
    for _ in range(ROUNDS * space.n_features):
        lowest, u = space.most_negative_direction(alpha)
        if lowest >= -TOLERANCE * bound:
            break
        reach, quantile = cov @ u, float(rng.uniform())
        variance = max(float(u @ reach), np.finfo(np.float64).tiny)
        drawn = quantile_above_zero(np.array([u @ mean]), np.array([math.sqrt(variance)]), quantile)
        alpha = alpha + reach * ((float(drawn[0]) - float(u @ alpha)) / variance)
    return space.nearest_metric(alpha)
