"""The projection of a desk follows from its ledger: however it is computed, it is the same to the bit."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.bandit import FairBandit
from evenhand.desk import Decide, Desk, GiveReview, Ledger, Withdraw, open_ledger
from evenhand.desk.commands import ChangeSettings, Command
from evenhand.desk.event_records import decision_of
from evenhand.desk.event_records import review_of as review_in
from evenhand.desk.projection.reducer import Reducer
from evenhand.desk.projection.snapshots import from_bytes, to_bytes, to_drop
from evenhand.desk.replay import Walk, digest_of, replay
from evenhand.desk.settings import DeskSettings
from evenhand.errors import DamagedLedger
from evenhand.ledger.event import Stamp
from tests.support.desk_play import QUICK, D, done, people, play, review_of


def digest(desk: Desk) -> str:
    """Of the published projection."""
    return digest_of(desk.projection.bandit.state())


def test_replay_gives_the_same_decisions(ledger: Ledger, name: str) -> None:
    """From the first event on, every decision comes out the same, with withdrawals and settings in between."""
    with Desk.open(ledger, name, n_features=D, seed=3) as desk:
        reviews = play(desk, 6)
        done(desk.execute([Withdraw(reviews[2].id), ChangeSettings({"capacity": 2, "target_unfair_share": 0.1})]))
        more = play(desk, 5, seed=1)
        done(desk.execute([Withdraw(more[0].id), ChangeSettings({"max_unfair_rounds": 1, "target": "estimated"})]))
        play(desk, 4, seed=2)
        replayed = replay(ledger, name)
        assert replayed.differences == []
        assert replayed.decisions == 30
        assert replayed.state == digest(desk)


def test_a_withdrawn_review_leaves_no_trace(ledger: Ledger, name: str) -> None:
    """The projection is that of a bandit that has learned from all the rest, in order."""
    with Desk.open(ledger, name, n_features=D, seed=3) as desk:
        reviews = play(desk, 5)
        gone = reviews[3]
        done(desk.execute([Withdraw(gone.id)]))
        desk.catch_up(wait=True)
        bandit = desk.settings.first_bandit()
        for event in desk.events():
            learn(bandit, desk, event.to_dict(), gone.id)
        assert np.array_equal(desk.projection.bandit.metric.matrix(), bandit.metric.matrix())
        assert desk.projection.bandit.rounds == bandit.rounds


def learn(bandit: FairBandit, desk: Desk, event: dict[str, Any], gone: str) -> None:
    """Let a bandit learn from one event in the plainest way."""
    body = event["body"]
    if event["kind"] == "decision":
        bandit.count_decisions()
    elif event["kind"] == "outcome":
        decision = desk.event(body["decision"]).body
        rewards = {decision["candidates"].index(who): reward for who, reward in body["rewards"].items()}
        bandit.learn(decision_of(decision), rewards=rewards)
    elif event["kind"] == "review" and event["id"] != gone:
        decision = desk.event(body["decision"]).body
        bandit.learn(decision_of(decision), review=review_in(body, decision["candidates"]))


STEPS = ["decide", "review", "outcome", "withdraw", "replace", "catch up", "reopen", "set"]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(STEPS), max_size=40), st.integers(0, 9))
def test_any_way_of_projecting_gives_the_same(steps: list[str], seed: int) -> None:
    """Whatever is done in whatever order, projected now or later, with or without snapshots: one projection."""
    rng = np.random.default_rng(seed)
    ledger = open_ledger("memory:")
    desk = Desk.open(ledger, "loans", n_features=D, metric="BayesPoint", seed=seed)
    decisions: list[Any] = []
    reviews: list[Any] = []
    for step in steps:
        if step == "catch up":
            desk.catch_up()
        elif step == "reopen":
            desk.close()
            desk = Desk.open(ledger, "loans")
        for event in done(desk.execute(commands(step, decisions, reviews, rng))):
            if event.kind in ("decision", "review"):
                (decisions if event.kind == "decision" else reviews).append(event)
    desk.catch_up(wait=True)
    assert Walk(ledger, "loans", withdrawals(ledger)).to(desk.head.seq).bandit.rounds == desk.head.decisions
    replayed = replay(ledger, "loans")
    assert replayed.is_same
    assert replayed.state == digest(desk)
    desk.close()


def withdrawals(ledger: Ledger) -> list[tuple[int, int]]:
    """All withdrawn reviews."""
    with ledger.reading("loans") as view:
        return view.withdrawals()


def commands(step: str, decisions: list[Any], reviews: list[Any], rng: np.random.Generator) -> list[Command]:
    """What a step does; nothing if there is nothing to do it with."""
    if step == "decide":
        return [Decide(people(rng, k=3)), Decide(people(rng))]
    if step == "set":
        return [ChangeSettings({"capacity": int(rng.integers(1, 3)), "max_unfair_rounds": int(rng.integers(1, 9))})]
    if step == "review" and decisions:
        event = decisions[int(rng.integers(len(decisions)))]
        return [GiveReview(event.id, "complete", review_of(event).unfair, reviewer=f"r{rng.integers(1 << 40)}")]
    if step in ("withdraw", "replace") and reviews:
        gone = reviews.pop(int(rng.integers(len(reviews))))
        if step == "withdraw":
            return [Withdraw(gone.id)]
        somebody = f"r{rng.integers(1 << 40)}"
        return [GiveReview(gone.body["decision"], "complete", [], reviewer=somebody, supersedes=gone.id)]
    return []


def test_a_snapshot_is_the_projection(ledger: Ledger, name: str) -> None:
    """A snapshot read back is the reducer that was kept, and it knows its ledger."""
    with Desk.open(ledger, name, **QUICK, seed=3) as desk:
        play(desk, 5)
        reducer = desk.projector._reducer
        kept = from_bytes(to_bytes(reducer, "chain"), "chain")
        assert kept is not None
        assert digest_of(kept.bandit.state()) == digest_of(reducer.bandit.state()) == digest(desk)
        with pytest.raises(DamagedLedger, match="another hash"):
            from_bytes(to_bytes(reducer, "chain"), "another chain")
        assert from_bytes(b"nonsense") is None


def test_a_damaged_snapshot_is_not_used(ledger: Ledger, name: str) -> None:
    """Projecting again is always right."""
    with Desk.open(ledger, name, **QUICK, seed=3) as desk:
        play(desk, 3)
        state = digest(desk)
    for stamp in ledger.snapshots(name):
        ledger.keep_snapshot(name, stamp, b"damaged", [])
    with Desk.open(ledger, name) as desk:
        desk.catch_up(wait=True)
        assert digest(desk) == state


def test_a_snapshot_kept_on_the_way_is_not_published(ledger: Ledger, name: str) -> None:
    """It may leave out a review that was withdrawn later: projecting goes on from it, deciding does not."""
    with Desk.open(ledger, name, n_features=D, metric="BayesPoint", seed=3) as desk:
        reviews = play(desk, 4)
        for stamp in ledger.snapshots(name):
            ledger.keep_snapshot(name, stamp, b"damaged", [])
        done(desk.execute([Withdraw(reviews[0].id)]))
        head = desk.head.seq
    with ledger.reading(name) as view:
        withdrawn, rows = view.withdrawals(), view.after(0, head)
    reducer = Reducer.initial(DeskSettings.from_dict(rows[0].event.body["settings"]))
    middle = reviews[3].seq
    reducer.advance(ledger, name, middle, [(middle, review) for _, review in withdrawn])
    reducer.stamp = Stamp(middle, head)
    ledger.keep_snapshot(name, reducer.stamp, to_bytes(reducer, rows[middle - 1].hash), [])
    with Desk.open(ledger, name) as desk:
        assert desk.projection.seq == 0
        (event,) = done(desk.execute([Decide(people(np.random.default_rng(1)))]))
        desk.catch_up(wait=True)
        assert event.body["state"] == 0
        assert replay(ledger, name).is_same
        assert replay(ledger, name).state == digest(desk)


def test_deciding_goes_on_while_a_projection_runs(ledger: Ledger, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A decision does not wait for the projector: it is made from the projection before."""
    with Desk.open(ledger, name, **QUICK, seed=3) as desk:
        play(desk, 2)
        seq, advance = desk.projection.seq, Reducer.advance
        begun, goes_on = threading.Event(), threading.Event()

        def slowly(self: Reducer, *arguments: Any) -> None:
            begun.set()
            assert goes_on.wait(60)
            advance(self, *arguments)

        monkeypatch.setattr(Reducer, "advance", slowly)
        desk.project_in_background()
        done(desk.execute([Decide(people(np.random.default_rng(9)))]))
        assert begun.wait(60)
        (event,) = done(desk.execute([Decide(people(np.random.default_rng(10)))]))
        assert event.body["state"] == seq
        assert not desk.wait_for(event.seq, timeout=0)
        goes_on.set()
        assert desk.wait_for(event.seq, timeout=60)


