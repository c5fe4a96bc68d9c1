"""Account: what a run cost, in reward and in fairness, round by round."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.arrays import Floats
from evenhand.allocation import fair_distribution
from evenhand.auditors import Arrival, Truth
from evenhand.auditors.pairs import gaps, unequal_pairs
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Review


class Score(NamedTuple):
    """One round: regret <r-bar, p*> - <r-bar, p>, expected reward, pairs unfair beyond epsilon, and unfair at all."""

    regret: float
    reward: float
    unfair: int
    flagged: int


def score(decision: Decision, expected_rewards: Floats, truth: Truth, epsilon: float) -> Score:
    """The score of one decision, by its candidates' expected rewards (k,) and the true distances."""
    excess = truth.excess(decision)
    # The distances of this decision's round: a moving truth knows them by the decision, not by the contexts.
    distances = np.maximum(gaps(decision) - excess, 0.0)
    best = fair_distribution(expected_rewards, distances, decision.capacity)
    reward = float(expected_rewards @ decision.probabilities)
    excess = np.triu(excess, 1)
    unfair = int(np.sum(excess > max(epsilon, PROBABILITY_TOLERANCE)))
    return Score(best.value - reward, reward, unfair, int(np.sum(excess > PROBABILITY_TOLERANCE)))


def is_flag(decision: Decision, review: Review) -> bool:
    """Whether `review` flags something in `decision`; a flag on a pair with equal probabilities does not count.

    >>> decision = Decision("", 0, np.eye(3), np.array([0.6, 0.2, 0.2]), (0,), 1, np.zeros(3))
    >>> [is_flag(decision, Review.complete(unfair=[pair])) for pair in ((0, 1), (1, 2))]
    [True, False]
    """
    unequal = unequal_pairs(decision)
    return bool(review.any_unfair and unequal.any()) or any(bool(unequal[pair]) for pair in review.unfair)


class FlaggedRounds:
    """Counts the rounds flagged by at least one review, right or wrong; late reviews count for their own round.

    A round counts once, when its first flag arrives. One bit of memory a round.

    >>> decision = Decision("", 7, np.eye(2), np.array([0.9, 0.1]), (0,), 1, np.zeros(2))
    >>> flagged = FlaggedRounds()
    >>> flagged.add([(decision, Review.one_bit(any_unfair=True)), (decision, Review.complete(unfair=[(0, 1)]))])
    >>> flagged.count
    1
    """

    def __init__(self) -> None:
        self.count = 0
        self._bits = bytearray()

    def add(self, reviews: Iterable[Arrival]) -> None:
        """Count reviews as they arrive, each with the decision it is about."""
        for decision, review in reviews:
            if is_flag(decision, review):
                self._mark(decision.round)

    def _mark(self, round: int) -> None:
        byte, bit = divmod(round, 8)
        self._bits.extend(bytes(max(0, byte + 1 - len(self._bits))))
        if not self._bits[byte] >> bit & 1:
            self._bits[byte] |= 1 << bit
            self.count += 1


class Account:
    """Regret to the best fair policy and fairness loss at one epsilon, by the truth.

    regret: <r-bar, p*> - <r-bar, p> of each round. unfair_pairs: pairs whose gap exceeds their distance by more than
    epsilon, each round; their sum is the paper's FairnessLoss(epsilon). flagged_pairs: the same for any excess. What
    reviewers flagged, rightly or not, counts only in flagged_rounds_by_reviewer.
    """

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon
        self._rows: list[Score] = []
        self._flagged = FlaggedRounds()

    def add(self, decision: Decision, expected_rewards: Floats, truth: Truth, reviews: Sequence[Arrival] = ()) -> None:
        """Add a decision, its candidates' expected rewards (k,), and the reviews that arrived after it."""
        self._rows.append(score(decision, expected_rewards, truth, self.epsilon))
        self._flagged.add(reviews)

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return len(self._rows)

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
        """Rounds that a reviewer flagged, by a pair with unequal probabilities or by one bit."""
        return self._flagged.count

    def _column(self, index: int) -> Floats:
        return np.array([row[index] for row in self._rows], dtype=np.float64)
