"""Floors, ceilings and shares at a desk: commands, events, explanations, replays, imports, erasures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDRegressor

from evenhand.adapters.dsjson_ledger import to_dsjson
from evenhand.desk import Decide, Desk, Ledger
from evenhand.desk.imports.importing import import_jsonl
from evenhand.desk.replay import digest_of, replay
from evenhand.errors import CollidingBounds, EvenhandError, IdempotencyConflict, InvalidInput, NotChosen
from evenhand.ledger.verify import to_jsonl, verify
from evenhand.rewards import LogisticUCB, Predictor, RidgeUCB
from tests.support.desk_play import QUICK, D, people


@pytest.fixture
def desk(ledger: Ledger, name: str) -> Desk:
    """A new desk."""
    return Desk.open(ledger, name, **QUICK, seed=3)


@pytest.fixture
def sharing(ledger: Ledger, name: str) -> Desk:
    """A new desk that decides in shares."""
    return Desk.open(ledger, name, **{**QUICK, "capacity": 1.5}, mode="shares", seed=3)


def entries(seed: int = 0, names: str = "abcd") -> list[dict[str, Any]]:
    """Candidates of these names."""
    return [
        {**one, "id": name} for name, one in zip(names, people(np.random.default_rng(seed), len(names)), strict=True)
    ]


@pytest.mark.parametrize(
    ("lower", "upper"),
    [({"b": 0.2}, {"c": 0.1}), ([0, 0.2, 0, 0], np.array([1, 1, 0.1, 1])), ({"b": 0.2}, [1, 1, 0.1, 1])],
)
def test_bounds_by_id_or_in_order(desk: Desk, lower: Any, upper: Any) -> None:
    """Both forms give the same decision, its event has the bounds, and a replay comes to the same."""
    decision = desk.decide(entries(), lower=lower, upper=upper)
    assert decision.bounds == {"a": (0, 1), "b": (0.2, 1), "c": (0, 0.1), "d": (0, 1)}
    assert decision.to_rows()[2]["upper"] == 0.1
    assert decision.probabilities["b"] >= 0.2 - 1e-12
    assert decision.probabilities["c"] <= 0.1 + 1e-12
    desk.outcome(decision.id, dict.fromkeys(decision.chosen, 0.5))
    desk.review(decision.id, unfair=[("a", "b")], reviewer="Kim")
    desk.decide(entries(1), upper=0.4)
    desk.catch_up(wait=True)
    reported = replay(desk.ledger, desk.name)
    assert reported.is_same
    assert reported.state == digest_of(desk.projection.bandit.state())


def test_decisions_without_bounds_have_the_fields_they_had(desk: Desk) -> None:
    """No event has a new field unless it is used."""
    assert not {"lower", "upper", "mode"} & set(desk.decide(entries()).event.body)


def test_what_collides_is_named_by_id(desk: Desk) -> None:
    """The error names candidates as the caller does; nothing is recorded, and the rest of the batch goes on."""
    alike = [{**entries()[0], "id": "twin"}, *entries()]
    colliding = Decide(alike, lower={"a": 0.7}, upper={"twin": 0.2})
    error, event = desk.execute([colliding, Decide(entries())])
    assert isinstance(error, CollidingBounds)
    assert not isinstance(event, EvenhandError)
    assert "floor 0.7 of candidate a and the ceiling 0.2 of candidate twin" in str(error)
    assert error.collisions.to_dict()["pairs"][0]["ceiling_of"] == "twin"
    assert [one.kind for one in desk.events()] == ["opened", "decision"]


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"lower": {"x": 0.1}}, "lower must be of candidates, got one of the unknown candidate 'x'"),
        ({"lower": {"a": 1.5}}, "lower of candidate 'a' must be a number from 0 to 1, got 1.5"),
        ({"upper": [0.5]}, "upper must be one for each of 4 candidates; got 1"),
        ({"upper": "half"}, "upper must be a number, a dict by candidate's id, or a list in their order"),
        ({"lower": {"a": 0.5}, "upper": {"a": 0.4}}, "lower must be <= upper, candidate 'a' has 0.5 and 0.4"),
    ],
)
def test_bad_bounds_are_refused(desk: Desk, bounds: dict[str, Any], message: str) -> None:
    """In a sentence that names the candidate; nothing is recorded."""
    with pytest.raises(InvalidInput, match=message):
        desk.decide(entries(), **bounds)
    assert len(desk.events()) == 1


def test_bounds_of_somebody_left_out_are_ignored(desk: Desk) -> None:
    """By id they need not fit the ones who are left; a list must say whom it is about."""
    candidates = [*entries(), {"id": "e", "context": [9.0] * D}]
    decision = desk.decide(candidates, on_invalid="skip", lower={"e": 0.1, "a": 0.1})
    assert set(decision.bounds) == set("abcd")
    with pytest.raises(InvalidInput, match="1 were left out: pass a dict by id"):
        desk.decide(candidates, on_invalid="skip", lower=[0.1] * 5)


def test_the_same_key_with_other_bounds_is_a_conflict(desk: Desk) -> None:
    """Bounds are part of a command: sent again it gives the same event, with other bounds an error."""
    first = desk.decide(entries(), lower={"a": 0.1}, idempotency_key="k")
    assert desk.decide(entries(), lower=[0.1, 0, 0, 0], idempotency_key="k").id == first.id
    with pytest.raises(IdempotencyConflict):
        desk.decide(entries(), lower={"a": 0.2}, idempotency_key="k")
    with pytest.raises(IdempotencyConflict):
        desk.decide(entries(), idempotency_key="k")


def test_an_explanation_says_who_is_at_a_bound(desk: Desk) -> None:
    """Each candidate has its bounds and which of them holds it; the sentences name them."""
    decision = desk.decide(entries(), lower={"a": 0.1}, upper={"b": 0.0})
    explained = desk.explain(decision.id)
    held = {one.id: one.held_by for one in explained.candidates}
    assert held["b"] == "ceiling"
    assert "The probability of candidate b, 0.0%, is its ceiling." in explained.sentences
    assert {one.id: one.lower for one in explained.candidates} == {"a": 0.1, "b": 0, "c": 0, "d": 0}
    assert explained.price is not None
    assert explained.price.probabilities_without["b"] == 0.0
    assert explained.price.optimistic_reward >= -1e-12


# Shares.


def test_a_desk_in_shares(sharing: Desk) -> None:
    """Everybody with a share may have an outcome, learned at the share; replays and a new process come to the same."""
    model = RidgeUCB(D)
    for seed in range(3):
        decision = sharing.decide(entries(seed), lower={"a": 0.05})
        assert decision.mode == "shares"
        assert sum(decision.probabilities.values()) <= 1.5 + 1e-9
        rewards = {name: 0.4 * decision.probabilities[name] for name in decision.chosen}
        sharing.outcome(decision.id, rewards)
        sharing.review(decision.id, unfair=[("a", "b")], reviewer="Kim")
        places = [decision.candidates.index(name) for name in decision.chosen]
        contexts = np.array(decision.event.body["contexts"])[places]
        shares = np.array([decision.probabilities[name] for name in decision.chosen])
        model.learn_shares(contexts, 0.4 * shares, shares)
    sharing.catch_up(wait=True)
    learned = sharing.projection.bandit.reward
    np.testing.assert_allclose(learned.estimate(np.eye(D)), model.estimate(np.eye(D)), rtol=0, atol=1e-12)
    reported = replay(sharing.ledger, sharing.name)
    assert reported.is_same
    verify(sharing.ledger, sharing.name)
    again = Desk(sharing.ledger, sharing.name)
    again.catch_up(wait=True)
    assert digest_of(again.projection.bandit.state()) == reported.state
    assert "share" in sharing.explain(decision.id).sentences[0]


def test_what_shares_do_not_have(sharing: Desk, ledger: Ledger, name: str) -> None:
    """No draw to override, no outcome of somebody without a share, no DSJSON, and no change to a lottery."""
    decision = sharing.decide(entries(), upper={"a": 0.0})
    with pytest.raises(InvalidInput, match="there is no draw to override"):
        sharing.override(decision.id, ["b"])
    with pytest.raises(NotChosen):
        sharing.outcome(decision.id, {"a": 0.1})
    with pytest.raises(InvalidInput, match="it draws nobody"):
        list(to_dsjson(ledger, name))
    with pytest.raises(InvalidInput, match="mode cannot change while a desk runs"):
        sharing.change_settings(mode="lottery")
    sharing.change_settings(capacity=2.25)
    assert sharing.settings.capacity == 2.25


def test_shares_beside_a_system_that_gives_shares(sharing: Desk, ledger: Ledger, name: str, tmp_path: Path) -> None:
    """In shadow mode the desk learns at the shares that were really given; then live, replayed, imported, erased."""
    sharing.switch("shadow")
    model, given = RidgeUCB(D), {"a": 0.5, "b": 0.25, "c": 0.0, "d": 0.0}
    for seed in range(3):
        decision = sharing.decide(entries(seed))
        assert decision.chosen == []
        with pytest.raises(InvalidInput, match="action must have probabilities, the share that each candidate got"):
            sharing.action(decision.id, ["a", "b"])
        for chosen, who in ((["a"], "'b' was not chosen, got 0.25"), (["a", "b", "c"], "'c' was chosen, got 0")):
            with pytest.raises(InvalidInput, match=f"probabilities must be those of what was done: candidate {who}"):
                sharing.action(decision.id, chosen, probabilities=given)
        sharing.action(decision.id, ["a", "b"], probabilities=given)
        with pytest.raises(NotChosen):
            sharing.outcome(decision.id, {"c": 0.1})
        sharing.outcome(decision.id, {"b": 0.1, "a": 0.3})
        sharing.review(decision.id, unfair=[("a", "b")], subject="system", reviewer="Kim")
        model.learn_shares(
            np.array(decision.event.body["contexts"])[[1, 0]], np.array([0.1, 0.3]), np.array([0.25, 0.5])
        )
    sharing.catch_up(wait=True)
    learned = sharing.projection.bandit.reward.estimate(np.eye(D))
    np.testing.assert_allclose(learned, model.estimate(np.eye(D)), rtol=0, atol=1e-12)
    assert "The system in force gave shares to a, b." in " ".join(sharing.explain(decision.id).sentences)
    assert sharing.differences().compared == 3
    sharing.switch("live")
    live = sharing.decide(entries(9))
    sharing.outcome(live.id, {one: 0.2 * live.probabilities[one] for one in live.chosen})
    sharing.catch_up(wait=True)
    assert replay(sharing.ledger, sharing.name).is_same
    verify(sharing.ledger, sharing.name)
    file = tmp_path / "ledger.jsonl"
    file.write_text("\n".join(to_jsonl(ledger, name)) + "\n")
    other = Desk.open(ledger, f"{name}-2", **QUICK, seed=4)
    assert import_jsonl(other, file).refused == []
    other.catch_up(wait=True)
    learned = sharing.projection.bandit.reward.estimate(np.eye(D))
    np.testing.assert_allclose(other.projection.bandit.reward.estimate(np.eye(D)), learned, rtol=0, atol=1e-12)
    sharing.erase("a")
    sharing.catch_up(wait=True)
    assert sharing.projection.skipped == 0


@pytest.mark.parametrize("kind", ["LogisticUCB", "Predictor"])
def test_a_desk_in_shares_with_another_model(ledger: Ledger, name: str, kind: str) -> None:
    """Models of yes and no learn a part of a yes as a yes, at a desk, and a replay comes to the same."""
    model = LogisticUCB(D) if kind == "LogisticUCB" else Predictor(SGDRegressor(), D, refit_every=10)
    with Desk.open(ledger, name, **{**QUICK, "capacity": 1.5}, mode="shares", reward=model, seed=3) as desk:
        for seed in range(6):
            decision = desk.decide(entries(seed))
            with pytest.raises(InvalidInput):
                desk.outcome(decision.id, {decision.chosen[0]: 30.0})
            desk.outcome(decision.id, {one: decision.probabilities[one] for one in decision.chosen})
        desk.catch_up(wait=True)
        learned = desk.projection.bandit.reward
        assert learned.n_outcomes > 10  # type: ignore[attr-defined]
        assert learned.estimate(np.eye(D)).tolist() != model.estimate(np.eye(D)).tolist()
        assert replay(ledger, name).is_same


def test_a_lottery_has_a_whole_capacity(ledger: Ledger, name: str) -> None:
    """As it always had: only shares add up to a part of one."""
    with pytest.raises(InvalidInput, match=r"capacity must be a whole number >= 1 or None, got 1\.5"):
        Desk.open(ledger, name, n_features=D, capacity=1.5)


def test_a_ledger_of_shares_is_imported_as_shares(sharing: Desk, ledger: Ledger, name: str, tmp_path: Path) -> None:
    """Outcomes of an exported ledger are learned at the shares they were of."""
    for seed in range(2):
        decision = sharing.decide(entries(seed))
        sharing.outcome(decision.id, {one: 0.4 * decision.probabilities[one] for one in decision.chosen})
    sharing.catch_up(wait=True)
    file = tmp_path / "ledger.jsonl"
    file.write_text("\n".join(to_jsonl(ledger, name)) + "\n")
    other = Desk.open(ledger, f"{name}-2", **QUICK, seed=4)
    import_jsonl(other, file)
    other.catch_up(wait=True)
    before, after = (each.projection.bandit.reward.estimate(np.eye(D)) for each in (sharing, other))
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-12)


def test_erasing_somebody_leaves_the_rest_of_a_decision_in_shares(sharing: Desk) -> None:
    """Outcomes of the others are still learned at their shares."""
    decision = sharing.decide(entries(), lower=0.1)
    sharing.outcome(decision.id, {name: 0.4 * decision.probabilities[name] for name in decision.chosen})
    sharing.erase("a")
    sharing.catch_up(wait=True)
    assert sharing.projection.skipped == 0
    reward = sharing.projection.bandit.reward
    assert isinstance(reward, RidgeUCB)
    assert reward.n_outcomes == 3
    assert sharing.explain(decision.id).mode == "shares"
