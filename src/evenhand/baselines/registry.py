"""Every baseline under a name, made from the same few facts: for experiments that compare them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.randomness import Seed
from evenhand.baselines.equal_odds import EqualOdds
from evenhand.baselines.explore_then_exploit import ExploreThenExploit
from evenhand.baselines.fair_optimum import fair_optimum
from evenhand.baselines.fixed_euclidean import fixed_euclidean
from evenhand.baselines.ignore_fairness import ignore_fairness
from evenhand.baselines.interval_chaining import IntervalChaining
from evenhand.baselines.known_metric import told_metric
from evenhand.baselines.offline_metric import OfflineMetric
from evenhand.baselines.policy import Policy


@dataclass(frozen=True, eq=False)
class Facts:
    """What an experimenter knows of a run; a baseline reads only what it is allowed to know."""

    theta: ArrayLike
    """(d,), the expected reward of a context x is <theta, x>."""
    A: ArrayLike
    """(r, d), the distance of x and y is ||A (x - y)||."""
    rounds: int
    epsilon: float | None = None
    capacity: int | None = 1

    @property
    def n_features(self) -> int:
        """The length d of a context."""
        return len(np.asarray(self.theta))


BASELINES: Mapping[str, Callable[[Facts, Seed], Policy]] = MappingProxyType(
    {
        "fair-optimum": lambda f, seed: fair_optimum(f.theta, f.A, capacity=f.capacity, seed=seed),
        "told-metric": lambda f, seed: told_metric(f.A, capacity=f.capacity, seed=seed),
        "ignore-fairness": lambda f, seed: ignore_fairness(f.n_features, capacity=f.capacity, seed=seed),
        "equal-odds": lambda f, seed: EqualOdds(capacity=f.capacity, seed=seed),
        "fixed-euclidean": lambda f, seed: fixed_euclidean(f.n_features, capacity=f.capacity, seed=seed),
        "interval-chaining": lambda f, seed: IntervalChaining(f.n_features, capacity=f.capacity, seed=seed),
        "explore-then-exploit": lambda f, seed: ExploreThenExploit(
            f.n_features, horizon=f.rounds, epsilon=f.epsilon, capacity=f.capacity, seed=seed
        ),
        "offline-metric": lambda f, seed: OfflineMetric(f.n_features, horizon=f.rounds, capacity=f.capacity, seed=seed),
    }
)
"""Name -> (facts, seed) -> policy.

>>> policy = BASELINES["told-metric"](Facts(theta=[1.0, 0.0], A=[[0.3, 0.0]], rounds=100), 0)
>>> policy.decide([[1.0, 0.0], [0.0, 1.0]]).n_candidates
2
"""
