"""What is kept of rounds, against a count of everything."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.desk import Desk
from evenhand.desk.projection.projection import SPANS, RoundHistory
from tests.support.dashboard_past import SETTINGS, play

OUTCOMES = st.lists(st.tuples(st.integers(0, 200_000), st.floats(-1, 1, width=32)), max_size=60)


@given(OUTCOMES)
@settings(max_examples=100)
def test_every_span_has_what_belongs_to_it(outcomes: list[tuple[int, float]]) -> None:
    """However far numbers reach and in whatever order: of each span the number, sum and squares of its rewards."""
    history = RoundHistory()
    for number, reward in outcomes:
        history.outcome(number, {"a": reward})
    expected = np.zeros((SPANS, 3))
    for number, reward in outcomes:
        expected[number // history.width] += (1, reward, reward**2)
    np.testing.assert_allclose(history.rewards, expected, atol=1e-12)
    assert history.width == 1 or max(number for number, _ in outcomes) >= history.width * SPANS // 2


@given(OUTCOMES)
@settings(max_examples=50)
def test_a_state_comes_back(outcomes: list[tuple[int, float]]) -> None:
    """Saved and read again it goes on to the bit as if never stopped, and a copy is not reached by what comes later."""
    history = RoundHistory()
    for at, (number, reward) in enumerate(outcomes):
        history.count(at + 1, "outcome")
        history.outcome(number, {"a": reward})
    again, copy = RoundHistory.from_state(history.state()), deepcopy(history)
    for one in (history, again):
        one.count(99, "review")
        one.flag(10, promised=True)
        one.outcome(7, {"b": 0.5})
    assert again.state().keys() == history.state().keys()
    assert (again.width, again.kinds, again.news, again.targets) == (history.width, history.kinds, 99, history.targets)
    assert np.array_equal(again.flags, history.flags)
    assert history.flags[:, 0].sum() == 1
    assert np.array_equal(again.rewards, history.rewards)
    assert copy.rewards[:, 0].sum() == len(outcomes)
    assert copy.news == 0


@pytest.mark.parametrize("url", ["memory:", "sqlite"])
def test_the_projection_keeps_it_up_to_date(url: str, tmp_path: object) -> None:
    """After decisions, outcomes, reviews, withdrawals and overrides it says what a count of the ledger says."""
    where = url if url == "memory:" else f"sqlite:///{tmp_path}/ledger.db"
    with Desk.open(where, "loans", **SETTINGS) as desk:
        play(desk, 60)
        desk.catch_up(wait=True)
        events, history = desk.events(limit=10_000), desk.projection.history
        numbers = {event.id: event.body["number"] for event in events if event.kind == "decision"}
        assert history.kinds == Counter(event.kind for event in events)
        rewards = np.zeros((SPANS, 2))
        for event in (event for event in events if event.kind == "outcome"):
            for reward in event.body["rewards"].values():
                rewards[numbers[event.body["decision"]] // history.width] += (1, reward)
        np.testing.assert_allclose(history.rewards[:, :2], rewards, atol=1e-9)
        assert history.news == max(e.seq for e in events if e.kind in ("review", "withdrawal"))


def test_it_survives_the_process(tmp_path: object) -> None:
    """A desk that is opened again has the same history, from its snapshot and the lines after it."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    with Desk.open(url, "loans", **SETTINGS) as desk:
        play(desk, 30)
        desk.catch_up(wait=True)
        before = desk.projection.history
        assert desk.ledger.snapshots("loans")
    with Desk.open(url, "loans") as desk:
        desk.catch_up(wait=True)
        after = desk.projection.history
        assert (after.kinds, after.news, after.taught) == (before.kinds, before.news, before.taught)
        assert after.targets == before.targets == [(0, SETTINGS["target_unfair_share"])]
        assert np.array_equal(after.flags, before.flags)
        assert np.array_equal(after.rewards, before.rewards)


def test_what_taught_is_counted() -> None:
    """Judgements count; unsure, skipped and repeated answers do not, nor does what was taken back."""
    with Desk.open("memory:", "loans", n_features=2, seed=1) as desk:
        made = [desk.decide([[1.0, 0.0], [0.0, 1.0]]) for _ in range(4)]
        first = desk.review(made[0].id, "partial", unfair=[("0", "1")], reviewer="Kim")
        desk.review(made[0].id, "partial", unfair=[("0", "1")], reviewer="Kim", circumstances={"repeat": True})
        desk.review(made[1].id, "partial", reviewer="Kim", circumstances={"answer": "unsure", "pair": ["0", "1"]})
        desk.review(made[2].id, "complete", reviewer="Kim")
        desk.review(made[3].id, "one_bit", any_unfair=False, reviewer="Kim")
        desk.answer([1.0, 0.0], [0.0, 1.0], gap=0.3, unfair=None, reviewer="Kim")
        desk.answer([1.0, 0.0], [0.0, 1.0], gap=0.3, unfair=False, reviewer="Kim")
        desk.catch_up(wait=True)
        assert desk.projection.history.taught == 4
        desk.withdraw(first.id)
        desk.catch_up(wait=True)
        assert desk.projection.history.taught == 3
