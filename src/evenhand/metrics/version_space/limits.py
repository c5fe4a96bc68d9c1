"""The limits on a quantile of squared distances under a density, from its mean, its width and its narrowest metrics."""

from __future__ import annotations

import math

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.metrics.gaussian._moment_matching import largest_deviation
from evenhand.metrics.guess_bounds import Limits
from evenhand.metrics.version_space.constraints import weighted_quantiles
from evenhand.metrics.version_space.density import Density

ROUNDING = 1e-6  # Shares of the mean are lowered by this much of themselves: eigenvalues have rounding errors.


def quantile_limits(density: Density, q: float, set_back: float) -> Limits:
    """The limits on what is played: the root of the q-quantile Q of a squared distance, less the set-back.

    With mean M and deviation s, by Cantelli's inequality, M - s sqrt((1 - q) / q) <= Q <= M + s sqrt(q / (1 - q)). And
    if all metrics but a mass below q are at least a share c of the mean metric in every direction, Q >= c M.
    """
    least = 1.0 / len(density.points)
    q_below = max(q - least, least)  # a quantile of N points may be that of one point fewer
    shares = weighted_quantiles(density.least_shares[:, None], density.weights, q_below)
    share = max(float(shares[0]), 0.0) * (1.0 - ROUNDING)
    drop = math.sqrt(set_back)
    return Limits(
        widest=largest_deviation(_covariance(density)),
        known=0.0,
        drop=drop,
        near=drop**2 / share if share > 0.0 else math.inf,
        equal=math.inf,
        at_zero=math.sqrt(q / (1.0 - q)),
        least_share=share,
        untruncated=math.sqrt((1.0 - q_below) / q_below),
    )


def _covariance(density: Density) -> Floats:
    """The covariance of the density, (m, m)."""
    scaled = (density.points - density.mean) * np.sqrt(density.weights)[:, None]
    return scaled.T @ scaled
