"""A bandit that is told the metric and has to learn only the rewards."""

from __future__ import annotations

from numpy.typing import ArrayLike

from evenhand._internal.randomness import Seed
from evenhand.bandit import FairBandit
from evenhand.metrics import KnownMetric
from evenhand.rewards import RewardModel


def told_metric(
    A: ArrayLike, *, capacity: int | None = 1, reward: RewardModel | None = None, seed: Seed = None
) -> FairBandit:
    """OFUL (Abbasi-Yadkori, Pal, Szepesvari 2011) under the fairness constraints of a known A (r, d).

    What FairBandit loses against this one is the price of not knowing the metric; what this one loses against
    `fair_optimum` is the price of not knowing the rewards. It is never unfair. The paper (Gillen, Jung, Kearns, Roth
    2018) splits its regret bound in the same two.

    >>> decision = told_metric([[0.2, 0.0]], seed=0).decide([[1.0, 0.0], [0.0, 0.0]])
    >>> round(decision.gap(0, 1), 9)
    0.2
    """
    metric = KnownMetric(A)
    return FairBandit(metric.n_features, capacity=capacity, metric=metric, reward=reward, seed=seed)
