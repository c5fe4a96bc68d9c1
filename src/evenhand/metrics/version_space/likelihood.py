"""How much a metric is worth that disagrees with some of a reviewer's answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand.metrics.gaussian.reviewer_grid import rate_prior


class Likelihood(Protocol):
    """The likelihood of all answers of a reviewer depends on their number and on how many of them are wrong."""

    def log_weights(self, n_answers: Indices, wrong: Indices) -> Floats:
        """The log-likelihood of n_answers (r, 1) with `wrong` (r, c) of them wrong, up to a constant, (r, c)."""


@dataclass(frozen=True)
class FixedRate:
    """Every answer is wrong with the same probability; a right one weighs 1, a wrong one rate / (1 - rate)."""

    rate: float
    steps: int = 1
    """How many half-spaces stand for one answer."""

    def log_weights(self, n_answers: Indices, wrong: Indices) -> Floats:
        """In proportion to the wrong ones."""
        return np.asarray(wrong / self.steps * math.log(self.rate / (1.0 - self.rate)))


@dataclass(frozen=True, eq=False)
class LearnedRates:
    """Each reviewer has a rate of their own, unknown: its likelihood is averaged over the prior.

    A reviewer who is wrong more often than right teaches nothing: beyond one half the likelihood is that of one half.
    """

    rates: Floats
    log_prior: Floats
    steps: int = 1
    """How many half-spaces stand for one answer."""

    def log_weights(self, n_answers: Indices, wrong: Indices) -> Floats:
        """The log of the average."""
        return log_sum(self.log_joint(np.minimum(self.rates, 0.5), n_answers, wrong))

    def log_joint(self, rates: Floats, n_answers: Indices, wrong: Indices) -> Floats:
        """The log of prior times likelihood at each rate: (r, c, g)."""
        are_wrong, are_right = (count[:, :, None] / self.steps for count in (wrong, n_answers - wrong))
        return np.asarray(self.log_prior + are_wrong * np.log(rates) + are_right * np.log1p(-rates))


def likelihood_of(error_rate: float | None, steps: int = 1) -> Likelihood:
    """With this error rate; None for rates to be learned. steps: how many half-spaces stand for one answer."""
    return LearnedRates(*rate_prior(), steps) if error_rate is None else FixedRate(error_rate, steps)


def log_sum(logs: Floats) -> Floats:
    """The log of the sum of exponentials along the last axis."""
    top = np.max(logs, axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.sum(np.exp(logs - top), axis=-1)))
