"""Somebody chooses otherwise: outcomes are then those of whoever was really chosen, and all else stays as it was."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.desk import ChangeSettings, Decide, Desk, DeskDecision, Ledger, Override, RecordOutcome
from evenhand.desk.replay import digest_of, replay
from evenhand.errors import AlreadyRecorded, EvenhandError, InvalidInput, NotChosen, UnknownPair
from evenhand.ledger.verify import verify
from tests.support.desk_play import QUICK, D, done, people, play


@pytest.fixture
def desk(ledger: Ledger, name: str) -> Desk:
    """A new desk."""
    return Desk.open(ledger, name, **QUICK, seed=3)


def decided(desk: Desk, seed: int = 0) -> tuple[DeskDecision, str, str]:
    """A decision, who was drawn, and somebody else."""
    decision = desk.decide(people(np.random.default_rng(seed)))
    (drawn,) = decision.chosen
    return decision, drawn, next(name for name in decision.candidates if name != drawn)


def test_the_one_really_chosen_gets_the_outcome(desk: Desk) -> None:
    """And the one who was drawn gets none any more; the reward model has seen the context of the other."""
    decision, drawn, other = decided(desk)
    desk.override(decision.id, [other], "a promise")
    with pytest.raises(NotChosen, match=other):
        desk.outcome(decision.id, {drawn: 0.5})
    before = desk.projection.bandit.reward
    desk.outcome(decision.id, {other: 0.9})
    context = np.array([decision.event.body["contexts"][decision.candidates.index(other)]])
    assert desk.projection.skipped == 0
    assert desk.projection.bandit.reward.estimate(context) > before.estimate(context)
    with pytest.raises(AlreadyRecorded):
        desk.outcome(decision.id, {other: 0.9})


def test_the_state_is_that_of_a_desk_where_the_lottery_drew_them(desk: Desk, ledger: Ledger, name: str) -> None:
    """The outcome is one more observation: the reward model comes out to the bit as if it had learned it directly."""
    decision, _, other = decided(desk)
    model = desk.settings.first_bandit().reward
    desk.override(decision.id, [other])
    desk.outcome(decision.id, {other: 0.9})
    model.learn(np.array([decision.event.body["contexts"][decision.candidates.index(other)]]), np.array([0.9]))
    x = np.eye(D)
    assert np.array_equal(desk.projection.bandit.reward.optimistic(x), model.optimistic(x))


def test_projection_and_replay_agree_after_overrides(desk: Desk, ledger: Ledger, name: str) -> None:
    """Decisions made after overridden outcomes come out the same to the bit, from a snapshot or from the first line."""
    for seed in range(4):
        decision, _, other = decided(desk, seed)
        desk.override(decision.id, [other])
        desk.outcome(decision.id, {other: 0.1 * seed})
        play(desk, 1, seed)
    reported = replay(ledger, name)
    assert reported.is_same
    desk.catch_up(wait=True)
    assert reported.state == digest_of(desk.projection.bandit.state())
    verify(ledger, name)


def test_the_last_override_stands(desk: Desk) -> None:
    """Each is a line; outcomes follow the newest; nobody at all may be chosen; what was recorded before stays."""
    decision, drawn, other = decided(desk)
    desk.outcome(decision.id, {drawn: 0.5})
    desk.override(decision.id, [])
    with pytest.raises(NotChosen):
        desk.outcome(decision.id, {other: 0.5})
    desk.override(decision.id, [other])
    desk.outcome(decision.id, {other: 0.5})
    kinds = [line["kind"] for line in desk.decision(decision.id)["followed_by"]]
    assert kinds == ["outcome", "override", "override", "outcome"]
    assert desk.projection.skipped == 0


def test_an_override_keeps_to_the_capacity_of_its_decision(desk: Desk) -> None:
    """That of the day it was made, not of today; nobody is chosen twice, and nobody who was not there."""
    decision, drawn, other = decided(desk)
    done(desk.execute([ChangeSettings({"capacity": None})]))
    for chosen, error in (
        ([drawn, other], InvalidInput),
        ([other, other], InvalidInput),
        (["nobody"], UnknownPair),
        (other, InvalidInput),
    ):
        with pytest.raises(error):
            desk.override(decision.id, chosen)
    wide = desk.decide(people(np.random.default_rng(9)))
    desk.override(wide.id, wide.candidates)
    assert [line.kind for line in desk.events()].count("override") == 1


def test_within_one_batch(desk: Desk) -> None:
    """Commands of a batch see the override before them."""
    (event,) = done(desk.execute([Decide(people(np.random.default_rng(0)))]))
    drawn = event.body["chosen"]
    other = next(name for name in event.body["candidates"] if name not in drawn)
    results = desk.execute(
        [
            RecordOutcome(event.id, {other: 0.5}),
            Override(event.id, [other]),
            RecordOutcome(event.id, {other: 0.5}),
            RecordOutcome(event.id, dict.fromkeys(drawn, 0.5)),
        ]
    )
    assert [isinstance(result, EvenhandError) for result in results] == [True, False, False, True]
