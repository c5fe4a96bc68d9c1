"""Error rates and softness of reviewers, learned while running: a posterior of both, on a grid, and a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand.metrics.gaussian.reviewer_grid import ReviewerGrid
from evenhand.metrics.gaussian.tuning import BayesPointTuning

TINY = 1e-300  # An answer that cannot be is taken for one that hardly can: its logarithm is finite.


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
    softness_lower: float = 0.0
    softness_upper: float = 0.0
    """The 95% credible interval of the softness."""
    deviation: float | None = None
    """How far the reviewer's weights are from those of the panel, in lengths of the panel's; None without a panel."""
    agreement: float | None = None
    """The share of the reviewer's verdicts that a model of the other reviewers predicts; None without a panel."""

    @property
    def misleads(self) -> bool:
        """Whether the reviewer is surely wrong more often than right; such answers count for nothing."""
        return self.lower >= 0.5


@dataclass(frozen=True, eq=False)
class GridPosterior:
    """A posterior of each reviewer on a grid, and what follows from it: computed when asked for, and once."""

    grid: ReviewerGrid
    logs: Floats
    """The log-posterior of each reviewer at each point, (r, g), up to a constant."""
    credible: float
    """The share of the posterior within an interval."""

    @cached_property
    def means(self) -> Floats:
        """The mean of every reviewer's error rate, (r,)."""
        return np.asarray(self._weights @ self.grid.rates)

    @cached_property
    def softness(self) -> Floats:
        """The mean of every reviewer's softness, (r,)."""
        return np.asarray(self._weights @ self.grid.softness)

    @cached_property
    def _weights(self) -> Floats:
        return _normalised(self.logs)

    @cached_property
    def of_widths(self) -> Floats:
        """The log-posterior of every reviewer's softness, (r, s)."""
        return _marginal(self.logs, self.grid.softness, self.grid.widths)

    @cached_property
    def rate_intervals(self) -> tuple[Floats, Floats, Floats]:
        """The mean of every reviewer's error rate, and the ends of its interval, each (r,)."""
        rates = np.unique(self.grid.rates)
        return intervals_of_rates(_marginal(self.logs, self.grid.rates, rates), rates, self.credible)

    @cached_property
    def softness_ends(self) -> tuple[Floats, Floats]:
        """The ends of the interval of every reviewer's softness, each (r,)."""
        widths = self.grid.widths
        return _credible_ends(_normalised(self.of_widths), np.array([widths[0], *widths, widths[-1]]), self.credible)


