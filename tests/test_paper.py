"""The paper's algorithms, to the letter."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh
from evenhand.metrics import PerPair, ProjectedVolume
from evenhand.rewards import KnownReward, RidgeUCB
from tests.support.simulation import simulate, standard_world


def test_the_parts_are_the_papers() -> None:
    """One ProjectedVolume a pair at accuracy epsilon squared, cut at its guess; the paper's width; its two LPs."""
    for bandit, capacity in (
        (eh.paper.full(3, epsilon=0.05, seed=0), 1),
        (eh.paper.many(3, epsilon=0.05, seed=0), None),
    ):
        assert bandit.capacity == capacity
        assert isinstance(bandit.metric, PerPair)
        assert bandit.metric.cuts == "guess"
        estimator = bandit.metric.copy_of((0, 1))
        assert isinstance(estimator, ProjectedVolume)
        assert estimator.epsilon == 0.05
        assert isinstance(bandit.reward, RidgeUCB)
        assert (bandit.reward.width, bandit.reward.regularisation) == ("paper", 1.0)
        assert not estimator.play_known_low
    other = eh.paper.full(3, epsilon=0.05, bound=7.0, confidence=0.2, seed=0)
    assert isinstance(other.metric, PerPair)
    assert isinstance(other.reward, RidgeUCB)
    assert other.metric.copy_of((0, 1)).state()["bound"] == 7.0
    assert other.reward.confidence == 0.2
    assert isinstance(eh.paper.known_reward([0.6, 0.8], epsilon=0.05).reward, KnownReward)


def test_known_reward_has_little_regret_and_stops_being_unfair() -> None:
    """With theta known the regret is that of learning the metric alone, and the second half is fair."""
    theta, _ = standard_world(2, seed=1)
    account = simulate(eh.paper.known_reward(theta, epsilon=0.05, seed=0), d=2, k=3, rounds=300, seed=1, epsilon=0.05)
    assert account.last_unfair_round is not None
    assert account.last_unfair_round <= 150
    assert np.sum(account.regret[150:]) <= eh.theory.loss_of_wrong_distances(3, 0.05, tight=True) * 150
    assert np.sum(account.regret) <= eh.theory.regret_known_reward(3, 2, 300, 0.05, norm=1.0)


def test_full_stays_below_its_bounds() -> None:
    """Fairness loss and regret of the full algorithm are below the theorems' numbers."""
    account = simulate(eh.paper.full(2, epsilon=0.05, seed=0), d=2, k=3, rounds=400, seed=2, epsilon=0.05)
    assert 0 < np.sum(account.unfair_pairs) <= eh.theory.fairness_loss(3, 2, 0.05, norm=1.0)
    assert np.sum(account.regret) <= eh.theory.regret_full(3, 2, 400, 0.05, norm=1.0, delta=0.05)
    assert not np.any(account.unfair_pairs[200:])


def test_many_chooses_several_and_is_fair_later() -> None:
    """In the appendix's setting several candidates are chosen in a round, and the second half is fair."""
    bandit = eh.paper.many(2, epsilon=0.05, seed=0)
    assert max(len(bandit.decide(np.eye(2)).chosen) for _ in range(20)) == 2
    account = simulate(bandit, d=2, k=3, rounds=400, seed=3, epsilon=0.05)
    assert np.sum(account.unfair_pairs[:200]) > 0
    assert np.sum(account.unfair_pairs[200:]) <= 0.02 * np.sum(account.unfair_pairs[:200])


@pytest.mark.statistical
def test_one_estimator_per_pair_needs_more_flags_than_one_for_all() -> None:
    """In the same world the paper's form is unfair to several times more pairs than the default."""
    paper = simulate(eh.paper.full(3, epsilon=0.02, seed=0), d=3, k=4, rounds=250, seed=4, epsilon=0.02)
    ours = simulate(
        eh.FairBandit(3, epsilon=0.02, seed=0, reviewer_error=1e-3), d=3, k=4, rounds=250, seed=4, epsilon=0.02
    )
    assert np.sum(paper.unfair_pairs) > 3 * np.sum(ours.unfair_pairs)


def test_any_estimator_can_stand_in() -> None:
    """The DistanceEstimator is a part to swap."""
    bandit = eh.paper.full(2, epsilon=0.05, estimator=eh.metrics.Ellipsoid(2, epsilon=0.05), seed=0)
    assert isinstance(bandit.metric, PerPair)
    assert isinstance(bandit.metric.copy_of((0, 1)), eh.metrics.Ellipsoid)
    with pytest.raises(eh.errors.InvalidInput, match="features"):
        eh.paper.full(2, epsilon=0.05, estimator=eh.metrics.Ellipsoid(3), seed=0)
