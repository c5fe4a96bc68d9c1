"""SqlView: one desk's ledger within a transaction of an SQL database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError

from evenhand.errors import DamagedLedger, UnknownRecord
from evenhand.ledger.engine import is_undecodable
from evenhand.ledger.ledger import Head, Row, Stray, ToFold, taken

COLUMNS = ", ".join(Row._fields)
AT_ONCE = 500
"""So many values are asked for in one query."""

# Written out, and sent by the driver: building and compiling a statement for each batch costs more than running it.
INSERT = f"INSERT INTO events (desk, {COLUMNS}) VALUES (?{', ?' * len(Row._fields)})"


STRAY = """
SELECT seq,
    (SELECT e.seq FROM events e WHERE e.desk = desks.name AND e.seq > desks.seq ORDER BY e.seq DESC LIMIT 1),
    (SELECT e.seq FROM events e WHERE e.desk = desks.name AND e.seq < 1 ORDER BY e.seq LIMIT 1)
FROM desks WHERE name = ?
"""
"""One statement: in PostgreSQL each sees what was committed before it, and a desk's row moves with its lines."""

TOGETHER = 32
"""Up to so many rows go into SQLite with one statement. The interpreter is given away once a statement and must be
asked for again: with one statement a row, a busy thread beside would hold up every row."""

INSERTS = [INSERT + f", (?{', ?' * len(Row._fields)})" * (n - 1) for n in range(1, TOGETHER + 1)]


def insert(driver: sqlite3.Connection, desk: str, rows: Sequence[Row]) -> None:
    """Add rows to the events in SQLite."""
    for at in range(0, len(rows), TOGETHER):
        some = rows[at : at + TOGETHER]
        driver.execute(INSERTS[len(some) - 1], [value for row in some for value in (desk, *row)])


def text_or_bytes(content: bytes) -> str | bytes:
    """Text, or the bytes if they are none."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content


class Statements:
    """Runs statements with `?` for values on a connection, whatever marks its driver uses."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.is_postgresql = connection.dialect.name == "postgresql"

    def using(self, index: str) -> str:
        """Tells SQLite which index to use: without statistics it would read a whole desk rather than look up ids."""
        return "" if self.is_postgresql else f" INDEXED BY {index}"

    def run(self, statement: str, values: Any = ()) -> Any:
        """Run one statement; a list of tuples runs it for each of them."""
        if self.is_postgresql:
            statement = statement.replace("?", "%s")
        return self._connection.exec_driver_sql(statement, values)


