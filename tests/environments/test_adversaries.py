"""Adversaries hurt, and hide what they say they hide; the proxy world pulls reward and fairness apart."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.environments import ViolationHunter, make_world
from evenhand.environments.adversaries import NextProbabilities, next_probabilities
from evenhand.environments.contexts import Scene, Sphere
from evenhand.lab import Account, play
from tests.support.simulation import same

EPSILON = 0.01


def run(name: str, seed: int, *, rounds: int, policy: Any = None, **settings: Any) -> Account:
    """A fresh default bandit, or another policy, in a world of this name, d = k = 4."""
    world = make_world(name, n_features=4, n_candidates=4, seed=seed, **settings)
    bandit = policy if policy is not None else eh.FairBandit(4, epsilon=EPSILON, seed=seed, reviewer_error=1e-3)
    return play(bandit, world, eh.auditors.MahalanobisAuditor(world.A), rounds=rounds, epsilon=EPSILON, seed=seed)


@pytest.mark.statistical
@pytest.mark.parametrize(("among", "factor"), [("camps", 3.0), ("sphere", 1.2)])
def test_the_violation_hunter_finds_more_violations_than_chance(among: str, factor: float) -> None:
    """In 120 rounds, over five seeds, more unfair pairs than the standard world has, by the stated factor."""
    hunted = sum(run("violation-hunter", s, rounds=120, among=among).unfair_pairs.sum() for s in range(5))
    chance = sum(run("sphere", s, rounds=120).unfair_pairs.sum() for s in range(5))
    assert hunted > factor * chance


@pytest.mark.statistical
def test_the_regret_hunter_costs_more_than_chance() -> None:
    """In the first 60 rounds, over three seeds, more than twice the regret of the standard world."""
    hunted = sum(run("regret-hunter", s, rounds=60).regret.sum() for s in range(3))
    chance = sum(run("sphere", s, rounds=60).regret.sum() for s in range(3))
    assert hunted > 2 * chance


def test_more_proposals_hurt_more_in_the_very_next_round() -> None:
    """On one stream the worst of 32 proposals is at least as bad as that of 4, and worse than an only one."""
    bandit, rng_seed = eh.FairBandit(4, seed=0, reviewer_error=1e-3), 5
    theta, A = np.eye(4)[0], 0.3 * np.eye(4)
    harms = []
    for n in (1, 4, 32):
        hunter = ViolationHunter(Sphere(4), n_proposals=n)
        contexts = hunter.draw(Scene(5, 0, theta, A, bandit), np.random.default_rng(rng_seed))
        harms.append(hunter.harm(contexts, next_probabilities(bandit, contexts), theta, A))
    assert harms == sorted(harms)
    assert harms[2] > harms[0]


def test_a_hunter_lulls_when_there_is_nothing_to_hunt() -> None:
    """A violation beats any lull, a bigger violation a smaller one, and without any the safer set wins."""
    hunter = ViolationHunter(Sphere(1), epsilon=0.1)

    def harm(gap: float, distance: float) -> float:
        probabilities = NextProbabilities(np.array([0.5 + gap / 2, 0.5 - gap / 2]), 1)
        return hunter.harm(np.array([[0.0], [distance]]), probabilities, np.zeros(1), np.eye(1))

    assert harm(0.9, 0.1) > harm(0.5, 0.1) > harm(0.1, 1.0) > harm(0.5, 0.6) > harm(0.55, 0.5)


def test_watching_changes_nothing() -> None:
    """The next probabilities are those that any policy then plays, and computing them does not change the policy."""
    contexts = Sphere(3).draw(Scene(4), np.random.default_rng(0))

    class Stubborn(eh.FairBandit):
        def decide(self, contexts: Any, **bounds: Any) -> eh.Decision:
            return super().decide(-np.asarray(contexts), **bounds)

    theta, A = [1.0, 0.0, 0.0], np.eye(3) * 0.2
    bandit = eh.FairBandit(3, seed=0, metric=eh.metrics.KnownMetric(A), reward=eh.rewards.KnownReward(theta))
    stubborn = Stubborn(3, seed=0, metric=eh.metrics.KnownMetric(A), reward=eh.rewards.KnownReward(theta))
    for policy in (bandit, stubborn):
        before = copy.deepcopy(policy.state())
        foreseen = next_probabilities(policy, contexts)
        assert same(policy.state(), before)
        assert np.array_equal(foreseen.probabilities, policy.decide(contexts).probabilities)
    equal = eh.baselines.EqualProbabilities(capacity=2, seed=0)
    assert next_probabilities(equal, contexts).capacity == 2
    assert equal.rounds == 0
    plain, changed = (next_probabilities(policy, contexts).probabilities for policy in (bandit, stubborn))
    assert not np.allclose(plain, changed)


@pytest.mark.parametrize("name", ["violation-hunter", "regret-hunter"])
def test_hunters_can_hunt_any_policy(name: str) -> None:
    """A policy without a metric or rewards to look at is copied and tried; the run goes through."""
    account = run(name, 0, rounds=5, policy=eh.baselines.EqualProbabilities(seed=0))
    assert account.rounds == 5
    assert np.sum(account.unfair_pairs) == 0


def test_hidden_directions_stay_hidden_until_their_round() -> None:
    """No context has a component in a hidden direction before its round, and some have after; norms stay 1."""
    world = make_world("direction-hider", n_features=5, metric="low-rank", reveal_at=[10, 20], seed=1)
    first, second = np.linalg.svd(world.A)[2][:-3:-1]
    contexts, _ = world.reset(seed=2)
    for t in range(30):
        assert np.allclose(np.linalg.norm(contexts, axis=1), 1.0)
        for direction, revealed in ((first, 10), (second, 20)):
            shown = np.max(np.abs(contexts @ direction))
            assert shown > 1e-3 if t >= revealed else shown < 1e-12
        contexts = world.advance()


@pytest.mark.statistical
def test_a_direction_shown_late_brings_violations_late() -> None:
    """After the reveal there are unfair pairs in every one of five seeds, where the standard world has next to none."""
    hidden = [run("direction-hider", s, rounds=120, reveal_at=[60]).unfair_pairs for s in range(5)]
    shown = [run("sphere", s, rounds=120).unfair_pairs for s in range(5)]
    late = [pairs[60:].sum() for pairs in hidden]
    assert min(late) >= 1
    assert sum(late) > 4 * sum(pairs[60:].sum() for pairs in shown)


def test_the_proxy_pays_and_must_not_count() -> None:
    """Equal merits, other group: distance 0, other reward. The best choice favours a group, the best fair one less."""
    world = make_world("proxy", seed=3, n_candidates=6)
    contexts, _ = world.reset(seed=4)
    twin = contexts[:1] * np.array([1, 1, 1, 1, -1.0])
    assert np.linalg.norm(world.A @ (contexts[0] - twin[0])) == 0
    assert abs(world.expected_rewards(contexts[:1])[0] - world.expected_rewards(twin)[0]) > 0.5
    price, favoured = [], []
    auditor = eh.auditors.MahalanobisAuditor(world.A)
    for _ in range(200):
        rewards = world.expected_rewards(contexts)
        fair = eh.fair_distribution(rewards, auditor.distances(contexts))
        price.append(max(0.0, float(np.max(rewards))) - fair.value)
        group = world.groups(contexts)  # type: ignore[attr-defined]
        favoured.append((group[np.argmax(rewards)], fair.probabilities[group].sum(), group.mean()))
        contexts = world.advance()
    greedy, fairly, share = np.mean(favoured, axis=0)
    assert share == pytest.approx(0.5, abs=0.05)
    assert greedy > 0.9
    assert fairly < greedy - 0.1
    assert np.mean(price) > 0.1


def test_who_ignores_fairness_is_unfair_in_the_proxy_world_for_ever() -> None:
    """OFUL without fairness is unfair in nearly every late round; the default in none of them."""
    careless = run("proxy", 1, rounds=150, policy=eh.baselines.ignore_fairness(4, seed=0))
    careful = run("proxy", 1, rounds=150)
    assert np.mean(careless.unfair_pairs[100:] > 0) > 0.9
    assert np.sum(careful.unfair_pairs[100:]) == 0
