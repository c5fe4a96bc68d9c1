"""Decisions are computed outside the database transaction: a slow one keeps nobody else from writing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from evenhand.desk import ChangeSettings, Decide, Desk, Event, Ledger, RecordOutcome, open_ledger
from evenhand.desk.projection.projection import QuietBandit
from evenhand.desk.replay import replay
from evenhand.errors import AlreadyRecorded, LedgerUnavailable
from evenhand.ledger.verify import verify
from tests.support.desk_play import QUICK, done, people, play


@contextmanager
def blocked(monkeypatch: pytest.MonkeyPatch, bandit: Any) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Proposals of one bandit wait until the second event is set; the first one says that one waits."""
    waits, goes_on, propose = threading.Event(), threading.Event(), QuietBandit.propose

    def slow(self: QuietBandit, *arguments: Any, **named: Any) -> Any:
        if self is bandit:
            waits.set()
            assert goes_on.wait(60)
        return propose(self, *arguments, **named)

    with monkeypatch.context() as patched:
        patched.setattr(QuietBandit, "propose", slow)
        try:
            yield waits, goes_on
        finally:
            goes_on.set()


class Deciding(threading.Thread):
    """Executes commands in a thread."""

    def __init__(self, desk: Desk, *commands: Any) -> None:
        super().__init__()
        self._desk, self._commands = desk, commands
        self.results: list[Any] = []
        self.start()

    def run(self) -> None:
        """Execute."""
        self.results = list(self._desk.execute(list(self._commands)))


@pytest.fixture
def both(tmp_path: Any, ledger_kind: str) -> Iterator[tuple[Desk, Desk]]:
    """Two desk objects for one desk, as two processes have them."""
    url = "memory:" if ledger_kind == "memory" else f"sqlite:///{tmp_path}/ledger.db"
    ledger = open_ledger(url)
    first = Desk.open(ledger, "loans", **QUICK, seed=3)
    play(first, 2)
    with first, Desk.open(ledger, "loans") as second:
        yield first, second
    ledger.close()


@pytest.fixture(params=["memory", "file"])
def ledger_kind(request: pytest.FixtureRequest) -> str:
    """SQLite in memory, and in a file."""
    return str(request.param)


