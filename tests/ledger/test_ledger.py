"""The contract of a ledger, over memory, SQLite and PostgreSQL."""

from __future__ import annotations

import pytest

from evenhand.errors import AlreadyRecorded, LedgerUnavailable, UnknownRecord
from evenhand.ledger.event import FIRST, canonical, chained, new_id, now
from evenhand.ledger.ledger import Head, Ledger, Row, Stamp, open_ledger


def line(desk: str, seq: int, previous: str, kind: str = "decision", **places: object) -> Row:
    """A line that says nothing."""
    name = new_id(kind)
    text = canonical({"desk": desk, "seq": seq, "id": name, "time": now(), "actor": "a", "kind": kind, "body": {}})
    given = {"target": None, "number": None, "undoes": None, "key": None, "fingerprint": None, **places}
    return Row(seq=seq, id=name, kind=kind, text=text, previous=previous, hash=chained(previous, text), **given)  # type: ignore[arg-type]


def made(ledger: Ledger, name: str, *rows: dict[str, object]) -> list[Row]:
    """A desk with its first line and others; all lines."""
    lines = [line(name, 1, FIRST, "opened")]
    ledger.create(name, lines[0], now())
    for places in rows:
        lines.append(line(name, len(lines) + 1, lines[-1].hash, **places))  # type: ignore[arg-type]
    decisions = sum(row.kind == "decision" for row in lines)
    if rows:
        with ledger.writing(name) as view:
            view.append(lines[1:], Head(len(lines), lines[-1].hash, decisions, 1))
    return lines


def test_a_desk_is_there_once(ledger: Ledger, name: str) -> None:
    """A second desk of one name is refused, and the first stays as it was."""
    lines = made(ledger, name)
    with pytest.raises(AlreadyRecorded):
        ledger.create(name, line(name, 1, FIRST, "opened"), now())
    assert name in ledger.names()
    with ledger.reading(name) as view:
        assert view.after(0, 10) == lines


def test_trying_to_write_leaves_no_trace(ledger: Ledger, name: str) -> None:
    """A ledger that can be written says so, however often it is asked, and holds what it held."""
    lines = made(ledger, name, {"number": 0})
    for _ in range(3):
        ledger.check_writable()
    with ledger.reading(name) as view:
        assert view.after(0, 10) == lines
    assert ledger.snapshots(name) == []
    assert "" not in ledger.names()


def test_a_database_that_cannot_be_written_says_so(postgresql: str, name: str) -> None:
    """A PostgreSQL that only reads, as a standby does: what is there is read, and trying to write is refused."""
    ledger = open_ledger(postgresql)
    made(ledger, name)
    ledger.close()
    sign = "&" if "?" in postgresql else "?"
    reading = open_ledger(f"{postgresql}{sign}options=-c%20default_transaction_read_only%3Don")
    try:
        assert name in reading.names()
        with pytest.raises(LedgerUnavailable, match="cannot be used now"):
            reading.check_writable()
    finally:
        reading.close()


def test_an_unknown_desk_is_refused(ledger: Ledger, name: str) -> None:
    """Reading or writing a desk that is not there says so."""
    with pytest.raises(UnknownRecord), ledger.reading(name):
        pass
    with pytest.raises(UnknownRecord), ledger.writing(name):
        pass


