"""A bandit between floors and ceilings, and in shares: what it plays, signs, learns and saves."""

from __future__ import annotations

import hashlib
import json
from array import array
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand._internal.arrays import Floats
from evenhand.errors import CollidingBounds, ForeignDecision, InvalidInput
from evenhand.records.decision import Decision
from evenhand.rewards import KnownReward, RewardModel, RidgeUCB
from tests.support.simulation import same

D = 4


def people(seed: int, k: int = 6) -> Floats:
    """Contexts of norm 1."""
    contexts = np.random.default_rng(seed).normal(size=(k, D))
    return np.asarray(contexts / np.linalg.norm(contexts, axis=1, keepdims=True))


def played(bandit: eh.FairBandit, rounds: int, seed: int = 0, **bounds: Any) -> list[Decision]:
    """Rounds with outcomes of everybody chosen, at their shares if there are any, and complete reviews."""
    decisions = []
    for number in range(rounds):
        decision = bandit.decide(people(seed + number), **bounds)
        worth = decision.contexts @ [0.5, 0.3, 0.0, -0.2]
        shares = decision.probabilities if decision.mode == "shares" else np.ones(decision.n_candidates)
        rewards = {i: float(shares[i] * worth[i]) for i in decision.chosen}
        bandit.learn(decision, rewards=rewards, review=eh.Review.complete(unfair=[]))
        decisions.append(decision)
    return decisions


LOWER, UPPER = [0.1, 0, 0, 0, 0, 0], [1, 1, 0.05, 0, 1, 1]


@pytest.mark.parametrize("capacity", [1, 2, None])
def test_decisions_keep_to_floors_ceilings_and_distances(capacity: int | None) -> None:
    """Every probability is between its bounds, every gap within its distance, and the decision has the bounds."""
    bandit = eh.FairBandit(D, capacity=capacity, seed=0)
    for number in range(8):
        contexts = people(number)
        distances = bandit.safeguards.distances_to_play(bandit.metric, contexts)
        decision = bandit.decide(contexts, lower=LOWER, upper=UPPER)
        p = decision.probabilities
        assert np.all(p >= np.array(LOWER) - 1e-12)
        assert np.all(p <= np.array(UPPER) + 1e-12)
        assert np.all(np.abs(p[:, None] - p[None]) <= distances + 1e-9)
        assert decision.lower is not None
        assert decision.upper is not None
        assert (decision.lower.tolist(), decision.upper.tolist()) == (LOWER, UPPER)
        assert decision.to_rows()[2]["upper"] == 0.05
        bandit.learn(decision, rewards=dict.fromkeys(decision.chosen, 0.3), review=eh.Review.complete(unfair=[(0, 1)]))


def test_one_floor_for_all() -> None:
    """A number is a bound of everybody."""
    decision = eh.FairBandit(D, capacity=2, seed=0).decide(people(0), lower=0.1, upper=0.5)
    assert 0.1 - 1e-12 <= decision.probabilities.min() <= decision.probabilities.max() <= 0.5 + 1e-12


def test_bounds_that_collide_change_nothing() -> None:
    """No round is counted and no number is drawn; the error names the pair."""
    bandit, twin = (eh.FairBandit(D, seed=3) for _ in range(2))
    alike = np.vstack([people(0)[:1], people(0)])
    with pytest.raises(CollidingBounds, match=r"floor 0\.8 of candidate 0 and the ceiling 0\.1 of candidate 1"):
        bandit.decide(alike, lower=[0.8, 0, 0, 0, 0, 0, 0], upper=[1, 0.1, 1, 1, 1, 1, 1])
    with pytest.raises(InvalidInput, match=r"lower must be a number, or have shape \(7,\)"):
        bandit.decide(alike, lower=[0.8])
    assert same(bandit.state(), twin.state())
    assert bandit.decide(people(1)).id == twin.decide(people(1)).id


def test_a_lottery_without_bounds_has_the_id_it_always_had() -> None:
    """The content that is signed is what it was before there were bounds and shares."""
    bandit = eh.FairBandit(D, capacity=2, seed=0)
    decision = played(bandit, 4)[-1]
    places = (decision.round, *decision.contexts.shape, len(decision.chosen), *decision.chosen)
    numbers = array("q", (*places, *chain.from_iterable(decision.tight_pairs)))
    content = numbers.tobytes() + decision.contexts.tobytes() + decision.probabilities.tobytes()
    assert decision.id == f"3-{hashlib.blake2b(content, key=bandit._key, digest_size=16).hexdigest()}"


@pytest.mark.parametrize(
    "changes", [{"lower": np.zeros(6)}, {"upper": np.ones(6)}, {"lower": None, "upper": None}, {"mode": "shares"}]
)
def test_bounds_and_mode_are_signed(changes: dict[str, Any]) -> None:
    """A decision with another floor, another ceiling or another mode is not this bandit's."""
    bandit = eh.FairBandit(D, capacity=2, seed=0)
    decision = bandit.decide(people(0), lower=LOWER, upper=UPPER)
    bandit.learn(Decision.from_dict(json.loads(json.dumps(decision.to_dict()))), review=eh.Review.complete())
    with pytest.raises(ForeignDecision):
        bandit.learn(replace(decision, **changes), review=eh.Review.complete())


