"""A bandit whose metric somebody wrote down without asking anybody: the Euclidean one."""

from __future__ import annotations

import math

import numpy as np

from evenhand._internal.randomness import Seed
from evenhand.bandit import FairBandit
from evenhand.errors import InvalidInput
from evenhand.metrics import KnownMetric
from evenhand.metrics.features import MetricSpace
from evenhand.rewards import RewardModel

HALF = 0.5
"""The scale at which two candidates as different as contexts can be, at distance 2, may be treated as differently as
odds can be: by a gap of 1."""


def fixed_euclidean(
    n_features: int,
    *,
    scale: float = HALF,
    capacity: int | None = 1,
    reward: RewardModel | None = None,
    seed: Seed = None,
) -> FairBandit:
    """OFUL under d(x, y) = scale ||x - y||: individual fairness (Dwork et al. 2012) with a metric out of the air.

    Reviews change nothing. Where the scale is above the truth it is unfair for ever, where it is below it earns
    less for ever: both linear in the number of rounds. At `scale` 0 the odds are equal, from 1/2 on the most
    different candidates are free of each other.

    >>> decision = fixed_euclidean(2, scale=0.1, seed=0).decide([[1.0, 0.0], [0.0, 0.0]])
    >>> round(decision.gap(0, 1), 9)
    0.1
    """
    if isinstance(scale, bool) or not (math.isfinite(scale) and scale >= 0):
        raise InvalidInput(f"scale is {scale!r}; allowed is a finite number >= 0")
    metric = KnownMetric(scale * np.eye(MetricSpace(n_features).n_features))
    return FairBandit(n_features, capacity=capacity, metric=metric, reward=reward, seed=seed)
