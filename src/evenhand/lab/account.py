"""Account: what a run cost, in reward and in fairness, round by round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evenhand.auditors import Arrival, Truth
from evenhand.lab.flagged_rounds import FlaggedRounds
from evenhand.lab.score import Score, score
from evenhand.records.decision import Decision

Floats = NDArray[np.float64]


class Account:
    """Regret to the best fair policy and fairness loss at one epsilon, kept by somebody who knows the truth.

    regret: <r-bar, p*> - <r-bar, p> of each round. unfair_pairs: pairs whose gap exceeds their distance by more than
    epsilon, each round; their sum is the paper's FairnessLoss(epsilon). flagged_pairs: the same for any excess at all.
    What the reviewers said of it, true or not, counts in flagged_rounds_by_reviewer alone.
    """

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon
        self._rows: list[Score] = []
        self._flagged = FlaggedRounds()

    def add(self, decision: Decision, expected_rewards: Floats, truth: Truth, reviews: Sequence[Arrival] = ()) -> None:
        """Enter one decision, given its candidates' expected rewards (k,), and the reviews that then came in."""
        self._rows.append(score(decision, expected_rewards, truth, self.epsilon))
        self._flagged.add(reviews)

    @property
    def rounds(self) -> int:
        """How many rounds were entered."""
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
        """Rounds that a reviewer flagged, as she answered: a pair with unequal odds, or one bit that says so."""
        return self._flagged.count

    def _column(self, index: int) -> Floats:
        return np.array([row[index] for row in self._rows], dtype=np.float64)
