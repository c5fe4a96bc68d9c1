"""Desks with other reward models: settings, learning, refits, restart, replay; and what of a model is written where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge

from evenhand.desk import Desk, DeskSettings
from evenhand.desk.replay import replay
from evenhand.errors import InvalidInput
from evenhand.rewards import KnownReward, LogisticUCB, Predictor, RewardModel, RidgeUCB
from evenhand.testing.metric_worlds import random_contexts

D = 3


def boosted(**options: Any) -> Predictor:
    """A small gradient-boosted classifier that is refitted every ten outcomes."""
    model = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=3)
    return Predictor(model, D, **{"refit_every": 10, "members": 2, **options})


def play(desk: Desk, rounds: int, seed: int = 0) -> None:
    """Decide, with outcomes 0 and 1 for everybody chosen, and a review now and then."""
    rng = np.random.default_rng(seed)
    for i in range(rounds):
        contexts = random_contexts(rng, 5, D)
        decision = desk.decide(contexts)
        rewards = {name: float(contexts[int(name), 0] + 0.3 * rng.normal() > 0) for name in decision.chosen}
        if rewards:
            desk.outcome(decision.id, rewards)
        if i % 5 == 0:
            desk.review(decision.id, unfair=[("0", "1")])


MODELS: list[Any] = [
    "LogisticUCB",
    LogisticUCB(D, norm_bound=2.0),
    {"kind": "RidgeUCB", "noise": 0.5, "norm_bound": 2.0},
    KnownReward([0.5, 0.0, 0.0]),
    boosted(),
    Predictor(Ridge(), D, width="conformal", refit_every=10),
]


@pytest.mark.parametrize("reward", MODELS)
def test_a_desk_with_any_reward_model_restarts_and_replays(reward: Any, tmp_path: Path) -> None:
    """The same state after a restart, from a snapshot or from events, and every decision again to the bit."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    with Desk.open(url, "loans", n_features=D, capacity=3, seed=1, reviewer_error=0.001, reward=reward) as desk:
        play(desk, 8)
        before = desk.projection.bandit.reward.state()
        report = replay(desk.ledger, "loans")
        assert report.is_same
        assert report.decisions == 8
    with Desk.open(url, "loans") as again:
        again.catch_up(wait=True)
        after = again.projection.bandit.reward.state()
        assert all(np.array_equal(before[name], after[name]) for name in before)
        play(again, 2, seed=1)
        assert replay(again.ledger, "loans").is_same
    with Desk.open(url, "loans", n_features=D, reward=reward, reviewer_error=0.001) as same:
        assert same.settings.reward.kind == again.settings.reward.kind


def test_a_boosted_model_is_refitted_at_a_desk() -> None:
    """Outcomes teach it: after some rounds there was a refit, and decisions have its estimates."""
    with Desk.open(
        "memory:", "loans", n_features=D, capacity=3, seed=1, reviewer_error=0.001, reward=boosted()
    ) as desk:
        play(desk, 10)
        model = desk.projection.bandit.reward
        assert isinstance(model, Predictor)
        assert model.in_use.refits >= 1
        decision = desk.decide(random_contexts(np.random.default_rng(5), 4, D))
        body = desk.event(decision.id).body
        np.testing.assert_array_equal(body["estimated_rewards"], model.estimate(np.array(body["contexts"])))


def test_the_model_is_in_the_first_event_only() -> None:
    """Changes of settings and of mode name it by its digest; a desk can be made again from the ledger alone."""
    with Desk.open("memory:", "loans", n_features=D, seed=1, shadow=True, reward=boosted()) as desk:
        desk.change_settings(capacity=2)
        desk.switch("live")
        first, *later = (event.body["settings"]["reward"] for event in desk.events())
        assert "model" in first
        assert "model_sha256" not in first
        assert [one["model_sha256"] for one in later] == [desk.settings.reward.digest] * 2
        assert not any("model" in one for one in later)
        play(desk, 3)
        assert replay(desk.ledger, "loans").is_same
        with Desk.open(desk.ledger, "loans") as again:
            again.catch_up(wait=True)
            assert again.settings.capacity == 2


def test_outcomes_are_checked_by_the_model() -> None:
    """What is neither 0 nor 1 is refused with a sentence, and nothing is recorded."""
    with Desk.open("memory:", "loans", n_features=D, capacity=3, seed=1, reward="LogisticUCB") as desk:
        decision = desk.decide(random_contexts(np.random.default_rng(0), 4, D))
        head = desk.head.seq
        with pytest.raises(InvalidInput, match=r"from 0 \(no\) to 1 \(yes\)"):
            desk.outcome(decision.id, {decision.chosen[0]: -0.5})
        assert desk.head.seq == head


REFUSED: list[tuple[Any, str]] = [
    ("Boosting", "kind of reward must be 'RidgeUCB'"),
    ({"kind": "LogisticUCB", "noise": 1.0}, "unknown option noise of reward 'LogisticUCB'"),
    ({"kind": "LogisticUCB", "model": "UEs="}, "only Predictor has one"),
    ({"kind": "Predictor"}, "needs model"),
    ({"kind": "Predictor", "model": "UEs="}, "not a skops file"),
    ({"kind": "RidgeUCB", "noise": -1}, "noise must be"),
    (boosted(), "n_features"),
    (3, "a name, a reward model"),
]


@pytest.mark.parametrize(("reward", "sentence"), REFUSED)
def test_settings_are_checked(reward: Any, sentence: str) -> None:
    """Each gets a sentence that says what was wrong."""
    fitted = Predictor(LogisticRegression().fit(np.eye(4), [0, 1, 0, 1])) if isinstance(reward, Predictor) else reward
    with pytest.raises(InvalidInput, match=sentence):
        DeskSettings.create(n_features=D, reward=fitted)


def test_a_model_that_has_learned_is_refused() -> None:
    """What it learned would not be in the ledger."""
    model = RidgeUCB(D)
    model.learn(np.eye(D), np.ones(D))
    with pytest.raises(InvalidInput, match="a new model, got one that has learned 3 outcomes"):
        DeskSettings.create(n_features=D, reward=model)


class HomeMade(KnownReward):
    """A model that no other process knows."""


def test_a_model_of_ones_own_is_refused() -> None:
    """A desk must be made again from its ledger alone."""
    with pytest.raises(InvalidInput, match="one of RidgeUCB, LogisticUCB, Predictor, KnownReward"):
        DeskSettings.create(n_features=D, reward=HomeMade([1.0, 0.0, 0.0]))


@pytest.mark.parametrize("reward", MODELS)
def test_settings_go_through_json(reward: Any) -> None:
    """What is written is read back the same."""
    settings = DeskSettings.create(n_features=D, reward=reward, seed=3)
    again = DeskSettings.from_dict(settings.to_dict())
    assert again == settings
    assert isinstance(again.first_bandit().reward, RewardModel)
    assert DeskSettings.from_dict(settings.to_dict(with_model=False)) == settings
