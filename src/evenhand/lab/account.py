"""Account: what a run cost, in reward and in fairness, round by round."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.arrays import Floats
from evenhand.allocation import fair_distribution
from evenhand.auditors import Arrival, Truth
from evenhand.auditors.pairs import gaps, unequal_pairs
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Review

PER_OCTAVE = 4
"""Checkpoints per doubling of the round."""


def checkpoints(rounds: int) -> list[int]:
    """The rounds whose totals are kept: 1, about PER_OCTAVE in each doubling, and the last.

    >>> checkpoints(10)
    [1, 2, 3, 4, 5, 6, 7, 8, 10]
    """
    steps = math.ceil(PER_OCTAVE * math.log2(max(rounds, 1))) + 1
    found = {min(rounds, round(2.0 ** (step / PER_OCTAVE))) for step in range(steps)}
    return sorted(found | {rounds})


class RoundScore(NamedTuple):
    """One round: regret <r-bar, p*> - <r-bar, p>, expected reward, pairs unfair beyond epsilon, and unfair at all."""

    regret: float
    reward: float
    unfair: int
    flagged: int


def score(decision: Decision, expected_rewards: Floats, truth: Truth, epsilon: float) -> RoundScore:
    """The score of one decision, by its candidates' expected rewards (k,) and the true distances."""
    excess = truth.excess(decision)
    # The distances of this decision's round: a moving truth knows them by the decision, not by the contexts.
    distances = np.maximum(gaps(decision) - excess, 0.0)
    best = fair_distribution(expected_rewards, distances, decision.capacity)
    reward = float(expected_rewards @ decision.probabilities)
    excess = np.triu(excess, 1)
    unfair = int(np.sum(excess > max(epsilon, PROBABILITY_TOLERANCE)))
    return RoundScore(best.value - reward, reward, unfair, int(np.sum(excess > PROBABILITY_TOLERANCE)))


def is_flag(decision: Decision, review: Review) -> bool:
    """Whether `review` flags something in `decision`; a flag on a pair with equal probabilities does not count.

    >>> decision = Decision("", 0, np.eye(3), np.array([0.6, 0.2, 0.2]), (0,), 1, np.zeros(3))
    >>> [is_flag(decision, Review.complete(unfair=[pair])) for pair in ((0, 1), (1, 2))]
    [True, False]
    """
    unequal = unequal_pairs(decision)
    return bool(review.any_unfair and unequal.any()) or any(bool(unequal[pair]) for pair in review.unfair)


class Account:
    """Regret to the best fair policy and fairness loss at one epsilon, by the truth.

    regret: <r-bar, p*> - <r-bar, p> of each round. unfair_pairs: pairs whose gap exceeds their distance by more than
    epsilon, each round; their sum is the paper's FairnessLoss(epsilon). flagged_pairs: the same for any excess. What
    reviewers flagged, rightly or not, counts only in flagged_rounds_by_reviewer. It keeps five numbers a round, and no
    decision.
    """

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon
        self._rows = array("d")  # of each round its score, and the rounds flagged by reviewers so far
        self._flagged: set[int] = set()
        self.allowed = math.nan
        """The least number of flagged rounds in all that was promised at any time; not a number if none was."""

    def promised(self, flags_left: int | None) -> None:
        """Note how many more rounds can be flagged, as the policy says now."""
        if flags_left is not None:
            in_all = float(flags_left + len(self._flagged))
            self.allowed = in_all if math.isnan(self.allowed) else min(self.allowed, in_all)

    def add(self, decision: Decision, expected_rewards: Floats, truth: Truth, reviews: Sequence[Arrival] = ()) -> None:
        """Add a decision, its candidates' expected rewards (k,), and the reviews that arrived after it."""
        entry = score(decision, expected_rewards, truth, self.epsilon)
        self._flagged |= {about.round for about, review in reviews if is_flag(about, review)}
        self._rows.extend((*entry, len(self._flagged)))

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return len(self._rows) // 5

    @property
    def regret(self) -> Floats:
        """Regret of each round, (T,)."""
        return self._column(0)

    @property
    def reward(self) -> Floats:
        """Expected reward of each round, (T,)."""
        return self._column(1)

    @property
    def unfair_pairs(self) -> NDArray[np.int64]:
        """Pairs unfair by more than epsilon in each round, (T,)."""
        return self._column(2).astype(np.int64)

    @property
    def flagged_pairs(self) -> NDArray[np.int64]:
        """Pairs unfair by any amount in each round, (T,)."""
        return self._column(3).astype(np.int64)

    @property
    def unfair_rounds(self) -> int:
        """Rounds with at least one pair unfair by more than epsilon."""
        return int(np.sum(self.unfair_pairs > 0))

    @property
    def last_unfair_round(self) -> int | None:
        """The last such round, counted from 1; None if there was none."""
        found = np.flatnonzero(self.unfair_pairs)
        return int(found[-1]) + 1 if len(found) else None

    @property
    def flagged_rounds_by_reviewer(self) -> int:
        """Rounds that a review flagged, by a pair with unequal probabilities or by one bit; each counts once."""
        return len(self._flagged)

    def curve(self) -> dict[str, list[float]]:
        """The totals so far at each of the `checkpoints`, by column."""
        rounds, unfair = np.arange(1, self.rounds + 1), self.unfair_pairs > 0
        totals = {
            "round": rounds,
            "regret": np.cumsum(self.regret),
            "reward": np.cumsum(self.reward),
            "unfair_pairs": np.cumsum(self.unfair_pairs),
            "flagged_pairs": np.cumsum(self.flagged_pairs),
            "unfair_rounds": np.cumsum(unfair),
            "last_unfair_round": np.maximum.accumulate(np.where(unfair, rounds, 0)),
            "flagged_rounds_by_reviewer": self._column(4),
        }
        at = np.isin(rounds, checkpoints(self.rounds))
        return {name: total[at].astype(np.float64).tolist() for name, total in totals.items()}

    def _column(self, index: int) -> Floats:
        return np.array(self._rows).reshape(-1, 5)[:, index]
