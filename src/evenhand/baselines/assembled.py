"""Baselines that are FairBandit with a fixed metric: they know it, assume one, or ignore fairness."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.checks import check_number
from evenhand._internal.randomness import Seed
from evenhand.bandit import FairBandit
from evenhand.metrics import KnownMetric
from evenhand.metrics.features import MetricSpace
from evenhand.rewards import KnownReward, RewardModel

HALF = 0.5
"""The scale at which the two most different contexts, at distance 2, may have the widest gap, 1."""

NOBODY_ALIKE = 1e9
"""A metric under which any two different contexts are too far apart to constrain each other."""


def fair_optimum(theta: ArrayLike, A: ArrayLike, *, capacity: int | None = 1, seed: Seed = None) -> FairBandit:
    """The best fair policy, which knows theta (d,) and A (r, d): what regret is measured against.

    The paper's pi* (Gillen, Jung, Kearns, Roth 2018): in every round the best probabilities under the true distances.

    >>> fair_optimum([1.0], [[0.2]], seed=0).decide([[1.0], [0.0]]).probabilities.round(9).tolist()
    [0.6, 0.4]
    """
    reward = KnownReward(theta)
    return FairBandit(reward.n_features, capacity=capacity, metric=KnownMetric(A), reward=reward, seed=seed)


def known_metric(
    A: ArrayLike, *, capacity: int | None = 1, reward: RewardModel | None = None, seed: Seed = None
) -> FairBandit:
    """OFUL (Abbasi-Yadkori, Pal, Szepesvari 2011) under the fairness constraints of a known A (r, d).

    FairBandit's regret against this one is the price of not knowing the metric; this one's against `fair_optimum` is
    the price of not knowing the rewards. It is never unfair. The paper (Gillen, Jung, Kearns, Roth 2018) splits its
    regret bound in the same two parts.

    >>> decision = known_metric([[0.2, 0.0]], seed=0).decide([[1.0, 0.0], [0.0, 0.0]])
    >>> round(decision.gap(0, 1), 9)
    0.2
    """
    metric = KnownMetric(A)
    return FairBandit(metric.n_features, capacity=capacity, metric=metric, reward=reward, seed=seed)


def fixed_euclidean(
    n_features: int,
    *,
    scale: float = HALF,
    capacity: int | None = 1,
    reward: RewardModel | None = None,
    seed: Seed = None,
) -> FairBandit:
    """OFUL under d(x, y) = scale ||x - y||: individual fairness (Dwork et al. 2012) with an assumed metric.

    Reviews change nothing. Where the scale is above the truth it stays unfair, where it is below it keeps earning
    less: both grow linearly with the number of rounds. At `scale` 0 all probabilities are equal; from 1/2 on the most
    different candidates do not constrain each other.

    >>> decision = fixed_euclidean(2, scale=0.1, seed=0).decide([[1.0, 0.0], [0.0, 0.0]])
    >>> round(decision.gap(0, 1), 9)
    0.1
    """
    size = check_number("scale", scale, least=0)
    metric = KnownMetric(size * np.eye(MetricSpace(n_features).n_features))
    return FairBandit(n_features, capacity=capacity, metric=metric, reward=reward, seed=seed)


def ignore_fairness(
    n_features: int, *, capacity: int | None = 1, reward: RewardModel | None = None, seed: Seed = None
) -> FairBandit:
    """FairBandit under a metric so large that nobody is like anybody: reviews change nothing.

    What is left is OFUL (Abbasi-Yadkori, Pal, Szepesvari 2011), also known as LinUCB (Li, Chu, Langford, Schapire
    2010): the candidate with the best optimistic reward wins.

    >>> ignore_fairness(2, seed=0).decide([[1.0, 0.0], [0.1, 0.0]]).probabilities.tolist()
    [1.0, 0.0]
    """
    metric = KnownMetric(NOBODY_ALIKE * np.eye(MetricSpace(n_features).n_features))
    return FairBandit(n_features, capacity=capacity, metric=metric, reward=reward, seed=seed)
