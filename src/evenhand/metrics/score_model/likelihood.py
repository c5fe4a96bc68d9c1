"""The likelihood of answers under the score model, its gradient and its Fisher information.

The difference of two scores is w.z + e, z = x - y, e ~ N(0, 1): the residual sets the unit. An answer says that it lies
in an interval (A, B) whose ends are thresholds of gaps, or outside. With probability l (a lapse) an answer is random:

    P(answer) = l c + (1 - l) (Phi(B - w.z) - Phi(A - w.z)),   c the chance of the answer at random.
"""

from __future__ import annotations

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.metrics.score_model.answers import ScoreAnswers
from evenhand.metrics.score_model.parameters import Parameters
from evenhand.metrics.score_model.threshold import MAX_LOG_RISE, ramps, rises

LEAST = 1e-9
"""Probabilities of answers are taken to be no smaller; nor is what is left of one."""

ROOT_2_PI = float(np.sqrt(2.0 * np.pi))


class ScoreLikelihood:
    """The likelihood of one reviewer's answers, for N sets of parameters at once."""

    def __init__(self, answers: ScoreAnswers) -> None:
        self._answers = answers
        self._lower = _Cuts(answers.lower)
        self._upper = _Cuts(answers.upper)
        self._sides = np.where(answers.inside, 1.0, -1.0)[:, None]
        self._outside = np.where(answers.inside, 0.0, 1.0)[:, None]
        # Both ends minus the mean as linear functions of rises and weights: one product each.
        self._upper_scores = np.hstack([self._upper.ramps, -answers.differences])
        self._lower_scores = np.hstack([self._lower.ramps, -answers.differences])
        self._above, self._below = self._upper.beyond, self._lower.beyond

    def __len__(self) -> int:
        return len(self._answers)

    def chances(self, parameters: Parameters) -> Floats:
        """The probability of each answer, (n, N)."""
        within = self._within(parameters)
        random = self._answers.by_chance[:, None]
        lapses = parameters.lapses
        return np.clip(lapses * random + (1.0 - lapses) * within, LEAST, 1.0 - LEAST)

    def logs(self, parameters: Parameters) -> Floats:
        """The log-likelihood of all answers, (N,)."""
        return np.asarray(self._answers.shares @ np.log(self.chances(parameters)))

    def _within(self, parameters: Parameters) -> Floats:
        """The probability of each answer without lapses, (n, N)."""
        from scipy.special import ndtr  # takes longer to load than a first decision may take

        columns = np.concatenate([rises(parameters.log_rises), parameters.weights])
        between = ndtr(self._upper_scores @ columns + self._above) - ndtr(self._lower_scores @ columns + self._below)
        return np.asarray(self._outside + self._sides * between)

    def slopes(self, parameters: Parameters) -> tuple[Floats, Floats]:
        """The probabilities of the answers (n,) and their derivatives (n, d + 9), for one set of parameters."""
        heights, lapse = rises(parameters.log_rises), parameters.lapses
        means = self._answers.differences @ parameters.weights
        upper = _density(self._upper.at(heights) - means)
        lower = _density(self._lower.at(heights) - means)
        kept = self._sides * (1.0 - lapse)
        moving = np.where(parameters.log_rises < MAX_LOG_RISE, heights, 0.0).T
        by_weights = kept * (lower - upper) * self._answers.differences
        by_rises = kept * (upper * self._upper.ramps - lower * self._lower.ramps) * moving
        by_lapse = (self._answers.by_chance[:, None] - self._within(parameters)) * lapse * (1.0 - lapse)
        return self.chances(parameters)[:, 0], np.hstack([by_weights, by_rises, by_lapse])

    def gradient(self, parameters: Parameters) -> tuple[float, Floats]:
        """The log-likelihood of one set of parameters, and its gradient (d + 9,)."""
        chances, slopes = self.slopes(parameters)
        shares = self._answers.shares
        inner = (chances > LEAST) & (chances < 1.0 - LEAST)
        return float(shares @ np.log(chances)), np.asarray((shares * inner / chances) @ slopes)

    def information(self, parameters: Parameters) -> Floats:
        """The Fisher information of answers to the same questions, (d + 9, d + 9), positive semidefinite."""
        chances, slopes = self.slopes(parameters)
        weights = self._answers.shares / (chances * (1.0 - chances))
        return np.asarray((slopes * weights[:, None]).T @ slopes)


class _Cuts:
    """Ends of intervals: signed gaps (n,) as functions of the rises of the threshold."""

    def __init__(self, signed_gaps: Floats) -> None:
        finite = np.isfinite(signed_gaps)
        self.ramps = np.where(finite[:, None], np.sign(signed_gaps)[:, None] * ramps(np.abs(signed_gaps)), 0.0)
        self.beyond = 0.0 if finite.all() else np.where(finite, 0.0, signed_gaps)[:, None]

    def at(self, heights: Floats) -> Floats:
        """The ends for each set of rises: (8, N) -> (n, N)."""
        return np.asarray(self.ramps @ heights + self.beyond)


def _density(score: Floats) -> Floats:
    return np.asarray(np.exp(-0.5 * score * score) / ROOT_2_PI)
