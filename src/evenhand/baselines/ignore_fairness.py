"""A bandit that ignores fairness: OFUL (Abbasi-Yadkori, Pal, Szepesvari 2011), the best by optimistic reward wins."""

from __future__ import annotations

import numpy as np

from evenhand._internal.randomness import Seed
from evenhand.bandit import FairBandit
from evenhand.metrics import KnownMetric
from evenhand.metrics.features import MetricSpace
from evenhand.rewards import RewardModel

NOBODY_ALIKE = 1e9
"""A metric under which any two different contexts are too far apart to bind."""


def ignore_fairness(
    n_features: int, *, capacity: int | None = 1, reward: RewardModel | None = None, seed: Seed = None
) -> FairBandit:
    """FairBandit under a metric so large that nobody is like anybody: reviews change nothing.

    What is left is OFUL, also known as LinUCB (Li, Chu, Langford, Schapire 2010).

    >>> ignore_fairness(2, seed=0).decide([[1.0, 0.0], [0.1, 0.0]]).probabilities.tolist()
    [1.0, 0.0]
    """
    metric = KnownMetric(NOBODY_ALIKE * np.eye(MetricSpace(n_features).n_features))
    return FairBandit(n_features, capacity=capacity, metric=metric, reward=reward, seed=seed)
