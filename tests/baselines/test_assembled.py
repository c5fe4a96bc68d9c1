"""The baselines that are a FairBandit with other parts: what each knows, and what that buys."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.bandit import FairBandit
from evenhand.baselines import fixed_euclidean, ignore_fairness, known_metric
from evenhand.errors import InvalidInput
from evenhand.records.decision import Review
from tests.support.simulation import simulate, standard_world


def test_with_a_known_metric_nothing_is_unfair_and_rewards_are_learned() -> None:
    """No pair is flagged in any round, and regret a round falls towards 0."""
    _, A = standard_world(3, seed=2)
    account = simulate(known_metric(A, seed=0), d=3, k=5, rounds=400, seed=2)
    assert np.sum(account.flagged_pairs) == 0
    assert np.min(account.regret) >= -1e-9
    assert np.mean(account.regret[300:]) < 0.2 * np.mean(account.regret[:100])


@pytest.mark.statistical
def test_not_knowing_the_metric_has_a_price() -> None:
    """Over three seeds the bandit that learns the metric has more regret than one that knows it."""
    metrics = [standard_world(3, seed=s)[1] for s in range(3)]
    knows = [simulate(known_metric(A, seed=s), d=3, k=5, rounds=300, seed=s) for s, A in enumerate(metrics)]
    learns = [
        simulate(FairBandit(3, epsilon=0.01, seed=s, reviewer_error=1e-3), d=3, k=5, rounds=300, seed=s)
        for s in range(3)
    ]
    assert sum(np.sum(a.regret) for a in learns) > sum(np.sum(a.regret) for a in knows)
    assert all(np.sum(a.flagged_pairs) == 0 for a in knows)


def test_a_euclidean_metric_is_the_distance_times_its_scale() -> None:
    """Played distances are scale ||x - y||; at 1/2 the ends of the ball are at distance 1."""
    contexts = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.6]])
    distances = np.linalg.norm(contexts[:, None] - contexts[None], axis=2)
    for scale in (0.0, 0.2, 0.5):
        assert fixed_euclidean(2, scale=scale).distances(contexts).estimate == pytest.approx(scale * distances)
    assert fixed_euclidean(2).distances(contexts).estimate[0, 1] == pytest.approx(1.0)


def test_the_wrong_scale_is_unfair_or_poor_for_ever() -> None:
    """Too large a scale is still unfair in the last rounds; too small a one is never, and its regret goes on."""
    large = simulate(fixed_euclidean(3, scale=1.0, seed=0), d=3, k=5, rounds=300, seed=6)
    small = simulate(fixed_euclidean(3, scale=0.01, seed=0), d=3, k=5, rounds=300, seed=6)
    assert np.sum(large.unfair_pairs[250:]) > 50
    assert np.sum(small.unfair_pairs) == 0
    assert np.mean(small.regret[250:]) > 0.1


@pytest.mark.parametrize("scale", [-0.1, float("nan"), float("inf"), True])
def test_a_scale_must_be_a_number(scale: float) -> None:
    """A scale below 0, or none at all, is refused in a sentence."""
    with pytest.raises(InvalidInput, match="scale must be a number >= 0, got"):
        fixed_euclidean(2, scale=scale)


def test_reviews_change_nothing_where_the_metric_is_given() -> None:
    """Two policies, one flagged at every turn and one never, play the same probabilities."""
    rng = np.random.default_rng(0)
    known = [known_metric([[0.4, 0.1]], seed=1) for _ in range(2)]
    free = [ignore_fairness(2, seed=1) for _ in range(2)]
    for flagged, spared in (known, free):
        for _ in range(10):
            contexts = rng.uniform(-0.7, 0.7, size=(3, 2))
            one, two = flagged.decide(contexts), spared.decide(contexts)
            assert np.array_equal(one.probabilities, two.probabilities)
            flagged.learn(one, review=Review.complete(unfair=[(0, 1), (1, 2)]))
            spared.learn(two, review=Review.complete())
