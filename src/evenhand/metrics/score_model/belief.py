"""A belief about one reviewer: sets of parameters that fit, and the chance of a flag under them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.metrics.score_model.parameters import Parameters
from evenhand.metrics.score_model.threshold import ramps, rises

Chances = Callable[[Floats], Floats]
"""From gaps (n,) to probabilities (n,), for n pairs; never falling in the gap."""

BISECTIONS = 10
"""Gaps are found to within 1/1024."""


@dataclass(frozen=True, eq=False)
class ScoreBelief:
    """N equally likely sets of parameters; for a Gaussian belief one, the mean, with the covariance of its weights."""

    parameters: Parameters
    covariance: Floats | None = None
    """Of the weights, (d, d); None for draws from the posterior, which need none."""
    lapse_sd: float = 0.0
    """The standard deviation of the logit of the lapse around each set."""

    def chances(self, differences: Floats, *, lapses: bool = False) -> Chances:
        """The probability of a flag on each pair, as a function of their gaps; with or without lapses."""
        means = differences @ self.parameters.weights
        heights, share = rises(self.parameters.log_rises), self.parameters.lapses if lapses else 0.0
        deviations: Floats | float = 1.0
        if self.covariance is not None:
            variances = np.einsum("ij,ij->i", differences @ self.covariance, differences)
            deviations = np.sqrt(1.0 + np.maximum(variances, 0.0))[:, None]

        def at(gaps: Floats) -> Floats:
            from scipy.special import ndtr  # takes longer to load than a first decision may take

            thresholds = ramps(gaps) @ heights
            within = ndtr((thresholds - means) / deviations) - ndtr((-thresholds - means) / deviations)
            return np.asarray(np.mean(0.5 * share + (1.0 - share) * within, axis=1))

        return at

    def mean_weights(self) -> Floats:
        """The mean of the weights, all signs turned to one side, (d,)."""
        return np.asarray(aligned(self.parameters.weights.T).mean(axis=0))

    def state(self) -> dict[str, Any]:
        """The arrays."""
        return {"parameters": self.parameters.table, "covariance": self.covariance, "lapse_sd": self.lapse_sd}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The belief with this `state`."""
        covariance = state["covariance"]
        copy = None if covariance is None else covariance.copy()
        return cls(Parameters(state["parameters"].copy()), copy, float(state["lapse_sd"]))


def widest_gaps(chances: Chances, n: int, probability: float) -> Floats:
    """The widest gap of each of n pairs, up to 1, at which a flag is no likelier than `probability`, (n,)."""
    low, high = np.zeros(n), np.ones(n)
    at_most = chances(high) <= probability
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        fits = chances(middle) <= probability
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return np.where(at_most, 1.0, low)


def aligned(weights: Floats) -> Floats:
    """Rows of weights (r, d) with signs such that all point to one side: w and -w say the same of pairs."""
    from evenhand._internal.factorisations import eigh

    direction = eigh(weights.T @ weights).vectors[:, -1]
    direction = direction * (1.0 if direction[np.argmax(np.abs(direction))] > 0.0 else -1.0)
    return np.asarray(weights * np.where(weights @ direction < 0.0, -1.0, 1.0)[:, None])