def test_lines_are_found_by_all_they_are_found_by(ledger: Ledger, name: str) -> None:
    """By id, key, number, target, kind and place; every column comes back as it was written."""
    rows = made(
        ledger,
        name,
        {"number": 0, "key": "first", "fingerprint": "f"},
        {"number": 1},
        {"kind": "outcome", "target": "dec_1"},
        {"kind": "review", "target": "dec_1"},
        {"kind": "withdrawal", "target": "rev_1", "undoes": 5},
        {"kind": "settings"},
    )
    with ledger.reading(name) as view:
        assert view.head.seq == 7
        assert view.head.decisions == 2
        assert view.by_id([rows[3].id, "nobody"]) == {rows[3].id: rows[3]}
        assert view.by_key(["first", "second"]) == {"first": rows[1]}
        assert view.by_number([1, 7]) == {1: rows[2]}
        assert view.about(["rev_1", "dec_1"]) == rows[3:6]
        assert view.after(2, 3) == rows[2:5]
        assert view.after(0, 10, ("review", "decision")) == [rows[1], rows[2], rows[4]]
        assert view.after(0, 1, ("withdrawal",)) == [rows[5]]
        assert view.last(("opened", "settings"), 6) == rows[0]
        assert view.last(("opened", "settings"), 7) == rows[6]
        assert view.withdrawals() == [(6, 5)]


def test_a_fold_does_not_read_decisions(ledger: Ledger, name: str) -> None:
    """What a fold reads are all lines in order, without the texts of decisions."""
    rows = made(ledger, name, {"number": 0}, {"kind": "outcome", "target": "dec_1"}, {"number": 1})
    with ledger.reading(name) as view:
        lines = view.to_apply(1, 3, 10)
        assert [row.seq for row in view.to_apply(0, 4, 2)] == [1, 2]
    assert [(row.seq, row.kind, row.text) for row in lines] == [(2, "decision", None), (3, "outcome", rows[2].text)]


def test_what_fails_leaves_no_trace(ledger: Ledger, name: str) -> None:
    """An error before anything was added, and nothing is there afterwards; the ledger goes on."""
    lines = made(ledger, name)
    with pytest.raises(ZeroDivisionError), ledger.writing(name):
        raise ZeroDivisionError
    with ledger.writing(name) as view:
        more = line(name, 2, lines[0].hash, number=0)
        view.append([more], Head(2, more.hash, 1, 1))
    with ledger.reading(name) as view:
        assert view.after(0, 10) == [*lines, more]


def test_many_at_once(ledger: Ledger, name: str) -> None:
    """More values than one query takes are found all the same."""
    rows = made(ledger, name, *({"number": i, "key": f"k{i}"} for i in range(1203)))
    with ledger.reading(name) as view:
        assert len(view.by_id([row.id for row in rows])) == 1204
        assert len(view.by_key([f"k{i}" for i in range(2000)])) == 1203


def test_desks_do_not_see_each_other(ledger: Ledger, name: str) -> None:
    """Keys, numbers and lines are a desk's own."""
    made(ledger, name, {"number": 0, "key": "k"})
    made(ledger, name + "'", {"number": 0, "key": "k"}, {"number": 1})
    with ledger.reading(name) as view:
        assert view.head.seq == 2
        assert [row.seq for row in view.after(0, 9)] == [1, 2]
        assert view.by_key(["k"])["k"].text.count(name + "'") == 0


def test_snapshots_are_kept_replaced_and_dropped(ledger: Ledger, name: str) -> None:
    """A snapshot can be read back; one at the same line replaces it; others go when told."""
    made(ledger, name)
    ledger.keep_snapshot(name, Stamp(5, 5), b"five", [])
    ledger.keep_snapshot(name, Stamp(9, 9), b"nine", [])
    ledger.keep_snapshot(name, Stamp(9, 12), b"nine again", [5])
    assert ledger.snapshots(name) == [Stamp(9, 12)]
    assert ledger.snapshot(name, 9) == b"nine again"
    assert ledger.snapshot(name, 5) is None


def test_one_folder_at_a_time(ledger: Ledger, name: str) -> None:
    """The fold lock has one holder; letting go lets the next one in, and each desk has its own."""
    made(ledger, name)
    made(ledger, name + "'")
    first, second, other = (
        ledger.projection_lock(name),
        ledger.projection_lock(name),
        ledger.projection_lock(name + "'"),
    )
    assert first.acquire()
    assert first.acquire()
    assert not second.acquire()
    assert other.acquire()
    first.release()
    assert second.acquire()
    second.release()
    other.release()