class SqlView(Statements):
    """Finds and adds events of one desk."""

    def __init__(self, connection: Connection, desk: str, *, writes: bool) -> None:
        super().__init__(connection)
        self._desk = desk
        # What every batch needs goes to SQLite's driver itself: SQLAlchemy's share would be larger than SQLite's.
        self._driver: sqlite3.Connection | None = (
            None if self.is_postgresql else cast("sqlite3.Connection", connection.connection.driver_connection)
        )
        lock = " FOR UPDATE" if writes and self.is_postgresql else ""
        found = self._straight(
            f"SELECT seq, hash, decisions, settings FROM desks WHERE name = ?{lock}", (desk,)
        ).fetchone()
        if found is None and self._straight("SELECT 1 FROM events WHERE desk = ? LIMIT 1", (desk,)).fetchone():
            raise DamagedLedger(
                f"desk {desk!r} was removed: its ledger has lines, but where it stands is gone; restore a backup"
            )
        if found is None:
            raise UnknownRecord(f"there is no desk {desk!r}")
        if [type(value) for value in found] != [int, str, int, int]:
            raise DamagedLedger(f"desk {desk!r} was changed: where its ledger stands cannot be read")
        self.head = Head(*found)

    def _rows(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        """All that a query finds. What is no UTF-8 comes as bytes: whoever checks lines says which one it is in."""
        try:
            return list(self.run(statement, values).fetchall())
        except DBAPIError as error:
            if self._driver is None or not is_undecodable(error.orig):
                raise
        before, self._driver.text_factory = self._driver.text_factory, text_or_bytes
        try:
            return self._driver.execute(statement, values).fetchall()
        finally:
            self._driver.text_factory = before

    def _straight(self, statement: str, values: tuple[Any, ...]) -> Any:
        return self.run(statement, values) if self._driver is None else self._driver.execute(statement, values)

    def _select(self, index: str | None = None) -> str:
        return f"SELECT {COLUMNS} FROM events{'' if index is None else self.using(index)} WHERE desk = ?"

    def _found(self, column: str, values: Iterable[Any]) -> Iterator[Row]:
        wanted, select = list(values), self._select(f"events_{column}")
        for at in range(0, len(wanted), AT_ONCE):
            some = wanted[at : at + AT_ONCE]
            marks = ", ".join("?" * len(some))
            rows = self._rows(f"{select} AND {column} IN ({marks})", (self._desk, *some))
            yield from (Row(*row) for row in rows)

    def by_id(self, ids: Iterable[str]) -> dict[str, Row]:
        """The events with these ids."""
        return {row.id: row for row in self._found("id", ids)}

    def by_key(self, keys: Iterable[str]) -> dict[str, Row]:
        """The events that came with these idempotency keys."""
        return {row.key: row for row in self._found("key", keys) if row.key is not None}

    def by_number(self, numbers: Iterable[int]) -> dict[int, Row]:
        """The decisions with these numbers."""
        return {row.number: row for row in self._found("number", numbers) if row.number is not None}

    def about(self, targets: Iterable[str]) -> list[Row]:
        """The events about these decisions and reviews, in order."""
        return sorted(self._found("target", set(targets)), key=lambda row: row.seq)

    def after(self, seq: int, limit: int, kinds: Sequence[str] | None = None) -> list[Row]:
        """Up to `limit` events after `seq`, in order."""
        index, kind, values = _kinds(kinds)
        found = self._rows(
            f"{self._select(index)} AND seq > ?{kind} ORDER BY seq LIMIT ?", (self._desk, seq, *values, limit)
        )
        return [Row(*row) for row in found]

    def to_fold(self, after: int, until: int, limit: int) -> list[ToFold]:
        """What a fold needs of the events after `after`; decisions are not read at all, whatever is missing is one."""
        end = min(until, self.head.seq, after + limit)
        found = self._rows(
            f"SELECT seq, kind, target, undoes, text FROM events{self.using('events_learned')} "
            "WHERE desk = ? AND kind <> 'decision' AND seq > ? AND seq <= ?",
            (self._desk, after, end),
        )
        lines = [ToFold(seq, "decision") for seq in range(after + 1, end + 1)]
        for row in found:
            lines[row[0] - after - 1] = ToFold(*row)
        return lines

    def undone(self) -> list[tuple[int, int]]:
        """All that was taken back."""
        found = self.run(
            f"SELECT seq, undoes FROM events{self.using('events_undoes')} WHERE desk = ? AND undoes IS NOT NULL",
            (self._desk,),
        )
        return [(seq, undoes) for seq, undoes in found.fetchall()]

    def last(self, kinds: Sequence[str], until: int) -> Row | None:
        """The newest event of these kinds: for each kind one look into the index."""
        found = []
        for name in kinds:
            index, kind, values = _kinds((name,))
            rows = self._rows(
                f"{self._select(index)} AND seq <= ?{kind} ORDER BY seq DESC LIMIT 1", (self._desk, until, *values)
            )
            found += [Row(*row) for row in rows]
        return max(found, default=None)

    def stray(self) -> Stray | None:
        """A line beyond the head or before the first."""
        found = self._straight(STRAY, (self._desk,)).fetchone()
        ends = () if found is None else found[1:]
        return next((Stray(found[0], seq) for seq in ends if seq is not None), None)

    def append(self, rows: Sequence[Row], head: Head) -> None:
        """Add events and move the head."""
        try:
            if self._driver is None:
                self.run(INSERT, [(self._desk, *row) for row in rows])
            else:
                insert(self._driver, self._desk, rows)
        except (IntegrityError, sqlite3.IntegrityError) as error:  # whoever writes is alone: no other was faster
            raise taken(rows[0].seq) from error
        self._straight(
            "UPDATE desks SET seq = ?, hash = ?, decisions = ?, settings = ? WHERE name = ?",
            (head.seq, head.hash, head.decisions, head.settings, self._desk),
        )
        self.head = head


def _kinds(kinds: Sequence[str] | None) -> tuple[str | None, str, tuple[str, ...]]:
    """A condition on kinds, and the index for it; without decisions, one that leaves them out."""
    if kinds is None:
        return None, "", ()
    few = "" if "decision" in kinds else " AND kind <> 'decision'"
    wanted = "kind = ?" if len(kinds) == 1 else f"kind IN ({', '.join('?' * len(kinds))})"
    index = None if "decision" in kinds else "events_kind" if len(kinds) == 1 else "events_learned"
    return index, f" AND {wanted}{few}", tuple(kinds)
