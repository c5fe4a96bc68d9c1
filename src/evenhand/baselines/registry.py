"""Every baseline by name, made from the same facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.randomness import Seed
from evenhand.baselines.assembled import fair_optimum, fixed_euclidean, ignore_fairness, known_metric
from evenhand.baselines.explore_then_exploit import ExploreThenExploit
from evenhand.baselines.interval_chaining import IntervalChaining
from evenhand.baselines.lottery import EqualProbabilities, Policy
from evenhand.baselines.offline_metric import OfflineMetric


@dataclass(frozen=True, eq=False)
class Facts:
    """What the experimenter knows about a run; a baseline reads only what it may know."""

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
        "known-metric": lambda f, seed: known_metric(f.A, capacity=f.capacity, seed=seed),
        "ignore-fairness": lambda f, seed: ignore_fairness(f.n_features, capacity=f.capacity, seed=seed),
        "equal-probabilities": lambda f, seed: EqualProbabilities(capacity=f.capacity, seed=seed),
        "fixed-euclidean": lambda f, seed: fixed_euclidean(f.n_features, capacity=f.capacity, seed=seed),
        "interval-chaining": lambda f, seed: IntervalChaining(f.n_features, capacity=f.capacity, seed=seed),
        "explore-then-exploit": lambda f, seed: ExploreThenExploit(
            f.n_features, horizon=f.rounds, epsilon=f.epsilon, capacity=f.capacity, seed=seed
        ),
        "offline-metric": lambda f, seed: OfflineMetric(f.n_features, horizon=f.rounds, capacity=f.capacity, seed=seed),
    }
)
"""Name -> (facts, seed) -> policy.

>>> policy = BASELINES["known-metric"](Facts(theta=[1.0, 0.0], A=[[0.3, 0.0]], rounds=100), 0)
>>> policy.decide([[1.0, 0.0], [0.0, 1.0]]).n_candidates
2
"""