def test_a_projector_that_fails_lets_another_one_try(
    ledger: Ledger, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever went wrong, the lock is free afterwards."""
    with Desk.open(ledger, name, **QUICK, seed=3) as desk:
        done(desk.execute([Decide(people(np.random.default_rng(9)))]))

        def failing(self: Reducer, *arguments: Any) -> None:
            raise OSError("no space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(Reducer, "advance", failing)
            with pytest.raises(OSError, match="no space"):
                desk.projector.catch_up(wait=False, keep_lock=True)
        assert not desk.is_projecting
        other = ledger.projection_lock(name)
        assert other.acquire()
        other.release()
        desk.catch_up(wait=True)
        assert desk.projection.seq == desk.head.seq


def test_log_spaced_snapshots() -> None:
    """However many snapshots were made, a few stay, and the way back to any event is at most five times its age."""
    stamps: list[Stamp] = []
    for newest in range(500, 1_000_000, 997):
        stamps.append(Stamp(newest, newest))
        drop = set(to_drop(stamps, newest))
        stamps = [stamp for stamp in stamps if stamp.seq not in drop]
        assert len(stamps) <= 32
    newest = stamps[-1].seq
    for line in range(2000, newest, 7919):
        start = max((stamp.seq for stamp in stamps if stamp.seq <= line), default=0)
        assert newest - start <= 5 * (newest - line) + 4096


def test_first_bandits_are_the_same() -> None:
    """Two processes that open a desk make the same bandit: it knows the other's decisions."""
    one = DeskSettings.create(n_features=3, seed=2**127 + 5)
    other = DeskSettings.from_dict(one.to_dict())
    assert other == one
    decision = one.first_bandit().propose([[1.0, 0, 0]], number=0, rng=np.random.default_rng(0))
    bandit = other.first_bandit()
    bandit.count_decisions()
    bandit.learn(decision, rewards=dict.fromkeys(decision.chosen, 0.1))


def test_settings_written_before_there_were_two_targets_are_read() -> None:
    """Events of older desks say nothing of it: every flagged decision counts. Their key, and so their ids, stay."""
    settings = DeskSettings.create(n_features=3, seed=1, target_unfair_share=0.1)
    record = settings.to_dict()
    assert record.pop("target") == "flagged"
    old = DeskSettings.from_dict(record)
    assert old == settings
    estimated = settings.changed({"target": "estimated"})
    contexts = np.eye(3)
    ids = [each.first_bandit().decide(contexts).id for each in (settings, old, estimated)]
    assert ids[0] == ids[1] != ids[2]