@pytest.mark.parametrize("settings", [{"max_unfair_rounds": 0}, {"target_unfair_share": 0.01}])
def test_safeguards_come_before_bounds(settings: dict[str, Any]) -> None:
    """Where only equal probabilities may be played, bounds that fit them are kept, and others collide."""
    bandit = eh.FairBandit(D, capacity=3, seed=0, **settings)
    if bandit.safeguards.margin.target is not None:
        for number in range(20):
            decision = bandit.decide(people(number))
            bandit.learn(decision, review=eh.Review.complete(unfair=[(0, int(np.argmax(_gaps(decision))))]))
        bandit.safeguards.margin = replace(bandit.safeguards.margin, s=0.0)
    decision = bandit.decide(people(50), lower=0.2, upper=[0.3, 1, 1, 1, 1, 1])
    np.testing.assert_allclose(decision.probabilities, 0.3, rtol=0, atol=1e-9)
    with pytest.raises(CollidingBounds):
        bandit.decide(people(50), lower=[0, 0.5, 0, 0, 0, 0], upper=[0.3, 1, 1, 1, 1, 1])


def _gaps(decision: Decision) -> Floats:
    return np.asarray(np.abs(decision.probabilities - decision.probabilities[0]))


def test_proved_gaps_make_room_for_bounds() -> None:
    """Under the cap a floor and a ceiling fit once earlier reviews prove that their gap is fair."""
    bandit = eh.FairBandit(2, max_unfair_rounds=0, seed=0)
    contexts = np.array([[0.0, 0.0], [0.9, 0.0]])
    bounds: dict[str, Any] = {"lower": [0.0, 0.4], "upper": [0.1, 1.0]}
    with pytest.raises(CollidingBounds):
        bandit.decide(contexts, **bounds)
    bandit.learn_pair(contexts[0], contexts[1], gap=0.5, unfair=False)
    decision = bandit.decide(contexts, **bounds)
    assert decision.probabilities[1] - decision.probabilities[0] >= 0.3 - 1e-9


# Shares.


def test_shares_draw_nobody() -> None:
    """All with a share are chosen, whatever the seed, and no random number is drawn."""
    first, second = (eh.FairBandit(D, mode="shares", capacity=2.5, metric=_metric(), seed=seed) for seed in (1, 2))
    before = first._rng.bit_generator.state
    decisions = [bandit.decide(people(0), upper=[1, 1, 0.4, 1, 1, 1]) for bandit in (first, second)]
    assert first._rng.bit_generator.state == before
    np.testing.assert_array_equal(decisions[0].probabilities, decisions[1].probabilities)
    assert decisions[0].mode == "shares"
    assert decisions[0].chosen == tuple(np.flatnonzero(decisions[0].probabilities > 0))
    assert decisions[0].probabilities.sum() == pytest.approx(2.5)
    assert "share" in str(decisions[0])
    assert "chosen" not in str(decisions[0])


def _metric() -> eh.metrics.KnownMetric:
    return eh.metrics.KnownMetric(0.2 * np.eye(D))


def test_outcomes_are_those_of_a_share() -> None:
    """The model learns as from contexts times shares; without noise it comes to the reward of the whole."""
    bandit = eh.FairBandit(D, mode="shares", capacity=2, metric=_metric(), seed=0)
    model = RidgeUCB(D)
    for decision in played(bandit, 150):
        worth = decision.contexts @ [0.5, 0.3, 0.0, -0.2]
        chosen = list(decision.chosen)
        model.learn(
            decision.contexts[chosen] * decision.probabilities[chosen, None], (decision.probabilities * worth)[chosen]
        )
    assert isinstance(bandit.reward, RidgeUCB)
    np.testing.assert_allclose(bandit.reward.theta, model.theta, rtol=0, atol=1e-12)
    np.testing.assert_allclose(bandit.reward.theta, [0.5, 0.3, 0.0, -0.2], rtol=0, atol=0.05)


def test_a_bandit_in_shares_goes_on_after_saving(tmp_path: Path) -> None:
    """To the bit, with its mode and a capacity that is no whole number."""
    bandit = eh.FairBandit(D, mode="shares", capacity=1.5, seed=0)
    played(bandit, 5)
    bandit.save(tmp_path / "bandit.eh")
    loaded = eh.FairBandit.load(tmp_path / "bandit.eh")
    assert (loaded.mode, loaded.capacity) == ("shares", 1.5)
    again = [[decision.id for decision in played(each, 5, seed=9, lower=0.01)] for each in (bandit, loaded)]
    assert again[0] == again[1]


class Whole(RewardModel):
    """A model that learns whole outcomes only."""

    n_features = D

    def estimate(self, contexts: Floats) -> Floats:
        """Zero."""
        return np.zeros(len(contexts))

    widths = estimate

    def learn(self, contexts: Floats, rewards: Floats) -> None:
        """Nothing."""

    def state(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Whole:
        """A new one."""
        return cls()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mode": "share"}, "mode must be 'lottery' or 'shares', got 'share'"),
        ({"capacity": 1.5}, "capacity must be a whole number >= 1 or None, got 1.5"),
        ({"mode": "shares", "capacity": 0}, "capacity must be a number > 0 or None, got 0"),
        ({"mode": "shares", "reward": Whole()}, "reward must be a model that learns from shares for mode 'shares'"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    """An unknown mode, a capacity that does not fit it, or a reward model that cannot learn from shares."""
    with pytest.raises(InvalidInput, match=message):
        eh.FairBandit(D, **settings)


def test_a_known_reward_needs_no_outcomes_of_shares() -> None:
    """It has nothing to learn, in shares as in a lottery."""
    bandit = eh.FairBandit(D, mode="shares", reward=KnownReward([0.5, 0.3, 0.0, -0.2]), seed=0)
    played(bandit, 2)
    assert bandit.rounds == 2
