"""Forecast: unfair pairs counted in simulations, against metrics sampled from the current belief."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.bandit import FairBandit
from evenhand.errors import InconsistentReviews, MisleadingReviewer
from evenhand.metrics.verdicts import Pairs
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Review


@dataclass(frozen=True)
class Forecast:
    """How many pairs simulated reviewers found unfair by more than epsilon, one count each.

    >>> Forecast((2, 0, 1), rounds=300).expected
    1.0
    """

    unfair_pairs: tuple[int, ...]
    rounds: int

    @property
    def expected(self) -> float:
        """The mean of the counts."""
        return float(np.mean(self.unfair_pairs))


def unfair_pairs_live(
    bandit: FairBandit, candidates: Floats, *, epsilon: float, rounds: int, n_candidates: int, rng: np.random.Generator
) -> int:
    """Let a copy of the bandit decide about random candidates, with a reviewer sampled from its belief.

    The reviewer flags every unfair pair. Rewards lie within the reward model's widths, in a random direction.
    """
    G = bandit.metric.sample_matrix(rng)
    direction = rng.normal(size=bandit.n_features)
    direction /= np.linalg.norm(direction)
    trial = copy.deepcopy(bandit)
    trial.reseed(np.random.default_rng(rng.integers(2**63)))
    count = 0
    with warnings.catch_warnings():  # a belief may be wrong about a metric sampled from it
        warnings.simplefilter("ignore", InconsistentReviews)
        warnings.simplefilter("ignore", MisleadingReviewer)
        for _ in range(rounds):
            decision = trial.decide(candidates[rng.choice(len(candidates), n_candidates, replace=False)])
            review, unfair = _reviewed(decision, G, epsilon)
            count += unfair
            trial.learn(decision, rewards=_outcomes(bandit, decision, direction), review=review)
    return count


def _reviewed(decision: Decision, G: Floats, epsilon: float) -> tuple[Review, int]:
    """The exact review under G, and how many pairs are unfair by more than epsilon."""
    pairs = Pairs.of(decision.contexts)
    first, second = pairs.indices.T
    gaps = np.abs(decision.probabilities[first] - decision.probabilities[second])
    squared = np.sum((pairs.differences @ G) * pairs.differences, axis=1)
    excess = gaps - np.sqrt(np.maximum(squared, 0.0))
    unfair = pairs.take(excess > PROBABILITY_TOLERANCE).names()
    return Review.complete(unfair=unfair), int(np.sum(excess > epsilon))


def _outcomes(bandit: FairBandit, decision: Decision, direction: Floats) -> dict[int, float]:
    contexts = decision.contexts[list(decision.chosen)]
    rewards = bandit.reward.estimate(contexts) + bandit.reward.widths(contexts) * (contexts @ direction)
    return dict(zip(decision.chosen, rewards.tolist(), strict=True))
