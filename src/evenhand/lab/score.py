"""What one decision cost, in reward and in fairness, by somebody who knows the truth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.allocation import fair_distribution
from evenhand.auditors import MahalanobisAuditor
from evenhand.decision import ODDS_TOLERANCE, Decision


class Score(NamedTuple):
    """One round: regret <r-bar, p*> - <r-bar, p>, expected reward, pairs unfair beyond epsilon, and unfair at all."""

    regret: float
    reward: float
    unfair: int
    flagged: int


def score(
    decision: Decision, expected_rewards: NDArray[np.float64], auditor: MahalanobisAuditor, epsilon: float
) -> Score:
    """The score of one decision, given its candidates' expected rewards (k,)."""
    best = fair_distribution(expected_rewards, auditor.distances(decision.contexts), decision.capacity)
    reward = float(expected_rewards @ decision.probabilities)
    excess = np.triu(auditor.excess(decision), 1)
    unfair = int(np.sum(excess > max(epsilon, ODDS_TOLERANCE)))
    return Score(best.value - reward, reward, unfair, int(np.sum(excess > ODDS_TOLERANCE)))
