"""A bandit that ignores fairness: OFUL (Abbasi-Yadkori, Pal, Szepesvari 2011), the best by optimistic reward wins."""

from __future__ import annotations

import numpy as np

from evenhand.bandit import FairBandit
from evenhand.metrics import KnownMetric
from evenhand.randomness import Seed

NOBODY_ALIKE = 1e9
"""A metric under which any two different contexts are too far apart to bind."""


def ignore_fairness(n_features: int, *, capacity: int | None = 1, seed: Seed = None) -> FairBandit:
    """FairBandit under a metric so large that nobody is like anybody: reviews change nothing."""
    metric = KnownMetric(np.eye(n_features) * NOBODY_ALIKE)
    return FairBandit(n_features, capacity=capacity, metric=metric, seed=seed)
