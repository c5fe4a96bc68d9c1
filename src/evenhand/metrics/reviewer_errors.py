"""How often each reviewer is wrong: told, or learned while running."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.checks import is_number
from evenhand.errors import InvalidInput

Floats = NDArray[np.float64]

SOUND = (0.001, 0.003, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
UNSOUND = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.995)
RATES = np.array([*SOUND, *UNSOUND])
"""The error rates thought possible: also those of somebody who is wrong more often than right."""

ENDS = np.array([0.0, *RATES, 1.0])
"""What a reported rate may lie between. One that is on no point of the grid is taken for that of a neighbour, however
many answers there are; so an interval reaches to the next points."""

USUAL_RATE = 0.05
"""The scale of the exponential prior: most reviewers err in about one answer of twenty, or less."""

LIAR_PRIOR = 0.2
"""What the prior gives a rate above one half, as a share of what it gives one half."""

LOG_PRIOR = np.log(np.where(RATES <= 0.5, np.exp(-RATES / USUAL_RATE), LIAR_PRIOR * np.exp(-0.5 / USUAL_RATE)))
"""Of each rate."""

CREDIBLE = 0.95
"""The mass between the ends of a reported rate."""


@dataclass(frozen=True)
class ReviewerReport:
    """What is known of one reviewer."""

    name: str | None
    answers: int
    """How many of her answers on pairs were heard."""
    error_rate: float
    """How often she is wrong, as far as can be told."""
    lower: float
    upper: float
    """The ends it lies between with probability 0.95."""

    @property
    def misleads(self) -> bool:
        """Whether she is surely wrong more often than right; her answers then count for nothing."""
        return self.lower >= 0.5


def check_error_rate(error_rate: float | None, name: str = "error_rate") -> float | None:
    """`error_rate` itself if it is None or a number from 0 to below 0.5; `name` is what an error calls it."""
    if error_rate is None:
        return None
    if not is_number(error_rate) or not 0 <= error_rate < 0.5:
        raise InvalidInput(
            f"{name} is {error_rate!r}; allowed is a number from 0 to below 0.5, or None to learn it while running"
        )
    return float(error_rate)


class ReviewerErrors:
    """A belief about each reviewer's error rate, on the grid `RATES`; rows are reviewers, in the order they came.

    The likelihood of an answer, eta + (1 - 2 eta) P with P the chance of it being right, is linear in eta: in telling
    the metric the whole belief about eta counts as its mean. What an answer says about eta is told again whenever the
    metric is known better (`retold`): an answer on a pair that was in doubt when it was given says little then,
    and much later. Answers that are too old to be told again stay as they were last told (`settled`).

    >>> errors = ReviewerErrors()
    >>> who = errors.row("Ada")
    >>> errors.retold(np.array([0.999, 0.001, 0.999, 0.999, 0.999]), np.array([who] * 5))
    >>> 0.04 < errors.rate(who) < 0.2
    True
    """

    def __init__(self) -> None:
        self.names: list[str | None] = []
        self._settled = np.zeros((0, len(RATES)))
        self._open = np.zeros((0, len(RATES)))
        self._answers = np.zeros(0)

    def row(self, name: str | None) -> int:
        """The row of a reviewer, a new one if she was not heard before."""
        if name not in self.names:
            self.names = [*self.names, name]
            self._settled = np.vstack([self._settled, LOG_PRIOR])
            self._open = np.vstack([self._open, np.zeros(len(RATES))])
            self._answers = np.append(self._answers, 0.0)
        return self.names.index(name)

    def rates(self) -> Floats:
        """The mean error rate of every reviewer, (r,)."""
        return np.asarray(self._weights() @ RATES)

    def rate(self, row: int) -> float:
        """The mean error rate of one reviewer."""
        return float(self.rates()[row])

    def answered(self, row: int, n: int) -> None:
        """Count answers."""
        self._answers = self._answers + n * (np.arange(len(self.names)) == row)

    def retold(self, chances: Floats, reviewers: NDArray[np.int64]) -> None:
        """The chances (n,) that the answers still open are right, as the metric is believed now, and whose they are."""
        self._open = self._told(chances, reviewers)

    def settle(self, chances: Floats, reviewers: NDArray[np.int64]) -> None:
        """The same for answers that will not be told again."""
        self._settled = self._settled + self._told(chances, reviewers)
        self._settled -= np.max(self._settled, axis=1, keepdims=True)

    def best_fit(self, chances: Floats, reviewers: NDArray[np.int64]) -> float:
        """The log-likelihood of answers with these chances (n,) of being right, at each reviewer's best rate."""
        return float(np.sum(np.max(self._told(chances, reviewers), axis=1)))

    def forget(self, row: int) -> None:
        """Take back what a reviewer's answers said about her when they were settled: they were misunderstood."""
        self._settled = np.where((np.arange(len(self.names)) == row)[:, None], LOG_PRIOR, self._settled)

    def report(self) -> dict[str | None, ReviewerReport]:
        """What is known of everybody, by name."""
        shares = np.cumsum(self._weights(), axis=1)
        tail = (1.0 - CREDIBLE) / 2.0
        lower = ENDS[np.argmax(shares >= tail, axis=1)]
        upper = ENDS[np.argmax(shares >= 1.0 - tail, axis=1) + 2]
        rows = zip(self.names, self._answers, self.rates(), lower, upper, strict=True)
        return {
            name: ReviewerReport(name, int(answers), float(rate), float(low), float(high))
            for name, answers, rate, low, high in rows
        }

    def _weights(self) -> Floats:
        logs = self._settled + self._open
        weights = np.exp(logs - np.max(logs, axis=1, keepdims=True, initial=-np.inf))
        return np.asarray(weights / np.sum(weights, axis=1, keepdims=True))

    def _told(self, chances: Floats, reviewers: NDArray[np.int64]) -> Floats:
        logs = np.log(RATES + (1.0 - 2.0 * RATES) * np.asarray(chances)[:, None])
        totals = np.zeros((len(self.names), len(RATES)))
        np.add.at(totals, reviewers, logs)
        return totals

    # Saving.

    def state(self) -> dict[str, Any]:
        """Names and arrays."""
        return {"names": list(self.names), "settled": self._settled, "open": self._open, "answers": self._answers}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The same, to the bit."""
        errors = cls()
        errors.names = list(state["names"])
        errors._settled, errors._open = state["settled"].copy(), state["open"].copy()
        errors._answers = state["answers"].copy()
        return errors
