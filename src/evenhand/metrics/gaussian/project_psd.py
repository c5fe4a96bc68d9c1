"""Positive semidefinite metrics: projecting a belief's mean onto them, and drawing one from a belief."""

from __future__ import annotations

import math

import numpy as np

from evenhand.metrics.features import Floats, MetricSpace
from evenhand.metrics.gaussian.belief import Belief
from evenhand.metrics.gaussian.truncated_normal import quantile_above_zero


def project_psd(belief: Belief, space: MetricSpace, bound: float) -> Belief:
    """The belief updated, for certain, with z'Gz >= 0 in every direction z in which its mean is negative."""
    tolerance = belief.tuning.psd_tolerance * bound
    if space.is_metric(belief.mean, tolerance):
        return belief

    def negative_direction(mean: Floats) -> Floats | None:
        lowest, u = space.most_negative_direction(mean)
        return u if lowest < -tolerance else None

    return belief.update_positive(negative_direction, max_steps=belief.tuning.psd_steps * space.n_features)


def draw_psd(belief: Belief, space: MetricSpace, bound: float, rng: np.random.Generator) -> Floats:
    """A draw from the belief, truncated to positive semidefinite matrices, (d, d).

    As long as the draw has a negative direction, the squared length along it is drawn again, above zero, and the rest
    follows from its conditional mean.
    """
    mean, cov, tuning = belief.mean, belief.cov, belief.tuning
    alpha = rng.multivariate_normal(mean, cov, check_valid="ignore", method="eigh")
    for _ in range(tuning.psd_steps * space.n_features):
        lowest, u = space.most_negative_direction(alpha)
        if lowest >= -tuning.psd_tolerance * bound:
            break
        reach, quantile = cov @ u, float(rng.uniform())
        variance = max(float(u @ reach), np.finfo(np.float64).tiny)
        drawn = quantile_above_zero(np.array([u @ mean]), np.array([math.sqrt(variance)]), quantile)
        alpha = alpha + reach * ((float(drawn[0]) - float(u @ alpha)) / variance)
    return space.nearest_metric(alpha)
