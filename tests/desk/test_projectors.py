"""Projectors: all desks of a process are projected by a few threads, woken by writes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.desk import Decide, Desk, Ledger, open_ledger
from evenhand.desk.projection import projector as projector_module
from evenhand.desk.projection.projector import THREADS, Projector, Projectors
from evenhand.desk.projection.reducer import Reducer
from evenhand.errors import DamagedLedger, LedgerUnavailable
from tests.support.desk_play import QUICK, done, people, play
from tests.support.waiting import wait_for

PEOPLE = people(np.random.default_rng(0))


@pytest.fixture
def projectors(ledger: Ledger) -> Iterator[Projectors]:
    """Of a ledger in memory; polls rarely, so that what is noticed was noticed by waking."""
    made = Projectors(ledger, poll_seconds=600.0)
    yield made
    made.close()


def wait_until_applied(desk: Desk, seq: int) -> None:
    """Wait without touching the projector."""
    wait_for(lambda: desk.projection.seq >= seq, what=f"the projection at {seq}")


def threads() -> list[str]:
    """The names of the threads that project."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("evenhand-projector")]


def test_a_write_wakes_the_projector(ledger: Ledger, projectors: Projectors) -> None:
    """An event is applied soon after its commit, without a poll."""
    with Desk.open(ledger, "loans", **QUICK, seed=1) as desk:
        projectors.add(desk)
        for _ in range(3):
            event = desk.decide(PEOPLE).event
            wait_until_applied(desk, event.seq)
            assert desk.projection.bandit.rounds == event.body["number"] + 1


def test_a_run_that_finds_the_projector_busy_is_tried_again(ledger: Ledger, projectors: Projectors) -> None:
    """A write committed while another thread looks at the projection is applied once that thread is done."""
    with Desk.open(ledger, "loans", **QUICK, seed=1) as desk:
        projectors.add(desk)
        wait_until_applied(desk, desk.decide(PEOPLE).event.seq)
        came = threading.Event()
        catch_up = desk.projector.catch_up

        def announced(**options: bool) -> float | None:
            found = catch_up(**options)
            came.set()
            return found

        desk.projector.catch_up = announced  # type: ignore[method-assign]
        with desk.projector._turn:
            event = desk.decide(PEOPLE).event
            assert came.wait(60)
            assert desk.projection.seq < event.seq
        wait_until_applied(desk, event.seq)


def test_many_desks_share_few_threads(ledger: Ledger, projectors: Projectors) -> None:
    """However many desks there are."""
    desks = [Desk.open(ledger, f"desk-{i}", **QUICK, seed=i) for i in range(20)]
    for desk in desks:
        projectors.add(desk)
        desk.decide(PEOPLE)
    for desk in desks:
        wait_until_applied(desk, 2)
    assert len(threads()) <= THREADS + 1
    for desk in desks:
        desk.close()


