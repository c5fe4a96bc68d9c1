"""The contract of ledgers: what every storage of events must do, whoever wrote it."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from evenhand.errors import AlreadyRecorded, DamagedLedger, UnknownRecord
from evenhand.ledger.event import FIRST, Head, Row, Stamp, canonical, chained, new_id, now
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.waiting_pairs import Answered, WaitingPair


def row(desk: str, seq: int, previous: str, kind: str = "decision", **columns: Any) -> Row:
    """An event with an empty body."""
    name = columns.pop("id", None) or new_id(kind)
    body = {"number": columns["number"]} if columns.get("number") is not None else {}
    content = {"desk": desk, "seq": seq, "id": name, "time": now(), "actor": "a", "kind": kind, "body": body}
    text = canonical(content)
    empty = dict.fromkeys(("target", "number", "undoes", "key", "fingerprint"))
    return Row(seq, name, kind, **{**empty, **columns}, text=text, previous=previous, hash=chained(previous, text))


def desk_with(ledger: Ledger, name: str, *events: dict[str, Any]) -> list[Row]:
    """A new desk with its first event and others; all rows."""
    rows = [row(name, 1, FIRST, "opened")]
    ledger.create(name, rows[0])
    for columns in events:
        rows.append(row(name, len(rows) + 1, rows[-1].hash, **columns))
    if events:
        decisions = sum(each.kind == "decision" for each in rows)
        with ledger.writing(name) as view:
            view.append(rows[1:], Head(len(rows), rows[-1].hash, decisions, 1))
    return rows


class LedgerContract:
    """Subclass it in a test module as `TestMyLedger` and define the fixture `ledger`; pytest then runs every test.

    The fixture yields an open ledger, which may hold other desks, and closes it afterwards.
    """

    @pytest.fixture
    def ledger(self) -> Iterator[Ledger]:
        """An open ledger."""
        raise NotImplementedError

    @pytest.fixture
    def name(self) -> str:
        """The name of a desk that no other test uses."""
        return f"desk-{uuid.uuid4().hex[:12]}"

    def test_a_name_is_taken_once(self, ledger: Ledger, name: str) -> None:
        """A second desk of one name is refused, and the first stays as it was."""
        rows = desk_with(ledger, name)
        with pytest.raises(AlreadyRecorded):
            ledger.create(name, row(name, 1, FIRST, "opened"))
        assert name in ledger.names()
        with ledger.reading(name) as view:
            assert view.after(0, 10) == rows

    def test_an_unknown_desk_is_refused(self, ledger: Ledger, name: str) -> None:
        """Reading or writing a desk that does not exist raises UnknownRecord."""
        with pytest.raises(UnknownRecord), ledger.reading(name):
            pass
        with pytest.raises(UnknownRecord), ledger.writing(name):
            pass

    def test_rows_are_found_by_every_column(self, ledger: Ledger, name: str) -> None:
        """By id, key, number, target, kind and seq; every column comes back as it was written."""
        rows = desk_with(
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
            assert view.head == Head(7, rows[-1].hash, 2, 1)
            assert view.by_id([rows[3].id, "nobody"]) == {rows[3].id: rows[3]}
            assert view.with_keys(["first", "second"]) == [rows[1]]
            assert view.by_number([1, 7]) == {1: rows[2]}
            assert view.about(["rev_1", "dec_1"]) == rows[3:6]
            assert view.after(2, 3) == rows[2:5]
            assert view.after(0, 10, ("review", "decision")) == [rows[1], rows[2], rows[4]]
            assert view.after(0, 1, ("withdrawal",)) == [rows[5]]
            assert view.last(("opened", "settings"), 6) == rows[0]
            assert view.last(("opened", "settings"), 7) == rows[6]
            assert view.withdrawals() == [(6, 5)]
            assert view.stray() is None

    def test_heads_are_read_in_one_query(self, ledger: Ledger, name: str) -> None:
        """Of the desks that are asked for, those that exist."""
        desk_with(ledger, name, {"number": 0})
        assert ledger.heads([name, f"{name}-2"]) == {name: 2}
        assert ledger.head(name).seq == 2

    def test_reducers_do_not_read_decisions(self, ledger: Ledger, name: str) -> None:
        """All events in order, without the texts of decisions."""
        rows = desk_with(ledger, name, {"number": 0}, {"kind": "outcome", "target": "dec_1"}, {"number": 1})
        with ledger.reading(name) as view:
            events = view.to_apply(1, 3, 10)
            assert [event.seq for event in view.to_apply(0, 4, 2)] == [1, 2]
        assert [(e.seq, e.kind, e.text) for e in events] == [(2, "decision", None), (3, "outcome", rows[2].text)]

    def test_many_values_are_found(self, ledger: Ledger, name: str) -> None:
        """More values than one query takes."""
        rows = desk_with(ledger, name, *({"number": i, "key": f"k{i}"} for i in range(1203)))
        with ledger.reading(name) as view:
            assert len(view.by_id([each.id for each in rows])) == 1204
            assert view.with_keys([f"k{i}" for i in range(2000)]) == rows[1:]

    def test_desks_are_separate(self, ledger: Ledger, name: str) -> None:
        """Keys, numbers and events belong to one desk."""
        desk_with(ledger, name, {"number": 0, "key": "k"})
        desk_with(ledger, name + "'", {"number": 0, "key": "k"}, {"number": 1})
        with ledger.reading(name) as view:
            assert view.head.seq == 2
            assert [each.seq for each in view.after(0, 9)] == [1, 2]
            assert [each.seq for each in view.with_keys(["k"])] == [2]
            assert name + "'" not in view.with_keys(["k"])[0].text

    def test_a_failed_transaction_leaves_no_trace(self, ledger: Ledger, name: str) -> None:
        """Also if it failed after appending; the ledger goes on."""
        rows = desk_with(ledger, name)
        more = row(name, 2, rows[0].hash, number=0)
        with pytest.raises(ZeroDivisionError), ledger.writing(name) as view:  # noqa: PT012 - fails after appending
            view.append([more], Head(2, more.hash, 1, 1))
            raise ZeroDivisionError
        with ledger.reading(name) as view:
            assert view.after(0, 10) == rows
        with ledger.writing(name) as view:
            view.append([more], Head(2, more.hash, 1, 1))
        with ledger.reading(name) as view:
            assert view.after(0, 10) == [*rows, more]

    def test_an_event_cannot_be_added_twice(self, ledger: Ledger, name: str) -> None:
        """DamagedLedger, and nothing has changed."""
        rows = desk_with(ledger, name, {"number": 0, "key": "k"})
        for again in (rows[1], row(name, 3, rows[1].hash, number=0)):
            with pytest.raises(DamagedLedger, match="nothing was written"), ledger.writing(name) as view:
                view.append([again], Head(again.seq, again.hash, 1, 1))
        with ledger.reading(name) as view:
            assert view.after(0, 10) == rows
            assert view.head.seq == 2

    def test_writers_take_turns(self, ledger: Ledger, name: str) -> None:
        """Each of many threads sees the head that the one before has left; no event is lost."""
        desk_with(ledger, name)

        def write() -> None:
            for _ in range(5):
                with ledger.writing(name) as view:
                    head = view.head
                    more = row(name, head.seq + 1, head.hash, number=head.decisions)
                    view.append([more], Head(more.seq, more.hash, head.decisions + 1, 1))

        threads = [threading.Thread(target=write) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with ledger.reading(name) as view:
            rows = view.after(0, 100)
        assert [each.seq for each in rows] == list(range(1, 22))
        assert [each.previous for each in rows[1:]] == [each.hash for each in rows[:-1]]

    def test_a_probe_leaves_no_trace(self, ledger: Ledger, name: str) -> None:
        """A writable ledger says so, however often it is asked, and holds what it held."""
        rows = desk_with(ledger, name, {"number": 0})
        for _ in range(3):
            ledger.check_writable()
        with ledger.reading(name) as view:
            assert view.after(0, 10) == rows
        assert ledger.snapshots(name) == []
        assert "" not in ledger.names()

    def test_snapshots_are_kept_replaced_and_dropped(self, ledger: Ledger, name: str) -> None:
        """A snapshot can be read back; one at the same seq replaces it; others are dropped by seq."""
        desk_with(ledger, name)
        ledger.keep_snapshot(name, Stamp(5, 5), b"five", [])
        ledger.keep_snapshot(name, Stamp(9, 9), b"nine", [])
        ledger.keep_snapshot(name, Stamp(9, 12), b"nine again", [5])
        assert ledger.snapshots(name) == [Stamp(9, 12)]
        assert ledger.snapshot(name, 9) == b"nine again"
        assert ledger.snapshot(name, 5) is None

    def test_a_projection_lock_has_one_holder(self, ledger: Ledger, name: str) -> None:
        """Releasing it lets the next one in; each desk has its own."""
        desk_with(ledger, name)
        desk_with(ledger, name + "'")
        first, second = ledger.projection_lock(name), ledger.projection_lock(name)
        other = ledger.projection_lock(name + "'")
        assert first.acquire()
        assert first.acquire()
        assert not second.acquire()
        assert other.acquire()
        first.release()
        assert second.acquire()
        second.release()
        other.release()

    def test_the_queue_leases_a_pair_to_one_reviewer(self, ledger: Ledger, name: str) -> None:
        """The highest priority first; answered pairs are gone."""
        pairs = [WaitingPair("dec_1", "a", f"b{i}", "tight", 0.1, 0.2, 0.3, 0.4, float(i)) for i in range(3)]
        ledger.pairs.put(name, pairs, 10)
        assert ledger.pairs.lease(name, 1, "Kim", 0.0, 10.0) == [pairs[2]]
        assert ledger.pairs.lease(name, 2, "Lee", 0.0, 10.0) == [pairs[1], pairs[0]]
        ledger.pairs.settle(name, [Answered("dec_1", frozenset({frozenset(("a", "b2"))}), "Kim")])
        assert ledger.pairs.count(name) == 2
