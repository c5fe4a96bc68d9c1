"""What one decision cost, in reward and in fairness, by somebody who knows the truth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.allocation import fair_distribution
from evenhand.auditors import Truth
from evenhand.auditors.gaps import gaps
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision


class Score(NamedTuple):
    """One round: regret <r-bar, p*> - <r-bar, p>, expected reward, pairs unfair beyond epsilon, and unfair at all."""

    regret: float
    reward: float
    unfair: int
    flagged: int


def score(decision: Decision, expected_rewards: NDArray[np.float64], truth: Truth, epsilon: float) -> Score:
    """The score of one decision, given its candidates' expected rewards (k,) and who knows what was unfair."""
    excess = truth.excess(decision)
    # The distances of this decision's round, which a truth that moves knows by the decision, not by the contexts.
    distances = np.maximum(gaps(decision) - excess, 0.0)
    best = fair_distribution(expected_rewards, distances, decision.capacity)
    reward = float(expected_rewards @ decision.probabilities)
    excess = np.triu(excess, 1)
    unfair = int(np.sum(excess > max(epsilon, PROBABILITY_TOLERANCE)))
    return Score(best.value - reward, reward, unfair, int(np.sum(excess > PROBABILITY_TOLERANCE)))