class ErrorRates:
    """The posterior of each reviewer's error rate and softness; rows are reviewers, in the order of their first answer.

    The likelihood of an answer, eta + (1 - 2 eta) P with P the probability that it is right, is linear in eta: for the
    metric the whole posterior of eta counts as its mean. What an answer says about eta is computed again whenever the
    metric is known better (`reopen`): an answer on an uncertain pair says little at first, and much later. Answers that
    leave the window stay as they were last computed (`close`).

    Softness changes P, the more the nearer the gap is to the distance. So wrong answers far from the threshold count as
    errors, and those near it as softness. `chances` are P at each softness of the grid, (s, n), or (n,) for only one.

    >>> rates = ErrorRates(BayesPointTuning())
    >>> ada = rates.row("Ada")
    >>> rates.reopen(np.array([0.999, 0.001, 0.999, 0.999, 0.999]), np.array([ada] * 5))
    >>> bool(0.04 < rates.means()[ada] < 0.2)
    True
    """

    def __init__(self, tuning: BayesPointTuning, grid: ReviewerGrid | None = None) -> None:
        self.names: list[str | None] = []
        self.grid = ReviewerGrid.of(None, 0.0, 0, tuning) if grid is None else grid
        self._credible = tuning.credible
        self._set(np.zeros((0, len(self.grid.rates))), np.zeros((0, len(self.grid.rates))))
        self._answers = np.zeros(0)

    def _set(self, closed: Floats, open: Floats) -> None:
        """Take these log-likelihoods of closed answers, with the prior, and of open ones, each (r, g)."""
        self._closed, self._open = closed, open
        self._posterior = GridPosterior(self.grid, closed + open, self._credible)

    def row(self, name: str | None, n_new: int = 0) -> int:
        """The row of a reviewer, a new one for a new reviewer; n_new answers are added to their count."""
        if name not in self.names:
            self.names = [*self.names, name]
            none = np.zeros(len(self.grid.rates))
            self._set(np.vstack([self._closed, self.grid.log_prior]), np.vstack([self._open, none]))
            self._answers = np.append(self._answers, 0.0)
        row = self.names.index(name)
        self._answers = self._answers + n_new * (np.arange(len(self.names)) == row)
        return row

    def means(self) -> Floats:
        """The posterior mean of every reviewer's error rate, (r,)."""
        return self._posterior.means

    def softness(self) -> Floats:
        """The posterior mean of every reviewer's softness, (r,)."""
        return self._posterior.softness

    def means_by_width(self) -> Floats:
        """The posterior mean of every reviewer's error rate given each softness of the grid, (s, r)."""
        logs, of = self._posterior.logs, self.grid.width_of
        each = [_normalised(logs[:, of == i]) @ self.grid.rates[of == i] for i in range(len(self.grid.widths))]
        return np.stack(each)

    def may_be_best(self, margin: float) -> Mask:
        """Which values of softness have a log-posterior within `margin` of the best, for some reviewer, (s,)."""
        logs = self._posterior.of_widths
        return np.asarray(np.any(logs >= np.max(logs, axis=1, keepdims=True) - margin, axis=0))

    def usual_softness(self) -> float:
        """The softness to expect of the next answer: that of reviewers who do not mislead, by number of answers."""
        weights = self._answers * (self.means() <= 0.5)
        return math.sqrt(float(weights @ self.softness() ** 2) / max(float(np.sum(weights)), 1.0))

    def usual_rate(self) -> float:
        """The mean error rate of an answer so far."""
        return float(self._answers @ np.minimum(self.means(), 0.5)) / max(float(np.sum(self._answers)), 1.0)

    def reopen(self, chances: Floats, reviewers: Indices) -> None:
        """Replace the open answers: the probability that each is right, and the row of its reviewer, (n,)."""
        self._set(self._closed, self._log_likelihoods(chances, reviewers))

    def close(self, chances: Floats, reviewers: Indices) -> None:
        """Add answers that will not be computed again."""
        closed = self._closed + self._log_likelihoods(chances, reviewers)
        self._set(closed - np.max(closed, axis=1, keepdims=True), self._open)

    def best_fit(self, chances: Floats, reviewers: Indices) -> float:
        """The log-likelihood of answers that are right with these probabilities, at each reviewer's best rate."""
        return float(np.sum(np.max(self._log_likelihoods(chances, reviewers), axis=1)))

    def forget(self, row: int) -> None:
        """Drop the closed answers of a reviewer: they were computed under a wrong metric."""
        own = (np.arange(len(self.names)) == row)[:, None]
        self._set(np.where(own, self.grid.log_prior, self._closed), self._open)

    def report(self) -> dict[str | None, ReviewerReport]:
        """A report on every reviewer, by name."""
        posterior = self._posterior
        columns = (*posterior.rate_intervals, posterior.softness, *posterior.softness_ends)
        rows = zip(self.names, self._answers.tolist(), *(column.tolist() for column in columns), strict=True)
        return {name: ReviewerReport(name, int(n), *numbers) for name, n, *numbers in rows}

    def _log_likelihoods(self, chances: Floats, reviewers: Indices) -> Floats:
        """Of all answers of each reviewer, at each point of the grid: (r, g)."""
        rates, logs = self.grid.rates[:, None], np.atleast_2d(chances)[self.grid.width_of]
        logs *= 1.0 - 2.0 * rates
        logs += rates
        np.log(np.maximum(logs, TINY, out=logs), out=logs)
        totals = [np.bincount(reviewers, weights=point, minlength=len(self.names)) for point in logs]
        return np.stack(totals, axis=1)

    # Saving. The keys are those of version 0.1.

    def state(self) -> dict[str, Any]:
        """Names and arrays."""
        return {"names": list(self.names), "settled": self._closed, "open": self._open, "answers": self._answers}

    @classmethod
    def from_state(cls, state: dict[str, Any], tuning: BayesPointTuning, grid: ReviewerGrid | None = None) -> Self:
        """The posteriors with this `state`, to the bit."""
        rates = cls(tuning, grid)
        rates.names = list(state["names"])
        rates._set(state["settled"].copy(), state["open"].copy())
        rates._answers = state["answers"].copy()
        return rates


def report_on_rates(
    names: Sequence[str | None], answers: Floats | Indices, logs: Floats, grid: Floats, credible: float
) -> dict[str | None, ReviewerReport]:
    """A report on every reviewer, by name, from the log-posterior of their rates on the grid, (r, g)."""
    rows = zip(names, answers, *intervals_of_rates(logs, grid, credible), strict=True)
    return {
        name: ReviewerReport(name, int(n), float(rate), float(low), float(high)) for name, n, rate, low, high in rows
    }


def intervals_of_rates(logs: Floats, grid: Floats, credible: float) -> tuple[Floats, Floats, Floats]:
    """The mean of every reviewer's rate and the ends of its interval, each (r,), from its log-posterior, (r, g).

    A rate between two points of the grid is taken for one of them, however many answers there are; so the interval
    reaches to the next points.
    """
    weights = _normalised(logs)
    ends = np.array([0.0, *grid, 1.0]) if len(grid) > 1 else np.repeat(grid, 3)  # a rate that is given is certain
    return np.asarray(weights @ grid), *_credible_ends(weights, ends, credible)


def _credible_ends(weights: Floats, ends: Floats, credible: float) -> tuple[Floats, Floats]:
    """The credible interval of each row of weights (r, g): ends are the points of the grid, and one beyond each end."""
    cumulated, tail = np.cumsum(weights, axis=1), (1.0 - credible) / 2.0
    lower = ends[np.argmax(cumulated >= tail, axis=1)]
    return lower, ends[np.argmax(cumulated >= 1.0 - tail, axis=1) + 2]


def _marginal(logs: Floats, values: Floats, points: Floats) -> Floats:
    """The log-posterior (r, p) of one coordinate at each of its points, from that of the grid (r, g)."""
    if len(points) == logs.shape[1]:
        return logs
    each = [np.logaddexp.reduce(logs[:, values == point], axis=1) for point in points]
    return np.stack(each, axis=1)


def _normalised(logs: Floats) -> Floats:
    weights = np.exp(logs - np.max(logs, axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(weights / np.sum(weights, axis=1, keepdims=True))