def test_a_long_projection_does_not_block_other_desks(
    ledger: Ledger, projectors: Projectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One desk's reducer is stuck; another desk's events are applied."""
    begun, goes_on, advance = threading.Event(), threading.Event(), Reducer.advance

    def slowly(self: Reducer, ledger: Ledger, name: str, *arguments: Any) -> None:
        if name == "slow":
            begun.set()
            assert goes_on.wait(60)
        advance(self, ledger, name, *arguments)

    monkeypatch.setattr(Reducer, "advance", slowly)
    with Desk.open(ledger, "slow", **QUICK) as slow, Desk.open(ledger, "quick", **QUICK) as quick:
        projectors.add(slow)
        assert begun.wait(30)
        projectors.add(quick)
        wait_until_applied(quick, quick.decide(PEOPLE).event.seq)
        assert not slow.wait_for(1, 0)
        goes_on.set()
        wait_until_applied(slow, 1)


def test_a_poll_notices_other_writers(tmp_path: Path) -> None:
    """Events written through another ledger object, as by another process, are applied without being woken."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    here, there = open_ledger(url), open_ledger(url)
    with Desk.open(here, "loans", **QUICK, seed=1) as desk, Desk.open(there, "loans") as other:
        projectors = Projectors(here, poll_seconds=0.05)
        projectors.add(desk)
        assert desk.wait_for(1, 30)
        (event,) = done(other.execute([Decide(PEOPLE)]))
        assert desk.wait_for(event.seq, 30)
        projectors.close()
    here.close()
    there.close()


def test_one_projects_and_the_other_follows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One process holds the lock; the other follows its snapshots, and takes over when it ends."""
    monkeypatch.setattr(projector_module, "SNAPSHOT_SECONDS", 0.0)
    monkeypatch.setattr(projector_module, "SNAPSHOT_SHARE", 0.0)
    url = f"sqlite:///{tmp_path}/ledger.db"
    ledgers = [open_ledger(url), open_ledger(url)]
    first, second = Desk.open(ledgers[0], "loans", **QUICK, seed=3), Desk.open(ledgers[1], "loans")
    both = [Projectors(ledger, poll_seconds=0.05) for ledger in ledgers]
    both[0].add(first)
    assert first.wait_for(1, 30)
    both[1].add(second)
    (event,) = done(second.execute([Decide(PEOPLE)]))
    assert first.wait_for(event.seq, 30)
    assert second.wait_for(event.seq, 30)
    assert (first.is_projecting, second.is_projecting) == (True, False)
    first.close()
    (event,) = done(second.execute([Decide(PEOPLE)]))
    assert second.wait_for(event.seq, 30)
    assert second.is_projecting
    second.close()
    for projectors, ledger in zip(both, ledgers, strict=True):
        projectors.close()
        ledger.close()


def test_a_failure_is_logged_and_tried_again(
    ledger: Ledger, projectors: Projectors, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One line without a traceback for known errors; the next attempt succeeds."""
    errors: list[Exception] = [
        LedgerUnavailable("the database cannot be used now"),
        DamagedLedger("event 2 is missing"),
    ]
    advance = Reducer.advance

    def failing(self: Reducer, *arguments: Any) -> None:
        if errors:
            raise errors.pop()
        advance(self, *arguments)

    monkeypatch.setattr(Reducer, "advance", failing)
    with caplog.at_level(logging.INFO), Desk.open(ledger, "loans", **QUICK) as desk:
        projectors.add(desk)
        wait_until_applied(desk, 1)
    messages = [record.getMessage() for record in caplog.records]
    assert "event 2 is missing" in messages[0]
    assert "the database is unavailable" in messages[1]
    assert not any(record.exc_info for record in caplog.records)


def test_a_removed_desk_is_left_alone(ledger: Ledger, projectors: Projectors) -> None:
    """Closing a desk removes it; its projection stays where it was, and others go on."""
    with Desk.open(ledger, "loans", **QUICK) as desk:
        projectors.add(desk)
        wait_until_applied(desk, 1)
        projectors.remove(desk)
        projectors.remove(desk)
        done(desk.execute([Decide(PEOPLE)]))
        assert not desk.wait_for(2, 0)
        desk.catch_up(wait=True)  # in this thread again
        assert desk.projection.seq == 2


def test_idle_desks_do_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the last event, its snapshot and its pairs, no run is scheduled, nor by a poll."""
    projectors = Projectors(ledger, poll_seconds=0.05)
    with Desk.open(ledger, "loans", **QUICK, seed=1) as desk, closing(projectors):
        projectors.add(desk)
        play(desk, 1)
        wait_for(lambda: desk.wait_for(desk.head.seq, 0) and desk.head.seq in dict(ledger.snapshots("loans")))
        wait_for(lambda: projectors._entries["loans"].due is None and not projectors._entries["loans"].is_running)
        runs: list[bool] = []
        monkeypatch.setattr(Projector, "catch_up", lambda self, **settings: runs.append(True))
        polled = projectors._poll_at
        wait_for(lambda: projectors._poll_at > polled)
        assert projectors._entries["loans"].due is None
        assert runs == []


def test_closing_ends_all_threads(ledger: Ledger) -> None:
    """And a closed desk can be opened and projected again."""
    for _ in range(2):
        projectors = Projectors(ledger)
        with Desk.open(ledger, "loans", **QUICK, seed=1) as desk:
            projectors.add(desk)
            assert desk.wait_for(1, 30)
            projectors.close()
        wait_for(lambda: not threads())
