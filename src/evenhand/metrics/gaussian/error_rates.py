"""Error rates of reviewers, learned while running: a posterior of each rate, on a grid, and a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand.metrics.gaussian.tuning import DEFAULT, BayesPointTuning


@dataclass(frozen=True)
class ReviewerReport:
    """What is known of one reviewer's errors."""

    name: str | None
    answers: int
    """Number of answers on pairs."""
    error_rate: float
    """Estimated share of wrong answers."""
    lower: float
    upper: float
    """The 95% credible interval of the error rate."""
    softness: float = 0.0
    """Estimated deviation of the reviewer's threshold, in distance; 0 for one that never moves."""
    deviation: float | None = None
    """How far the reviewer's weights are from those of the panel, in lengths of the panel's; None without a panel."""
    agreement: float | None = None
    """The share of the reviewer's verdicts that a model of the other reviewers predicts; None without a panel."""

    @property
    def misleads(self) -> bool:
        """Whether the reviewer is surely wrong more often than right; such answers count for nothing."""
        return self.lower >= 0.5


class ErrorRates:
    """The posterior of each reviewer's error rate; rows are reviewers, in the order of their first answer.

    The likelihood of an answer, eta + (1 - 2 eta) P with P the probability that it is right, is linear in eta: for the
    metric the whole posterior of eta counts as its mean. What an answer says about eta is computed again whenever the
    metric is known better (`reopen`): an answer on an uncertain pair says little at first, and much later. Answers that
    leave the window stay as they were last computed (`close`).

    >>> rates = ErrorRates(BayesPointTuning())
    >>> ada = rates.row("Ada")
    >>> rates.reopen(np.array([0.999, 0.001, 0.999, 0.999, 0.999]), np.array([ada] * 5))
    >>> bool(0.04 < rates.means()[ada] < 0.2)
    True
    """

    def __init__(self, tuning: BayesPointTuning) -> None:
        self.names: list[str | None] = []
        self.grid, self._log_prior = rate_prior(tuning)
        self._credible = tuning.credible
        self._closed = np.zeros((0, len(self.grid)))
        self._open = np.zeros((0, len(self.grid)))
        self._answers = np.zeros(0)

    def row(self, name: str | None, n_new: int = 0) -> int:
        """The row of a reviewer, a new one for a new reviewer; n_new answers are added to their count."""
        if name not in self.names:
            self.names = [*self.names, name]
            self._closed = np.vstack([self._closed, self._log_prior])
            self._open = np.vstack([self._open, np.zeros(len(self.grid))])
            self._answers = np.append(self._answers, 0.0)
        row = self.names.index(name)
        self._answers = self._answers + n_new * (np.arange(len(self.names)) == row)
        return row

    def means(self) -> Floats:
        """The posterior mean of every reviewer's error rate, (r,)."""
        return np.asarray(self._weights() @ self.grid)

    def reopen(self, chances: Floats, reviewers: Indices) -> None:
        """Replace the open answers: the probability (n,) that each is right, and the row of its reviewer."""
        self._open = self._log_likelihoods(chances, reviewers)

    def close(self, chances: Floats, reviewers: Indices) -> None:
        """Add answers that will not be computed again."""
        self._closed = self._closed + self._log_likelihoods(chances, reviewers)
        self._closed -= np.max(self._closed, axis=1, keepdims=True)

    def best_fit(self, chances: Floats, reviewers: Indices) -> float:
        """The log-likelihood of answers that are right with these probabilities, at each reviewer's best rate."""
        return float(np.sum(np.max(self._log_likelihoods(chances, reviewers), axis=1)))

    def forget(self, row: int) -> None:
        """Drop the closed answers of a reviewer: they were computed under a wrong metric."""
        self._closed = np.where((np.arange(len(self.names)) == row)[:, None], self._log_prior, self._closed)

    def report(self) -> dict[str | None, ReviewerReport]:
        """A report on every reviewer, by name."""
        return report_on_rates(self.names, self._answers, self._closed + self._open, self.grid, self._credible)

    def _weights(self) -> Floats:
        return _normalised(self._closed + self._open)

    def _log_likelihoods(self, chances: Floats, reviewers: Indices) -> Floats:
        """Of all answers of each reviewer, at each rate of the grid: (r, g)."""
        logs = np.log(self.grid + (1.0 - 2.0 * self.grid) * np.asarray(chances)[:, None])
        totals = np.zeros((len(self.names), len(self.grid)))
        np.add.at(totals, reviewers, logs)
        return totals

    # Saving. The keys are those of version 0.1.

    def state(self) -> dict[str, Any]:
        """Names and arrays."""
        return {"names": list(self.names), "settled": self._closed, "open": self._open, "answers": self._answers}

    @classmethod
    def from_state(cls, state: dict[str, Any], tuning: BayesPointTuning) -> Self:
        """The posteriors with this `state`, to the bit."""
        rates = cls(tuning)
        rates.names = list(state["names"])
        rates._closed, rates._open = state["settled"].copy(), state["open"].copy()
        rates._answers = state["answers"].copy()
        return rates


def rate_prior(tuning: BayesPointTuning = DEFAULT) -> tuple[Floats, Floats]:
    """The grid of error rates and the log of its prior, each (g,)."""
    grid = np.array([*tuning.honest_rates, *tuning.misleading_rates])
    prior = np.exp(-np.minimum(grid, 0.5) / tuning.usual_rate)
    return grid, np.log(np.where(grid <= 0.5, prior, tuning.misleading_prior * prior))


def report_on_rates(
    names: Sequence[str | None], answers: Floats | Indices, logs: Floats, grid: Floats, credible: float
) -> dict[str | None, ReviewerReport]:
    """A report on every reviewer, by name, from the log-posterior of their rates on the grid, (r, g).

    A rate between two points of the grid is taken for one of them, however many answers there are; so the interval
    reaches to the next points.
    """
    weights, ends = _normalised(logs), np.array([0.0, *grid, 1.0])
    cumulated, tail = np.cumsum(weights, axis=1), (1.0 - credible) / 2.0
    lower = ends[np.argmax(cumulated >= tail, axis=1)]
    upper = ends[np.argmax(cumulated >= 1.0 - tail, axis=1) + 2]
    rows = zip(names, answers, weights @ grid, lower, upper, strict=True)
    return {
        name: ReviewerReport(name, int(n), float(rate), float(low), float(high)) for name, n, rate, low, high in rows
    }


def _normalised(logs: Floats) -> Floats:
    weights = np.exp(logs - np.max(logs, axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(weights / np.sum(weights, axis=1, keepdims=True))
