"""The best fair policy, which knows theta and the metric: what regret is measured against."""

from __future__ import annotations

from numpy.typing import ArrayLike

from evenhand._internal.randomness import Seed
from evenhand.bandit import FairBandit
from evenhand.metrics import KnownMetric
from evenhand.rewards import KnownReward


def fair_optimum(theta: ArrayLike, A: ArrayLike, *, capacity: int | None = 1, seed: Seed = None) -> FairBandit:
    """FairBandit that is told everything: theta (d,) and A (r, d).

    The paper's pi* (Gillen, Jung, Kearns, Roth 2018): in every round the best odds that the true distances allow.

    >>> fair_optimum([1.0], [[0.2]], seed=0).decide([[1.0], [0.0]]).probabilities.round(9).tolist()
    [0.6, 0.4]
    """
    reward = KnownReward(theta)
    return FairBandit(reward.n_features, capacity=capacity, metric=KnownMetric(A), reward=reward, seed=seed)
