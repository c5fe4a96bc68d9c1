"""LedgerView: one desk's ledger within a database transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError

from evenhand.errors import DamagedLedger, UnknownRecord
from evenhand.ledger.engine import is_undecodable
from evenhand.ledger.rows import EventToApply, Head, Row, StrayEvent

COLUMNS = ", ".join(Row._fields)
INSERT = f"INSERT INTO events (desk, {COLUMNS}) VALUES (?{', ?' * len(Row._fields)})"

VALUES_PER_QUERY = 500
"""Maximum number of values per query."""

STRAY = """
SELECT seq,
    (SELECT e.seq FROM events e WHERE e.desk = desks.name AND e.seq > desks.seq ORDER BY e.seq DESC LIMIT 1),
    (SELECT e.seq FROM events e WHERE e.desk = desks.name AND e.seq < 1 ORDER BY e.seq LIMIT 1)
FROM desks WHERE name = ?
"""
"""One statement: in PostgreSQL each sees what was committed before it, and a desk's row moves with its events."""


class Statements:
    """Runs SQL with `?` for values on a connection, whatever placeholder its driver uses."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.is_postgresql = connection.dialect.name == "postgresql"

    def using(self, index: str) -> str:
        """Tells SQLite which index to use: without statistics it would scan a desk rather than look up ids."""
        return "" if self.is_postgresql else f" INDEXED BY {index}"

    def run(self, statement: str, values: Any = ()) -> Any:
        """Run one statement; a list of tuples runs it for each of them."""
        if self.is_postgresql:
            statement = statement.replace("?", "%s")
        return self._connection.exec_driver_sql(statement, values)


class LedgerView(Statements):
    """Finds events of one desk, and appends to them."""

    def __init__(self, connection: Connection, desk: str, *, writes: bool) -> None:
        super().__init__(connection)
        self._desk = desk
        lock = " FOR UPDATE" if writes and self.is_postgresql else ""
        head = self.run(f"SELECT seq, hash, decisions, settings FROM desks WHERE name = ?{lock}", (desk,)).fetchone()
        if head is None and self.run("SELECT 1 FROM events WHERE desk = ? LIMIT 1", (desk,)).fetchone():
            raise DamagedLedger(f"desk {desk!r} was removed: its events are there, its head is not; restore a backup")
        if head is None:
            raise UnknownRecord(f"there is no desk {desk!r}")
        if [type(value) for value in head] != [int, str, int, int]:
            raise DamagedLedger(f"desk {desk!r} was changed: its head cannot be read")
        self.head = Head(*head)

    def _rows(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        """All rows of a query. Text that is not UTF-8 comes as bytes, so that verifying can say which event has it."""
        try:
            return list(self.run(statement, values).fetchall())
        except DBAPIError as error:
            if not is_undecodable(error.orig):
                raise
        driver = cast("sqlite3.Connection", self._connection.connection.driver_connection)
        before, driver.text_factory = driver.text_factory, _text_or_bytes
        try:
            return driver.execute(statement, values).fetchall()
        finally:
            driver.text_factory = before

    def _select(self, index: str | None = None) -> str:
        return f"SELECT {COLUMNS} FROM events{'' if index is None else self.using(index)} WHERE desk = ?"

    def _find(self, column: str, values: Iterable[Any]) -> Iterator[Row]:
        wanted, select = list(values), self._select(f"events_{column}")
        for at in range(0, len(wanted), VALUES_PER_QUERY):
            some = wanted[at : at + VALUES_PER_QUERY]
            marks = ", ".join("?" * len(some))
            yield from (Row(*row) for row in self._rows(f"{select} AND {column} IN ({marks})", (self._desk, *some)))

    def by_id(self, ids: Iterable[str]) -> dict[str, Row]:
        """The events with these ids, as far as there are any."""
        return {row.id: row for row in self._find("id", ids)}

    def by_key(self, keys: Iterable[str]) -> dict[str, Row]:
        """The events that came with these idempotency keys."""
        return {row.key: row for row in self._find("key", keys) if row.key is not None}

    def by_number(self, numbers: Iterable[int]) -> dict[int, Row]:
        """The decisions with these numbers."""
        return {row.number: row for row in self._find("number", numbers) if row.number is not None}

    def about(self, targets: Iterable[str]) -> list[Row]:
        """The events about these decisions and reviews, in order."""
        return sorted(self._find("target", set(targets)), key=lambda row: row.seq)

    def after(self, seq: int, limit: int, kinds: Sequence[str] | None = None) -> list[Row]:
        """Up to `limit` events after `seq`, in order, of these kinds or of all."""
        index, condition, values = _of_kinds(kinds)
        statement = f"{self._select(index)} AND seq > ?{condition} ORDER BY seq LIMIT ?"
        return [Row(*row) for row in self._rows(statement, (self._desk, seq, *values, limit))]

    def to_apply(self, after: int, until: int, limit: int) -> list[EventToApply]:
        """Up to `limit` events after `after`, not beyond `until`; decisions are not read, what is missing is one."""
        end = min(until, self.head.seq, after + limit)
        found = self._rows(
            f"SELECT seq, kind, target, undoes, text FROM events{self.using('events_learned')} "
            "WHERE desk = ? AND kind <> 'decision' AND seq > ? AND seq <= ?",
            (self._desk, after, end),
        )
        events = [EventToApply(seq, "decision") for seq in range(after + 1, end + 1)]
        for row in found:
            events[row[0] - after - 1] = EventToApply(*row)
        return events

    def withdrawals(self) -> list[tuple[int, int]]:
        """All withdrawn or superseded reviews: the seq of the event that did it, and of the review."""
        statement = f"SELECT seq, undoes FROM events{self.using('events_undoes')} WHERE desk = ? AND undoes IS NOT NULL"
        return [(seq, undoes) for seq, undoes in self.run(statement, (self._desk,)).fetchall()]

    def last(self, kinds: Sequence[str], until: int) -> Row | None:
        """The newest event of these kinds, not beyond `until`; one index lookup for each kind."""
        found = []
        for name in kinds:
            index, condition, values = _of_kinds((name,))
            statement = f"{self._select(index)} AND seq <= ?{condition} ORDER BY seq DESC LIMIT 1"
            found += [Row(*row) for row in self._rows(statement, (self._desk, until, *values))]
        return max(found, default=None)

    def stray(self) -> StrayEvent | None:
        """An event after the head or before the first, if there is any."""
        found = self.run(STRAY, (self._desk,)).fetchone()
        ends = () if found is None else found[1:]
        return next((StrayEvent(found[0], seq) for seq in ends if seq is not None), None)

    def append(self, rows: Sequence[Row], head: Head) -> None:
        """Add events and move the head; only within `Ledger.writing`. DamagedLedger if an event is there already."""
        try:
            self.run(INSERT, [(self._desk, *row) for row in rows])
        except IntegrityError as error:  # writers are alone: no other was faster
            raise DamagedLedger(
                f"nothing was written: event {rows[0].seq} cannot be added, since the ledger has it already, or one "
                "with its id, key or number; its head was set back, or events were inserted; restore a backup, then "
                "verify the ledger"
            ) from error
        self.run(
            "UPDATE desks SET seq = ?, hash = ?, decisions = ?, settings = ? WHERE name = ?",
            (head.seq, head.hash, head.decisions, head.settings, self._desk),
        )
        self.head = head


def _of_kinds(kinds: Sequence[str] | None) -> tuple[str | None, str, tuple[str, ...]]:
    """A condition on kinds, and the index for it; without decisions, one that leaves them out."""
    if kinds is None:
        return None, "", ()
    partial = "" if "decision" in kinds else " AND kind <> 'decision'"
    wanted = "kind = ?" if len(kinds) == 1 else f"kind IN ({', '.join('?' * len(kinds))})"
    index = None if "decision" in kinds else "events_kind" if len(kinds) == 1 else "events_learned"
    return index, f" AND {wanted}{partial}", tuple(kinds)


def _text_or_bytes(content: bytes) -> str | bytes:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content
