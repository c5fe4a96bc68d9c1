"""Priors of a reviewer's parameters: Gaussian, with an unknown scale of the weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.factorisations import inverse_of_lower
from evenhand.metrics.score_model.parameters import N_OTHERS, Parameters
from evenhand.metrics.score_model.threshold import N_RAMPS
from evenhand.metrics.score_model.tuning import ScoreTuning


@dataclass(frozen=True, eq=False)
class ScorePrior:
    """w = centre + t R u, the others = centre + sd u, with u standard normal and log t ~ N(scale, scale_sd^2).

    Points are written in these coordinates: u and, as the last one, (log t - scale) / scale_sd, (d + 10, N).
    """

    centre: Floats
    """(d + 9,)."""
    root: Floats
    """R, (d, d), lower triangular."""
    sds: Floats
    """The standard deviations of all but the weights, (9,)."""
    scale: float
    scale_sd: float

    @classmethod
    def usual(cls, n_features: int, tuning: ScoreTuning) -> ScorePrior:
        """The prior of a reviewer nothing is known of."""
        rise = math.log(tuning.full_threshold / N_RAMPS + 0.02)
        logit = math.log(tuning.usual_lapse / (1.0 - tuning.usual_lapse))
        centre = np.concatenate([np.zeros(n_features), np.full(N_RAMPS, rise), [logit]])
        sds = np.append(np.full(N_RAMPS, tuning.ramp_sd), tuning.lapse_sd)
        return cls(centre, np.eye(n_features), sds, tuning.log_weight_scale, tuning.weight_scale_sd)

    @property
    def n_coordinates(self) -> int:
        """d + 10."""
        return len(self.centre) + 1

    def parameters(self, points: Floats) -> Parameters:
        """The parameters at these points, (d + 10, N)."""
        d = len(self.root)
        weights = np.exp(self.log_scales(points)) * (self.root @ points[:d])
        return Parameters(self.centre[:, None] + np.vstack([weights, self.sds[:, None] * points[d:-1]]))

    def log_scales(self, points: Floats) -> Floats:
        """log t, (N,)."""
        return np.asarray(self.scale + self.scale_sd * points[-1])

    def points(self, parameters: Parameters, log_scales: Floats) -> Floats:
        """Where parameters with these scales lie, (d + 10, N)."""
        moved = parameters.table - self.centre[:, None]
        d = len(self.root)
        weights = inverse_of_lower(self.root) @ moved[:d] / np.exp(log_scales)
        return np.vstack([weights, moved[d:] / self.sds[:, None], (log_scales - self.scale) / self.scale_sd])

    def jacobian(self, log_scale: float) -> Floats:
        """The derivatives of the parameters by the coordinates but the last one, (d + 9, d + 9)."""
        d = len(self.root)
        table = np.zeros((d + N_OTHERS, d + N_OTHERS))
        table[:d, :d] = math.exp(log_scale) * self.root
        table[np.arange(d, d + N_OTHERS), np.arange(d, d + N_OTHERS)] = self.sds
        return table
