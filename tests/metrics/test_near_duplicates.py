"""Candidates who nearly copy each other, for thousands of rounds: nothing is learned twice, and nothing forgotten."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import evenhand as eh
from evenhand._internal.arrays import Floats
from evenhand.auditors import MahalanobisAuditor
from evenhand.metrics import BayesPoint, ByEvidence, Pairs, VersionSpace
from evenhand.metrics.gaussian.tuning import DEFAULT
from evenhand.testing.metric_worlds import random_A, random_contexts


def _unfair_pairs(seed: int, *, rounds: int, reviewer_error: float | None = 1e-3) -> tuple[Floats, float]:
    """Unfair pairs of each round at d = k = 5, epsilon = 0.01, four clusters with noise 1e-3; and the last bound.

    reviewer_error: a number for BayesPoint, None for the default.
    """
    rng = np.random.default_rng(seed)
    A, theta, centres = random_A(rng, 5, norm=0.8), random_contexts(rng, 1, 5)[0], 0.9 * random_contexts(rng, 4, 5)
    bandit, auditor = eh.FairBandit(5, epsilon=0.01, seed=seed, reviewer_error=reviewer_error), MahalanobisAuditor(A)
    unfair = np.zeros(rounds)
    for t in range(rounds):
        contexts = centres[rng.integers(4, size=5)] + 1e-3 * rng.normal(size=(5, 5))
        decision = bandit.decide(contexts)
        unfair[t] = np.sum(np.triu(auditor.excess(decision), 1) > 0.01)
        rewards = {i: float(contexts[i] @ theta + 0.1 * rng.normal()) for i in decision.chosen}
        bandit.learn(decision, rewards=rewards, review=auditor.review(decision))
    metric = bandit.metric.playing if isinstance(bandit.metric, ByEvidence) else bandit.metric
    assert isinstance(metric, BayesPoint if reviewer_error else VersionSpace)
    return unfair, metric.bound


def test_near_duplicates_teach_nothing_new() -> None:
    """The bound stays 1 and nothing is unfair after round 500; once, verdicts on tiny differences added up to 128."""
    unfair, bound = _unfair_pairs(1, rounds=3000)
    assert bound == 1.0
    assert np.sum(unfair) <= 30
    assert np.sum(unfair[500:]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("reviewer_error", [1e-3, None])
@pytest.mark.parametrize("seed", range(100, 105))
def test_no_burst_in_ten_thousand_rounds(seed: int, reviewer_error: float | None) -> None:
    """Five seeds: the bound stays 1; at most 30 pairs are unfair, and at most 5 of them after round 500."""
    unfair, bound = _unfair_pairs(seed, rounds=10_000, reviewer_error=reviewer_error)
    assert bound == 1.0
    assert np.sum(unfair) <= 30
    assert np.sum(unfair[500:]) <= 5


class _Forgetful(BayesPoint):
    """Remembers eight verdicts at most, or eight open answers."""

    tuning = replace(DEFAULT, remembered_per_unknown=2, open_answers=4)


@pytest.mark.parametrize("error_rate", [1e-3, 1e-2, None])
def test_a_doubling_keeps_what_the_memory_has_lost(error_rate: float | None) -> None:
    """A distance learned hundreds of verdicts ago is as well known after the bound was doubled."""
    learner = _Forgetful(2, structure="diagonal", bound=0.5, epsilon=0.02, error_rate=error_rate)
    first, second, zero = np.array([0.7, 0.0]), np.array([0.0, 0.7]), np.zeros(2)
    for z, distance in ((first, 0.2), (second, 0.3)):
        for _ in range(60):
            gap = float(np.sqrt(learner.guess(Pairs.between(z, zero))[0]))
            learner.learn_pair(z, zero, gap=gap, unfair=gap > distance)
    before = learner.moments(Pairs.between(first, zero))
    bound = learner.bound
    while learner.bound == bound:  # the second feature turns out to matter much more
        learner._history.belief = learner._history.belief.widened(4.0)
        learner.learn_pair(second, zero, gap=0.95, unfair=False)
    after = learner.moments(Pairs.between(first, zero))
    assert after[0] == pytest.approx(before[0], abs=3 * before[1][0])
    assert after[1] <= 3 * before[1]
