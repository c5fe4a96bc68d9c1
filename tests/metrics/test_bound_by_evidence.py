"""BayesPoint(error_rate=None): a metric far from the first bound is not taken for a reviewer who errs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

import evenhand as eh
from evenhand.metrics import BayesPoint, Pairs, Verdicts
from evenhand.metrics.features import Structure
from evenhand.testing.metric_worlds import random_A, random_contexts
from tests.support.simulation import same

Floats = NDArray[np.float64]
D = 5


def _asked(A: Floats, n: int, rng: np.random.Generator) -> Verdicts:
    """What an exact reviewer says of n random pairs at random gaps."""
    both = random_contexts(rng, 2 * n, D) * rng.uniform(size=(2 * n, 1)) ** (1 / D)  # uniform in the ball
    z, gaps = both[::2] - both[1::2], rng.uniform(0.05, 0.8, n)
    unfair = gaps > np.linalg.norm(z @ A.T, axis=1)
    return Verdicts(Pairs(np.tile([0, 1], (n, 1)), z), gaps, unfair, np.ones(n, np.bool_))


@pytest.mark.parametrize("structure", ["full", "auto"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_bound_of_a_large_metric_does_not_run_away(seed: int, structure: Structure) -> None:
    """Most gaps are fair under a large metric and say "farther than this": the bound is not doubled for that alone.

    Without the comparison of fits it reached 1e24 and 8e6 in 1,000 answers with structure "full".
    """
    rng = np.random.default_rng([seed, 7])
    A, learner = random_A(rng, D, rank=1, norm=64.0), BayesPoint(D, structure=structure, error_rate=None)
    for _ in range(200):
        learner.learn(_asked(A, 5, rng))
    assert learner.bound <= 8 * 64.0
    assert np.trace(learner.get_mahalanobis_matrix()) <= 4 * np.trace(A.T @ A)


@pytest.mark.parametrize(("norm", "rank"), [(0.3, D), (4.0, 1), (4.0, D), (16.0, D)])
@pytest.mark.parametrize("three", [False, True])
def test_an_exact_reviewer_is_never_found_to_err(norm: float, rank: int, three: bool) -> None:
    """Whatever the size of the metric, and whether all pairs are reviewed or three: at most 5% wrong, at any time.

    With a metric smaller than the bound it was 15% after some 100 answers.
    """
    rng, k, worst = np.random.default_rng([2, 9]), 10, 0.0
    A, theta = random_A(rng, D, rank=rank, norm=norm), rng.normal(size=D)
    bandit = eh.FairBandit(D, metric=BayesPoint(D, error_rate=None), seed=0)
    for _ in range(100):
        contexts = random_contexts(rng, k, D)
        decision = bandit.decide(contexts)
        pairs = [one.pair for one in bandit.pairs_to_review(decision, 3)] if three else list(combinations(range(k), 2))
        distances = np.linalg.norm((contexts[:, None] - contexts[None]) @ A.T, axis=2)
        gaps = np.abs(decision.probabilities[:, None] - decision.probabilities[None])
        said = {pair: bool(gaps[pair] > distances[pair] + 1e-9) for pair in pairs}
        review = eh.Review.partial(unfair=[p for p in pairs if said[p]], fair=[p for p in pairs if not said[p]])
        bandit.learn(decision, rewards={i: float(contexts[i] @ theta) / 4 for i in decision.chosen}, review=review)
        report = bandit.reviewers()[None]
        worst = max(worst, report.error_rate if report.answers >= 30 else 0.0)
    assert worst <= 0.05


def test_a_bound_below_the_first_is_saved() -> None:
    """A bound that became smaller than a first one may be, at an epsilon that sharpens, is restored as it was."""
    learner = BayesPoint(D, error_rate=None)
    learner.learn(_asked(random_A(np.random.default_rng(0), D, norm=0.3), 5, np.random.default_rng(1)))
    learner._history.bound = 0.25
    assert BayesPoint.from_state(learner.state()).bound == 0.25
    assert same(BayesPoint.from_state(learner.state()).state(), learner.state())