def test_a_slow_decision_holds_up_no_other_desk(both: tuple[Desk, Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    """While one desk computes a decision, another one decides and records."""
    slow, rng = both[0], np.random.default_rng(0)
    with (
        Desk.open(slow.ledger, "grants", **QUICK, seed=4) as other,
        blocked(monkeypatch, slow.projection.bandit) as (waits, goes_on),
    ):
        deciding = Deciding(slow, Decide(people(rng)))
        assert waits.wait(60)
        for _ in range(3):
            made = other.decide(people(rng))
            other.outcome(made.id, dict.fromkeys(made.chosen, 0.5))
        assert not deciding.results
        goes_on.set()
        deciding.join()
    assert [event.kind for event in done(deciding.results)] == ["decision"]


def test_decisions_of_another_process_in_between_are_counted(
    both: tuple[Desk, Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proposal for a number that was taken meanwhile is drawn again for its own: no number twice, none left out."""
    first, second = both
    rng, before = np.random.default_rng(1), first.head.decisions
    with blocked(monkeypatch, first.projection.bandit) as (waits, goes_on):
        deciding = Deciding(first, Decide(people(rng)), Decide(people(rng, k=3)))
        assert waits.wait(60)
        done(second.execute([Decide(people(rng)) for _ in range(3)]))
        goes_on.set()
        deciding.join()
    numbers = [event.body["number"] for event in done(deciding.results)]
    assert numbers == [before + 3, before + 4]
    assert verify(first.ledger, "loans").decisions == before + 5
    assert replay(first.ledger, "loans").is_same  # the draws are those of the numbers


def test_a_proposal_drawn_again_is_the_proposal_of_its_number() -> None:
    """For any capacity: the same draw and the same id as if it had been proposed with that number, to the bit."""
    from evenhand.desk.lottery import SeededDraws

    draws, rng = SeededDraws(7), np.random.default_rng(2)
    for capacity in (1, 2, None):
        with Desk.open("memory:", "loans", **QUICK, seed=3, capacity=capacity) as desk:
            play(desk, 2)
            bandit = desk.projection.bandit
            for _ in range(20):
                contexts = [person["context"] for person in people(rng, k=5)]
                proposed = bandit.propose(contexts, number=3, rng=draws.of(3).rng)
                again = bandit.drawn_again(proposed, number=9, rng=draws.of(9).rng)
                expected = bandit.propose(contexts, number=9, rng=draws.of(9).rng)
                assert again.to_dict() == expected.to_dict()


def test_a_capacity_that_changed_in_between_is_the_one_that_counts(
    both: tuple[Desk, Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The decision is computed again with the new capacity, and says which settings it was made with."""
    first, second = both
    rng = np.random.default_rng(1)
    with blocked(monkeypatch, first.projection.bandit) as (waits, goes_on):
        deciding = Deciding(first, Decide(people(rng)))
        assert waits.wait(60)
        (change,) = done(second.execute([ChangeSettings({"capacity": 2})]))
        goes_on.set()
        deciding.join()
    (event,) = done(deciding.results)
    assert (event.body["capacity"], event.body["settings"]) == (2, change.seq)
    assert first.settings.capacity == 2
    assert replay(first.ledger, "loans").is_same


def test_within_a_batch_a_changed_capacity_counts_from_there_on() -> None:
    """Commands are handled in order."""
    with Desk.open("memory:", "loans", **QUICK, seed=3) as desk:
        rng = np.random.default_rng(1)
        events = done(desk.execute([Decide(people(rng)), ChangeSettings({"capacity": 2}), Decide(people(rng))]))
        assert [event.body.get("capacity") for event in events] == [1, None, 2]
        assert replay(desk.ledger, "loans").is_same


def test_an_outcome_recorded_in_between_is_not_recorded_twice(
    both: tuple[Desk, Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was checked before the transaction is checked again if another process wrote meanwhile."""
    first, second = both
    rng = np.random.default_rng(1)
    (made,) = done(first.execute([Decide(people(rng))]))
    outcome = RecordOutcome(made.id, dict.fromkeys(made.body["chosen"], 0.5))
    keyed = Decide(people(rng), idempotency_key="same")
    with blocked(monkeypatch, first.projection.bandit) as (waits, goes_on):
        deciding = Deciding(first, keyed, outcome)
        assert waits.wait(60)
        theirs = done(second.execute([keyed, outcome]))
        goes_on.set()
        deciding.join()
    ours = deciding.results
    assert ours[0] == theirs[0]
    assert isinstance(ours[1], AlreadyRecorded)
    assert first.head.seq == theirs[1].seq


def test_settings_that_keep_changing_end_the_attempts(both: tuple[Desk, Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    """After some attempts LedgerUnavailable, and nothing was written."""
    first, second = both
    capacities = iter((2, 3) * 50)
    propose = QuietBandit.propose

    def changing(self: QuietBandit, *arguments: Any, **named: Any) -> Any:
        done(second.execute([ChangeSettings({"capacity": next(capacities)})]))
        return propose(self, *arguments, **named)

    monkeypatch.setattr(QuietBandit, "propose", changing)
    before = first.head.decisions
    with pytest.raises(LedgerUnavailable, match="keep changing"):
        first.execute([Decide(people(np.random.default_rng(0)))])
    assert first.head.decisions == before


def test_many_threads_at_two_desk_objects_lose_nothing(both: tuple[Desk, Desk]) -> None:
    """Every acknowledged event is in the ledger once, in an unbroken chain, and replays."""
    acknowledged: list[Event] = []

    def work(desk: Desk, seed: int) -> None:
        rng = np.random.default_rng(seed)
        for number in range(6):
            events = done(desk.execute([Decide(people(rng), idempotency_key=f"{seed}-{number}")]))
            acknowledged.extend(events)

    threads = [threading.Thread(target=work, args=(both[seed % 2], seed)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ledger: Ledger = both[0].ledger
    verify(ledger, "loans")
    assert len({event.id for event in acknowledged}) == 24
    assert {event.id for event in acknowledged} <= {event.id for event in both[0].events()}
    assert replay(ledger, "loans").is_same
