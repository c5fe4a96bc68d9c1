"""The contract of every baseline: playable probabilities, the same run for the same seed, clear errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.bandit import FairBandit
from evenhand.baselines import (
    BASELINES,
    EqualProbabilities,
    ExploreThenExploit,
    Facts,
    IntervalChaining,
    OfflineMetric,
    Policy,
    fixed_euclidean,
    ignore_fairness,
)
from evenhand.baselines.lottery import Lottery
from evenhand.errors import DamagedFile, EvenhandError, ForeignDecision, InvalidInput, NotChosen, UnknownPair
from evenhand.records.decision import Decision, Review
from tests.support.simulation import same, standard_world
from tests.support.small_world import SmallWorld

SEED = 11
THETA, A = standard_world(3, seed=SEED)
LEARNING = [name for name in BASELINES if name != "equal-probabilities"]


def _made(name: str, *, capacity: int | None = 1, seed: int = 0, rounds: int = 30) -> Policy:
    return BASELINES[name](Facts(THETA, A, rounds=rounds, epsilon=0.05, capacity=capacity), seed)


def _played(policy: Policy, *, k: int, rounds: int) -> list[Decision]:
    return list(SmallWorld(3, k, seed=SEED).play(policy, rounds))


def _state(policy: Policy) -> Any:
    assert isinstance(policy, FairBandit)
    return policy.state()


@pytest.mark.parametrize("k", [1, 2, 6])
@pytest.mark.parametrize("capacity", [1, 2, None])
@pytest.mark.parametrize("name", BASELINES)
def test_probabilities_can_be_played(name: str, capacity: int | None, k: int) -> None:
    """Probabilities lie in [0, 1] and keep to the capacity, and no more candidates are chosen than there are places."""
    for decision in _played(_made(name, capacity=capacity), k=k, rounds=25):
        p = decision.probabilities
        assert p.shape == (k,)
        assert np.all((p >= 0) & (p <= 1 + 1e-12))
        assert capacity is None or (p.sum() <= capacity + 1e-9 and len(decision.chosen) <= capacity)
        assert all(p[i] > 0 for i in decision.chosen)
        assert decision.capacity == capacity


@pytest.mark.parametrize("name", BASELINES)
def test_the_same_seed_gives_the_same_run(name: str) -> None:
    """Probabilities, draws and ids are equal for equal seeds; another seed draws others."""
    first, again, other = (_played(_made(name, seed=seed), k=5, rounds=30) for seed in (4, 4, 5))
    for one, two in zip(first, again, strict=True):
        assert same(one.to_dict(), two.to_dict())
    assert [d.chosen for d in first] != [d.chosen for d in other] or name == "ignore-fairness"


@pytest.mark.parametrize("name", LEARNING)
def test_nothing_changes_after_an_error(name: str) -> None:
    """Contexts, outcomes, reviews and decisions that do not fit are refused in a sentence and change nothing."""
    policy = _made(name)
    decision = _played(policy, k=4, rounds=6)[-1]
    unchosen = next(i for i in range(4) if i not in decision.chosen)
    before = _state(policy)
    with pytest.raises(InvalidInput, match="norm <= 1"):
        policy.decide(np.full((4, 3), 5.0))
    with pytest.raises(InvalidInput, match="contexts must have 3 features, got 2"):
        policy.decide(np.zeros((4, 2)))
    with pytest.raises(NotChosen, match="rewards must be of chosen candidates"):
        policy.learn(decision, rewards={unchosen: 0.5}, review=Review.complete())
    with pytest.raises(UnknownPair, match="candidates 0 to 3"):
        policy.learn(decision, rewards=dict.fromkeys(decision.chosen, 0.5), review=Review.complete(unfair=[(0, 9)]))
    with pytest.raises(ForeignDecision, match="not made by this bandit"):
        policy.learn(_made(name, seed=9).decide(decision.contexts))
    assert same(before, _state(policy))


@pytest.mark.parametrize("stopped", [6, 24], ids=["in the first phase", "after it"])
@pytest.mark.parametrize("name", LEARNING)
def test_a_saved_policy_goes_on_as_if_never_stopped(name: str, stopped: int, tmp_path: Path) -> None:
    """Saved in either phase and loaded, a policy plays the same probabilities and draws as one that was not."""
    whole = _played(_made(name), k=5, rounds=40)
    policy, world = _made(name), SmallWorld(3, 5, seed=SEED)
    assert isinstance(policy, FairBandit)
    list(world.play(policy, stopped))
    policy.save(tmp_path / "policy")
    rest = world.play(type(policy).load(tmp_path / "policy"), 40 - stopped)
    for one, two in zip(whole[stopped:], rest, strict=True):
        assert same(one.to_dict(), two.to_dict())


@pytest.mark.parametrize("name", ["interval-chaining", "explore-then-exploit", "offline-metric"])
def test_a_saved_policy_is_not_taken_for_another(name: str, tmp_path: Path) -> None:
    """The file of a policy with its own probabilities cannot be loaded as a FairBandit."""
    policy = _made(name)
    assert isinstance(policy, Lottery)
    policy.save(tmp_path / "policy")
    with pytest.raises(DamagedFile, match="must be a saved "):
        FairBandit.load(tmp_path / "policy")


@pytest.mark.parametrize("name", LEARNING)
def test_capacity_is_checked(name: str) -> None:
    """A capacity that is no whole number >= 1 is refused when the policy is made."""
    with pytest.raises(InvalidInput, match="capacity must be a whole number >= 1 or None, got 0"):
        _made(name, capacity=0)


def test_equal_probabilities_are_equal_and_learn_nothing() -> None:
    """Everybody has min(1, capacity / k), whatever comes back."""
    policy = EqualProbabilities(capacity=2, seed=0)
    decision = policy.decide(np.eye(3))
    assert decision.probabilities.tolist() == [2 / 3] * 3
    assert policy.learn(decision, review=Review.one_bit(any_unfair=True)).used == 0
    assert policy.decide(np.eye(3)[:1]).probabilities.tolist() == [1.0]
    assert EqualProbabilities(capacity=None).decide(np.eye(3)).chosen == (0, 1, 2)


@pytest.mark.parametrize("n_features", [0, -2, 1.5, "three"])
def test_the_number_of_features_is_checked(n_features: Any) -> None:
    """Whoever takes a number of features refuses what is no whole number >= 1, in a sentence."""
    for make in (ignore_fairness, fixed_euclidean, IntervalChaining):
        with pytest.raises(InvalidInput, match="n_features must be a whole number >= 1, got "):
            make(n_features)
    for plan in (ExploreThenExploit, OfflineMetric):
        with pytest.raises(InvalidInput, match="n_features must be a whole number >= 1, got "):
            plan(n_features, horizon=10)


def test_a_run_of_no_rounds_is_refused() -> None:
    """Those who plan ahead need a horizon of one round at least."""
    for name in ("explore-then-exploit", "offline-metric"):
        with pytest.raises(EvenhandError, match=r"horizon must be .* got 0"):
            _made(name, rounds=0)
