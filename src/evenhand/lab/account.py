"""Account: what a run cost, in reward and in fairness, round by round."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand.auditors import MahalanobisAuditor
from evenhand.decision import Decision
from evenhand.lab.score import Score, score

Floats = NDArray[np.float64]


class Account:
    """Regret to the best fair policy and fairness loss at one epsilon, kept by somebody who knows the truth.

    regret: <r-bar, p*> - <r-bar, p> of each round. unfair_pairs: pairs whose gap exceeds their distance by more than
    epsilon, each round; their sum is the paper's FairnessLoss(epsilon). flagged_pairs: the same for any excess at all.
    """

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon
        self._rows: list[Score] = []

    def add(self, decision: Decision, expected_rewards: Floats, auditor: MahalanobisAuditor) -> None:
        """Enter one decision, given its candidates' expected rewards (k,)."""
        self._rows.append(score(decision, expected_rewards, auditor, self.epsilon))

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

    def _column(self, index: int) -> Floats:
        return np.array([row[index] for row in self._rows], dtype=np.float64)
