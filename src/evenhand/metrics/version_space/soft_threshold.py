"""Soft thresholds under a density: an answer near its threshold is right in part."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, Self

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.gaussian.error_rates import ErrorRates
from evenhand.metrics.gaussian.reviewer_grid import ReviewerGrid
from evenhand.metrics.gaussian.tuning import BayesPointTuning
from evenhand.metrics.verdicts import Verdicts
from evenhand.metrics.version_space.constraints import weighted_quantiles, weighted_sums
from evenhand.metrics.version_space.density import Density

STEPS = 4
"""Half-spaces that stand for one answer of a reviewer whose threshold may be soft."""
USUAL_RATE = 0.05
"""The error rate for which the steps are set where it is learned."""
GOLDEN = 0.6180339887498949  # The fractions of its multiples fill the unit interval evenly.


def ladder(softness: float, error_rate: float | None) -> Floats:
    """How far beyond the gap each step of an answer lies, in distance, (STEPS,); negative: short of it.

    A reviewer whose threshold wobbles by `softness` and who errs at the rate eta gives an answer that is wrong by
    z deviations with probability eta + (1 - 2 eta) Phi(-z). Its log falls from log(1 - eta) to log(eta); each step
    takes the same part of that, and lies where the log has fallen by half a part more than the steps before it took.

    >>> np.round(ladder(0.1, 0.01), 3).tolist()
    [-0.015, 0.095, 0.168, 0.241]
    """
    eta = USUAL_RATE if error_rate is None else error_rate
    parts = (np.arange(STEPS) + 0.5) / STEPS
    chances = ((1.0 - eta) * (eta / (1.0 - eta)) ** parts - eta) / (1.0 - 2.0 * eta)
    return np.array([-softness * NormalDist().inv_cdf(chance) for chance in chances])


def chance_exceeded(density: Density, normals: Floats, gaps: Floats, softness: float) -> Floats:
    """How likely each gap exceeds its distance plus noise of this deviation, (n,)."""
    if softness == 0.0:
        return density.of_values(
            normals, lambda squares, rows: weighted_sums(density.weights, squares < gaps[rows] ** 2)
        )
    from scipy.special import ndtr  # takes longer to load than a first decision may take

    def chances(squares: Floats, rows: slice) -> Floats:
        roots = np.sqrt(np.maximum(squares, 0.0))
        return weighted_sums(density.weights, ndtr((gaps[rows] - roots) / softness))

    return density.of_values(normals, chances)


def threshold_quantiles(density: Density, normals: Floats, quantile: float, softness: float) -> Floats:
    """The squared quantile of each distance plus noise of this deviation, (n,); zero if that is negative.

    Every point has noise of its own, the same for all pairs and as even as that of so many points can be.
    """
    if softness == 0.0:
        return density.quantiles(normals, quantile)
    shares = ((np.arange(len(density.points)) + 0.5) * GOLDEN) % 1.0
    noise = softness * np.array([NormalDist().inv_cdf(share) for share in shares.tolist()])

    def quantiles(squares: Floats, _: slice) -> Floats:
        roots = np.sqrt(np.maximum(squares, 0.0)) + noise[:, None]
        return np.asarray(np.maximum(weighted_quantiles(roots, density.weights, quantile), 0.0) ** 2)

    return density.of_values(normals, quantiles)


@dataclass(frozen=True, eq=False)
class Thresholds:
    """How soft the thresholds of reviewers are: a setting, or learned for each of them by name. Immutable.

    Learned by comparing each answer with its probability under the density, for every softness and every error rate of
    a grid: errors are as likely far from the threshold as near it, softness shows only near it.
    """

    error_rate: float | None
    softness: float | None
    learned: ErrorRates | None = None

    @classmethod
    def of(cls, error_rate: float | None, softness: float | None, n_unknowns: int) -> Self:
        """With these settings; None is learned."""
        tuning = BayesPointTuning()
        grid = ReviewerGrid.of(error_rate, None, n_unknowns, tuning)
        return cls(error_rate, softness, ErrorRates(tuning, grid) if softness is None else None)

    @cached_property
    def steps(self) -> int:
        """How many half-spaces stand for one answer."""
        return 1 if self.softness == 0.0 else STEPS

    def ladder_of(self, reviewer: str | None) -> Floats | None:
        """The steps of this reviewer's answers; None if their thresholds are sharp."""
        return None if self.softness == 0.0 else ladder(self.softness_of(reviewer), self.error_rate)

    def softness_of(self, reviewer: str | None) -> float:
        """The deviation of this reviewer's threshold, in distance."""
        if self.learned is None or reviewer not in self.learned.names:
            return self.usual
        return float(self.learned.softness()[self.learned.names.index(reviewer)])

    @cached_property
    def usual(self) -> float:
        """The softness to expect of the next answer."""
        return self.softness or 0.0 if self.learned is None else self.learned.usual_softness()

    def after(self, verdicts: Verdicts, density: Density, space: MetricSpace) -> Self:
        """The thresholds after these verdicts, not yet learned by the density."""
        if self.learned is None or not len(verdicts):
            return self
        learned, normals = copy.copy(self.learned), space.features(verdicts.pairs.differences)
        row = learned.row(verdicts.reviewer, n_new=len(verdicts))
        exceeded = np.array([chance_exceeded(density, normals, verdicts.gaps, s) for s in learned.grid.widths])
        learned.close(np.where(verdicts.unfair, exceeded, 1.0 - exceeded), np.full(len(verdicts), row))
        return replace(self, learned=learned)

    def state(self) -> dict[str, Any] | None:
        """What was learned, None if nothing is."""
        return None if self.learned is None else self.learned.state()

    def with_state(self, state: dict[str, Any] | None) -> Self:
        """With what was learned."""
        if self.learned is None or state is None:
            return self
        tuning = BayesPointTuning()
        return replace(self, learned=ErrorRates.from_state(state, tuning, self.learned.grid))
