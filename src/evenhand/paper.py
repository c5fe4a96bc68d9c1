"""The paper's three algorithms, exactly as printed.

"Online Learning with an Unknown Fairness Metric" (Gillen, Jung, Kearns, Roth, 2018). What stands for what:

| paper | here |
|---|---|
| x^t_i, context of arm i | `contexts[i]`, norm <= 1 |
| theta, r-bar^t_i = <theta, x^t_i> | `KnownReward.theta`, `KnownReward.estimate` |
| theta-tilde, r-tilde^t_i, w^t_i, r-hat^t_i | `RidgeUCB.theta`, `.estimate`, `.widths`, `.optimistic` |
| V-tilde = V-bar = V, lambda | one matrix lambda I + X'X in `RidgeUCB`, `regularisation` |
| G = A'A, d(x, y) = norm of A(x - y) | `MetricLearner.matrix`, `MahalanobisAuditor.distances` |
| alpha = flatten(G) in R^(d^2) | `MetricSpace.flatten(G)` in R^(d(d+1)/2), same inner products |
| u^t_ij = flatten((x_i - x_j)(x_i - x_j)') | `MetricSpace.features(differences)` |
| DistanceEstimator(eps^2), DE_ij, roll-back | `ProjectedVolume(epsilon=eps)`, `PerPair.copy_of`, `.learn` |
| g^t_ij, d-hat^t_ij = sqrt(g^t_ij) | `PerPair.guess`, `MetricLearner.playable_distances` |
| feedback(bottom): the guess was too large | an unfair verdict: cut through the guess, `PerPair(cuts="guess")` |
| feedback(top): it was not | a verdict on a tight pair that was not flagged |
| LP(a, c), pi(a, c); LP_m | `fair_distribution(a, c, capacity=1)`; `capacity=None` |
| O_d, S; R | `MahalanobisAuditor.review`, `Review.unfair`; `Decision.tight_pairs` not in it |
| FairnessLoss(eps), Regret | `lab.Account` |

Where the paper is silent or misprinted: p >= 0 holds; bottom and top are used as in the algorithms, not as in the
notation; the estimators know that G is positive semidefinite, since otherwise the first guess would stay 0.
"""

from __future__ import annotations

from typing import Required, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.randomness import Seed, as_generator
from evenhand.bandit import FairBandit
from evenhand.metrics import MetricLearner, PerPair, ProjectedVolume
from evenhand.rewards import KnownReward, RidgeUCB


def known_reward(
    theta: ArrayLike, *, epsilon: float, bound: float = 1.0, estimator: MetricLearner | None = None, seed: Seed = None
) -> FairBandit:
    """Algorithm L_known-theta: the objective is known, the metric is not. `bound` is B_1 >= ||G||_F.

    `estimator` replaces ProjectedVolume as the DistanceEstimator of which each pair gets a copy, with an epsilon and
    a bound of its own.
    """
    reward = KnownReward(theta)
    rng = as_generator(seed)
    metric = _one_per_pair(reward.n_features, epsilon, bound, estimator, rng)
    return FairBandit(reward.n_features, capacity=1, metric=metric, reward=reward, seed=rng)


class Options(TypedDict, total=False):
    """Options of `full` and `many`; `bound` and `estimator` as in `known_reward`, `confidence` is delta."""

    epsilon: Required[float]
    bound: float
    confidence: float
    estimator: MetricLearner | None
    seed: Seed


def full(n_features: int, **options: Unpack[Options]) -> FairBandit:
    """Algorithm L_full: neither theta nor the metric is known; lambda = 1."""
    return _with_ridge(n_features, 1, **options)


def many(n_features: int, **options: Unpack[Options]) -> FairBandit:
    """The appendix's L_full_m: any number of candidates may be chosen in a round."""
    return _with_ridge(n_features, None, **options)


def _with_ridge(
    n_features: int,
    capacity: int | None,
    *,
    epsilon: float,
    bound: float = 1.0,
    confidence: float = 0.05,
    estimator: MetricLearner | None = None,
    seed: Seed = None,
) -> FairBandit:
    rng = as_generator(seed)
    metric = _one_per_pair(n_features, epsilon, bound, estimator, rng)
    reward = RidgeUCB(n_features, width="paper", regularisation=1.0, confidence=confidence)
    return FairBandit(n_features, capacity=capacity, metric=metric, reward=reward, seed=rng)


def _one_per_pair(
    n_features: int, epsilon: float, bound: float, estimator: MetricLearner | None, rng: np.random.Generator
) -> PerPair:
    if estimator is None:
        (own,) = rng.spawn(1)
        estimator = ProjectedVolume(n_features, epsilon=epsilon, bound=bound, play_known_low=False, seed=own)
    return PerPair(estimator, cuts="guess")
