"""The best fair policy, which knows theta and the metric: what regret is measured against."""

from __future__ import annotations

from numpy.typing import ArrayLike

from evenhand.bandit import FairBandit
from evenhand.metrics import KnownMetric
from evenhand.randomness import Seed
from evenhand.rewards import KnownReward


def fair_optimum(theta: ArrayLike, A: ArrayLike, *, capacity: int | None = 1, seed: Seed = None) -> FairBandit:
    """FairBandit that is told everything: theta (d,) and A (r, d)."""
    reward = KnownReward(theta)
    return FairBandit(reward.n_features, capacity=capacity, metric=KnownMetric(A), reward=reward, seed=seed)
