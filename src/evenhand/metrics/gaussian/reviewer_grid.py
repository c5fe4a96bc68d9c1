"""The grid on which a reviewer is learned: error rates, and widths of the threshold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand.metrics.gaussian.tuning import DEFAULT, BayesPointTuning


@dataclass(frozen=True, eq=False)
class ReviewerGrid:
    """Points (error rate, softness), and their prior.

    >>> len(ReviewerGrid.of(None, 0.0, 3).rates), len(ReviewerGrid.of(0.01, None, 3).widths)
    (28, 8)
    """

    rates: Floats
    """The error rate of each point, (g,)."""
    widths: Floats
    """The values that softness takes, ascending, (s,)."""
    width_of: Indices
    """Which of them each point has, (g,)."""
    log_prior: Floats
    """(g,)."""

    @classmethod
    def of(
        cls, error_rate: float | None, softness: float | None, n_unknowns: float, tuning: BayesPointTuning = DEFAULT
    ) -> ReviewerGrid:
        """The grid for these settings, None is learned, and this number of unknowns of the metric.

        Who is wrong more often than right is ignored, however soft; so those rates stand once, with the least softness.
        """
        rates, log_prior = rate_prior(tuning) if error_rate is None else (np.array([error_rate]), np.zeros(1))
        widths, log_width = width_prior(n_unknowns, tuning) if softness is None else (np.array([softness]), np.zeros(1))
        honest = rates < 0.5
        points = [(i, j) for j in range(len(widths)) for i in range(len(rates)) if honest[i] or j == 0]
        rate_of, width_of = np.array(points).T
        return cls(rates[rate_of], widths, width_of, log_prior[rate_of] + log_width[width_of])

    @cached_property
    def softness(self) -> Floats:
        """The softness of each point, (g,)."""
        return self.widths[self.width_of]


def rate_prior(tuning: BayesPointTuning = DEFAULT) -> tuple[Floats, Floats]:
    """The grid of error rates and the log of its prior, each (g,)."""
    grid = np.array([*tuning.honest_rates, *tuning.misleading_rates])
    prior = np.exp(-np.minimum(grid, 0.5) / tuning.usual_rate)
    return grid, np.log(np.where(grid <= 0.5, prior, tuning.misleading_prior * prior))


def width_prior(n_unknowns: float, tuning: BayesPointTuning = DEFAULT) -> tuple[Floats, Floats]:
    """The grid of softness and the log of its prior, each (s,): a sharp threshold, unless a soft one is much better."""
    widths = np.array([0.0, *tuning.soft_widths])
    return widths, np.where(widths > 0.0, -tuning.soft_margin * n_unknowns, 0.0)
