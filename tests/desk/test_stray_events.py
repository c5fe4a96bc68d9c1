"""A desk whose head was set back, or lines beyond it: reported everywhere, over memory, SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from evenhand.adapters.dsjson_ledger import to_dsjson
from evenhand.desk import Decide, Desk, Ledger
from evenhand.desk.replay import replay
from evenhand.errors import DamagedLedger
from evenhand.ledger.event import Head, Row
from evenhand.ledger.ledger import INSERT
from evenhand.ledger.verify import head_and_stray, to_jsonl, verify
from evenhand.service.verification import PENDING, Verification
from tests.support.desk_play import QUICK, done, people, play
from tests.support.tampering import tampered
from tests.support.waiting import wait_for

LINES = 6
"""Where the desk is set back to: a decision is next."""


@pytest.fixture
def desk(durable_ledger: Ledger, name: str) -> Iterator[Desk]:
    """A desk that has played a day, of each kind of ledger."""
    with Desk.open(durable_ledger, name, **QUICK, seed=1) as opened:
        play(opened, 1)
        yield opened


def lines_of(desk: Desk) -> list[Row]:
    """All its lines."""
    with desk.ledger.reading(desk.name) as view:
        return view.after(0, 1_000)


def set_back(desk: Desk, seq: int) -> None:
    """Where the desk stands becomes what it was at a line, as somebody with a database tool could do it."""
    lines = lines_of(desk)[:seq]
    settings = max(row.seq for row in lines if row.kind in ("opened", "settings"))
    head = Head(seq, lines[-1].hash, sum(row.kind == "decision" for row in lines), settings)
    with desk.ledger.transaction(writes=True) as connection:
        statement = "UPDATE desks SET seq = ?, hash = ?, decisions = ?, settings = ? WHERE name = ?"
        values = (head.seq, head.hash, head.decisions, head.settings, desk.name)
        connection.exec_driver_sql(statement, values)
        connection.exec_driver_sql("DELETE FROM snapshots WHERE desk = ?", (desk.name,))


def put(desk: Desk, seq: int) -> None:
    """A line that somebody put there."""
    row = lines_of(desk)[-1]._replace(seq=seq, id=f"{desk.name}-{seq}", key=None, number=None)
    with desk.ledger.transaction(writes=True) as connection:
        connection.exec_driver_sql(INSERT, [(desk.name, *row[:-1])])


CHANGES: dict[str, Callable[[Desk], None]] = {
    "set back": lambda desk: set_back(desk, LINES),
    "set back by one": lambda desk: set_back(desk, desk.head.seq - 1),
    "a line after the last": lambda desk: put(desk, desk.head.seq + 1),
    "a line after a gap": lambda desk: put(desk, desk.head.seq + 1_000),
    "a line before the first": lambda desk: put(desk, 0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_events_that_do_not_belong_are_reported(desk: Desk, change: str) -> None:
    """By verify, replay, both exports, and when the desk is opened; and the message names the desk's head."""
    CHANGES[change](desk)
    stated = f"there are events after event {desk.head.seq}, .* set back"
    if "before" in change:
        stated = "before the first"
    for read in (
        lambda: verify(desk.ledger, desk.name),
        lambda: replay(desk.ledger, desk.name),
        lambda: list(to_jsonl(desk.ledger, desk.name)),
        lambda: list(to_dsjson(desk.ledger, desk.name)),
        lambda: Desk.open(desk.ledger, desk.name),
    ):
        with pytest.raises(DamagedLedger, match=stated):
            read()


def test_a_whole_ledger_has_no_lines_beyond(desk: Desk) -> None:
    """Nothing is reported of one that is as it was written."""
    head, stray = head_and_stray(desk.ledger, desk.name)
    assert (head, stray) == (desk.head, None)
    assert verify(desk.ledger, desk.name).seq == head.seq


@pytest.mark.parametrize("size", [1, 40])
def test_deciding_on_a_desk_that_was_set_back_is_refused(desk: Desk, size: int) -> None:
    """DamagedLedger, in place of an error of the database; nothing is written, and no line is lost."""
    set_back(desk, LINES)
    before = lines_of(desk)
    rng = np.random.default_rng(3)
    for _ in range(2):
        with pytest.raises(DamagedLedger, match=f"nothing was written: event {LINES + 1} .* set back"):
            desk.execute([Decide(people(rng)) for _ in range(size)])
    assert lines_of(desk) == before
    assert desk.head.seq == LINES


def test_a_damaged_export_has_the_lines_beyond_too(desk: Desk) -> None:
    """Whoever wants to see what is left gets all of it, with a warning."""
    whole = list(to_jsonl(desk.ledger, desk.name))
    set_back(desk, LINES)
    found: list[DamagedLedger] = []
    assert list(to_jsonl(desk.ledger, desk.name, damaged=found.append)) == whole
    assert len(found) == 1


def test_a_service_that_checks_its_ledgers_finds_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first line that should not be there is named."""
    monkeypatch.setattr("evenhand.service.verification.REST", 0.0)  # many times what a busy machine takes to read
    set_back(desk, LINES)
    verification = Verification(desk.ledger)
    wait_for(lambda: verification.result(desk.name) != PENDING)
    verification.stop()
    assert verification.result(desk.name) == f"damaged at event {LINES + 1}"


def test_an_event_whose_number_is_none_is_reported(path: Path) -> None:
    """SQLite keeps a text where a number should be, after all numbers; what it says is not repeated."""
    tampered(
        path,
        "INSERT INTO events SELECT desk, 'secret', 'dec_x', kind, target, NULL, undoes, NULL, fingerprint, text, "
        "previous, hash, contents FROM events WHERE seq = 5",
    )
    with pytest.raises(DamagedLedger, match="one without a number") as raised:
        Desk.open(f"sqlite:///{path}", "loans")
    assert "secret" not in str(raised.value)


def test_verifying_beside_a_writer_reports_nothing(desk: Desk) -> None:
    """Lines that come after the head was read are no lines beyond it."""
    rng = np.random.default_rng(0)
    with desk.ledger.reading(desk.name) as view:
        before = view.head.seq
        done(desk.execute([Decide(people(rng))]))
        assert view.stray() is None
        assert view.head.seq == before
