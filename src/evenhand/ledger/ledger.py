"""Ledger: the append-only events of any number of desks, in SQLite or PostgreSQL; LedgerView: those of one desk."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

from sqlalchemy import Connection, inspect
from sqlalchemy.exc import DBAPIError, IntegrityError

from evenhand.errors import AlreadyRecorded, DamagedLedger, UnknownRecord
from evenhand.ledger._locks import ProjectionLock, locks_of
from evenhand.ledger._person_keys import PersonKeys
from evenhand.ledger.engine import open_engine
from evenhand.ledger.erasing import Held, before_contents, forget, holds_erased, lock_snapshots
from evenhand.ledger.event import Erasure, EventToApply, Head, Row, Stamp
from evenhand.ledger.lottery import INSERT_SECRET
from evenhand.ledger.migrate import NEWEST, bring_up_to_date, refuse_newer, refuse_unknown, version_of
from evenhand.ledger.transaction import files, is_undecodable, transaction, translated
from evenhand.ledger.waiting_pairs import WaitingPairs

STORED = Row._fields[:-1]
"""The fields of a row that are columns."""
COLUMNS, COLUMNS_BEFORE = ", ".join(STORED), ", ".join(STORED[:-1])
"""With the contents of events, and as they were before."""
INSERT = f"INSERT INTO events (desk, {COLUMNS}) VALUES (?{', ?' * len(STORED)})"
INSERT_BEFORE = f"INSERT INTO events (desk, {COLUMNS_BEFORE}) VALUES (?{', ?' * (len(STORED) - 1)})"

INSERT_SNAPSHOT = "INSERT INTO snapshots (desk, seq, until, blob) VALUES (?, ?, ?, ?)"
DELETE_SNAPSHOT = "DELETE FROM snapshots WHERE desk = ? AND seq = ?"

VALUES_PER_QUERY = 500
"""Maximum number of values per query."""

STRAY = """
SELECT seq,
    (SELECT e.seq FROM events e WHERE e.desk = desks.name AND e.seq > desks.seq ORDER BY e.seq DESC LIMIT 1),
    (SELECT e.seq FROM events e WHERE e.desk = desks.name AND e.seq < 1 ORDER BY e.seq LIMIT 1)
FROM desks WHERE name = ?
"""
"""One statement: in PostgreSQL each sees what was committed before it, and a desk's row moves with its events."""

CHUNK = 1000
"""Events per query where all are read."""

LARGEST_SEQ = 2**63 - 1

SERVICE = "@service"
"""The stream of the service's own events, beside those of desks; no desk can have this name."""

PROBE_BYTES = 65_536
"""Written to see whether there is room: about as much as a batch of ten or twenty decisions."""

NAMES = """
WITH RECURSIVE named(desk) AS (
    SELECT min(desk) FROM events
    UNION ALL SELECT (SELECT min(desk) FROM events WHERE desk > named.desk) FROM named WHERE named.desk IS NOT NULL
)
SELECT name FROM desks UNION SELECT desk FROM named WHERE desk IS NOT NULL
"""
"""One index lookup for each desk with events, where DISTINCT would read every event."""


class Ledger:
    """Events, snapshots and the review queue of many desks in one database, which many processes may open."""

    def __init__(self, url: str, *, make: bool = True, reads: bool = False) -> None:
        with translated():
            self.engine = open_engine(url, make=make, reads=reads)
        self._columns = COLUMNS
        try:
            self._be_up_to_date(make)
        except BaseException:
            self.engine.dispose()
            raise
        self.pairs = WaitingPairs(self.engine)
        self._locks = locks_of(self.engine)

    def _be_up_to_date(self, make: bool) -> None:
        with self.transaction() as connection:
            version = version_of(connection)
            if version is None and not make:
                refuse_unknown(connection)
        if version == NEWEST:
            return
        refuse_newer(version)
        file = files.get(self.engine)
        if file is not None and file.is_read_only:
            with self.transaction() as connection:  # otherwise desks, events and snapshots are as they always were
                names = {column["name"] for column in inspect(connection).get_columns("events")}
            self._columns = COLUMNS if "contents" in names else f"{COLUMNS_BEFORE}, NULL"
            return
        with self.transaction(writes=True) as connection:
            bring_up_to_date(connection)

    def transaction(self, *, writes: bool = False) -> AbstractContextManager[Connection]:
        """A connection in one transaction of the ledger's database; also for other tables in it."""
        return transaction(self.engine, writes=writes)

    def names(self) -> list[str]:
        """The names of all desks, sorted; also of those whose head is lost, so that opening one says so."""
        with self.transaction() as connection:
            return sorted(name for (name,) in connection.exec_driver_sql(NAMES).fetchall() if name != SERVICE)

    def head(self, name: str) -> Head:
        """Where a desk's ledger ends."""
        with self.reading(name) as view:
            return view.head

    def heads(self, names: Sequence[str]) -> dict[str, int]:
        """The seq of the last event of each of these desks, in one query."""
        wanted = set(names)
        with self.transaction() as connection:
            found = connection.exec_driver_sql("SELECT name, seq FROM desks").fetchall()
        return {name: seq for name, seq in found if name in wanted}

    def create(self, name: str, first: Row, secret: bytes | None = None) -> None:
        """A new desk with its first event and its lottery's secret; AlreadyRecorded if there is one of that name."""
        taken = AlreadyRecorded(f"there is a desk {name!r} already; open it, or choose another name")
        try:
            with self.transaction(writes=True) as connection:
                if connection.exec_driver_sql("SELECT name FROM desks WHERE name = ?", (name,)).fetchone() is not None:
                    raise taken
                connection.exec_driver_sql(
                    "INSERT INTO desks (name, seq, hash, decisions, settings, created) VALUES (?, ?, ?, ?, ?, ?)",
                    (name, 1, first.hash, 0, 1, first.event.time),
                )
                connection.exec_driver_sql(INSERT, [(name, *first[:-1])])
                if secret is not None:
                    connection.exec_driver_sql("DELETE FROM lottery_secrets WHERE desk = ?", (name,))
                    connection.exec_driver_sql(INSERT_SECRET, (name, secret))
        except IntegrityError as error:  # another process was faster
            raise taken from error

    @contextmanager
    def reading(self, name: str) -> Iterator[LedgerView]:
        """A consistent view of a desk's ledger; UnknownRecord if there is no such desk."""
        with self.transaction() as connection:
            yield LedgerView(connection, name, writes=False, columns=self._columns)

    @contextmanager
    def writing(self, name: str) -> Iterator[LedgerView]:
        """The same, with the desk (PostgreSQL) or the database (SQLite) locked. Durable once it ends without error."""
        with self.transaction(writes=True) as connection:
            yield LedgerView(connection, name, writes=True)

    def rows(
        self, name: str, after: int = 0, until: int = LARGEST_SEQ, kinds: Sequence[str] | None = None
    ) -> Iterator[Row]:
        """The events of a desk after `after` and up to `until`, of these kinds or of all, read in chunks."""
        while after < until:
            limit = min(CHUNK, until - after)
            with self.reading(name) as view:
                rows = view.after(after, limit, kinds)
            yield from (row for row in rows if not isinstance(row.seq, int) or row.seq <= until)
            if len(rows) < limit or not isinstance(rows[-1].seq, int):  # what is not a number comes last in SQLite
                return
            after = rows[-1].seq

    def check_writable(self) -> None:
        """Write as much as a batch needs, and remove it again; LedgerUnavailable if that cannot be done now."""
        with self.transaction(writes=True) as connection:
            connection.exec_driver_sql(INSERT_SNAPSHOT, ("", 0, 0, os.urandom(PROBE_BYTES)))  # cannot be compressed
            connection.exec_driver_sql(DELETE_SNAPSHOT, ("", 0))

    # Snapshots of projections: derived from events, never the truth.

    def snapshots(self, name: str) -> list[Stamp]:
        """The snapshots there are, ascending."""
        with self.transaction() as connection:
            return _snapshots(connection, name)

    def snapshot(self, name: str, seq: int) -> bytes | None:
        """One snapshot."""
        with self.transaction() as connection:
            found = connection.exec_driver_sql("SELECT blob FROM snapshots WHERE desk = ? AND seq = ?", (name, seq))
            row = found.fetchone()
            return None if row is None else bytes(row[0])

    def keep_snapshot(self, name: str, stamp: Stamp, blob: bytes, drop: Sequence[int]) -> None:
        """Add a snapshot, or replace the one at its seq, and drop others.

        Nothing is kept if a person was erased after the last event that it knows of: it may hold what was learned.
        """
        with self.transaction(writes=True) as connection:
            lock_snapshots(connection, name)
            if holds_erased(connection, name, stamp):
                return
            for seq in {*drop, stamp.seq}:
                connection.exec_driver_sql(DELETE_SNAPSHOT, (name, seq))
            connection.exec_driver_sql(INSERT_SNAPSHOT, (name, *stamp, blob))

    def projection_lock(self, name: str) -> ProjectionLock:
        """The lock of whoever projects this desk; one holder in all processes, released when its process dies."""
        return ProjectionLock(self._locks, name)

    def close(self) -> None:
        """Release all locks and close all connections."""
        self._locks.close()
        self.engine.dispose()


def open_ledger(url: str, *, make: bool = True, reads: bool = False) -> Ledger:
    """The ledger at a URL: "memory:", "sqlite:///path", or "postgresql+psycopg://..."; tables are made as needed.

    make: False to open only a ledger that exists: InvalidInput if there is none. Tables of an older version are brought
    up to date either way. reads: True to only read: an SQLite file that cannot be written is opened as it is.
    """
    return Ledger(url, make=make, reads=reads)


class LedgerView:
    """Finds events of one desk, and appends to them."""

    def __init__(self, connection: Connection, desk: str, *, writes: bool, columns: str = COLUMNS) -> None:
        self._run, self._desk, self._columns = connection.exec_driver_sql, desk, columns
        self._connection, self._keys = connection, PersonKeys(connection.exec_driver_sql, desk)
        lock = " FOR UPDATE" if writes and connection.dialect.name == "postgresql" else ""
        head = self._run(f"SELECT seq, hash, decisions, settings FROM desks WHERE name = ?{lock}", (desk,)).fetchone()
        if head is None and self._run("SELECT 1 FROM events WHERE desk = ? LIMIT 1", (desk,)).fetchone():
            raise DamagedLedger(f"desk {desk!r} was removed: its events are there, its head is not; restore a backup")
        if head is None:
            raise UnknownRecord(f"there is no desk {desk!r}")
        if [type(value) for value in head] != [int, str, int, int]:
            raise DamagedLedger(f"desk {desk!r} was changed: its head cannot be read")
        self.head = Head(*head)

    def _rows(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        """All rows of a query. Text that is not UTF-8 comes as bytes, so that verifying can say which event has it."""
        try:
            return list(self._run(statement, values).fetchall())
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
        return f"SELECT {self._columns} FROM events{'' if index is None else f' INDEXED BY {index}'} WHERE desk = ?"

    def _events(self, statement: str, values: tuple[Any, ...]) -> list[Row]:
        """The events of a query, with their contents."""
        rows = [Row(*row) for row in self._rows(statement, values)]
        if all(row.contents is None for row in rows):
            return rows
        # SQLite stores any type in a column: what has no number has no contents that could be read.
        opened = self._keys.decrypted([(row.seq if isinstance(row.seq, int) else 0, row.contents) for row in rows])
        return [row._replace(opened=contents) for row, contents in zip(rows, opened, strict=True)]

    def _find(self, column: str, values: Iterable[Any]) -> Iterator[Row]:
        wanted, select = list(values), self._select(f"events_{column}")
        for at in range(0, len(wanted), VALUES_PER_QUERY):
            some = wanted[at : at + VALUES_PER_QUERY]
            marks = ", ".join("?" * len(some))
            yield from self._events(f"{select} AND {column} IN ({marks})", (self._desk, *some))

    def by_id(self, ids: Iterable[str]) -> dict[str, Row]:
        """The events with these ids, as far as there are any."""
        return {row.id: row for row in self._find("id", ids)}

    def with_keys(self, keys: Iterable[str]) -> list[Row]:
        """The events that came with these idempotency keys, of any actor, in order."""
        return sorted(self._find("key", set(keys)), key=lambda row: row.seq)

    def by_number(self, numbers: Iterable[int]) -> dict[int, Row]:
        """The decisions with these numbers."""
        return {row.number: row for row in self._find("number", numbers) if row.number is not None}

    def about(self, targets: Iterable[str]) -> list[Row]:
        """The events about these decisions and reviews, in order."""
        return sorted(self._find("target", set(targets)), key=lambda row: row.seq)

    def following(self, targets: Iterable[str]) -> list[Row]:
        """The events about these decisions and reviews, and about the reviews of these decisions, in order."""
        about = self.about(targets)
        return sorted({*about, *self.about(row.id for row in about if row.kind == "review")}, key=lambda row: row.seq)

    def after(self, seq: int, limit: int, kinds: Sequence[str] | None = None) -> list[Row]:
        """Up to `limit` events after `seq`, in order, of these kinds or of all."""
        index, condition, values = _of_kinds(kinds)
        statement = f"{self._select(index)} AND seq > ?{condition} ORDER BY seq LIMIT ?"
        return self._events(statement, (self._desk, seq, *values, limit))

    def to_apply(self, after: int, until: int, limit: int) -> list[EventToApply]:
        """Up to `limit` events after `after`, not beyond `until`; decisions are not read, what is missing is one."""
        end = min(until, self.head.seq, after + limit)
        found = self._events(
            f"{self._select('events_learned')} AND kind <> 'decision' AND seq > ? AND seq <= ?",
            (self._desk, after, end),
        )
        events = [EventToApply(seq, "decision") for seq in range(after + 1, end + 1)]
        for row in found:
            events[row.seq - after - 1] = EventToApply(row.seq, row.kind, row.target, row.text, row.opened)
        return events

    def withdrawals(self) -> list[tuple[int, int]]:
        """All withdrawn or superseded reviews: the seq of the event that did it, and of the review."""
        statement = "SELECT seq, undoes FROM events INDEXED BY events_undoes WHERE desk = ? AND undoes IS NOT NULL"
        return [(seq, undoes) for seq, undoes in self._run(statement, (self._desk,)).fetchall()]

    def erasures(self) -> list[Erasure]:
        """The people who were erased, and since when."""
        bodies = [(row.seq, row.event.body) for row in self.after(0, self.head.seq, ("erasure",))]
        return [Erasure(seq, body["candidate"], body["since"]) for seq, body in bodies]

    def undone(self) -> list[tuple[int, int]]:
        """From which event on what was learned is no longer known: by withdrawals and by erasures."""
        return [*self.withdrawals(), *((erasure.seq, erasure.since) for erasure in self.erasures())]

    def held(self, person: str) -> Held:
        """What the ledger holds of a person."""
        key = self._keys.of(person)
        return Held(None if key is None else key.since, before_contents(self._connection, self._desk, person))

    def snapshots(self) -> list[Stamp]:
        """The snapshots there are, ascending."""
        return _snapshots(self._connection, self._desk)

    def last(self, kinds: Sequence[str], until: int) -> Row | None:
        """The newest event of these kinds, not beyond `until`; one index lookup for each kind."""
        found = []
        for name in kinds:
            index, condition, values = _of_kinds((name,))
            statement = f"{self._select(index)} AND seq <= ?{condition} ORDER BY seq DESC LIMIT 1"
            found += self._events(statement, (self._desk, until, *values))
        return max(found, key=lambda row: row.seq, default=None)

    def stray(self) -> DamagedLedger | None:
        """What is wrong if there is an event after the head or before the first."""
        found = self._run(STRAY, (self._desk,)).fetchone()
        head, after, before = (0, None, None) if found is None else found
        if after is not None:
            last = f"event {after}" if isinstance(after, int) else "one without a number"  # SQLite stores any type
            return DamagedLedger(
                f"desk {self._desk!r} was changed: there are events after event {head}, up to {last}, but its head "
                f"says {head}: the head was set back, or events were inserted; restore a backup, then verify the ledger"
            )
        if before is not None:
            return DamagedLedger(
                f"desk {self._desk!r} was changed: there is an event before the first; restore a backup, then verify "
                "the ledger"
            )
        return None

    def append(self, rows: Sequence[Row], head: Head) -> None:
        """Add events and move the head; only within `Ledger.writing`. DamagedLedger if an event is there already.

        Contents are encrypted here: the keys are those of this transaction. An erasure destroys its person's key.
        """
        self._keys.load_for([row.opened for row in rows])
        try:
            self._run(INSERT, [(self._desk, *self._stored(row)[:-1]) for row in rows])
            self._keys.keep()
        except IntegrityError as error:  # writers are alone: no other was faster
            raise DamagedLedger(
                f"nothing was written: event {rows[0].seq} cannot be added, since the ledger has it already, or one "
                "with its id or number; its head was set back, or events were inserted; restore a backup, then "
                "verify the ledger"
            ) from error
        self._run(
            "UPDATE desks SET seq = ?, hash = ?, decisions = ?, settings = ? WHERE name = ?",
            (head.seq, head.hash, head.decisions, head.settings, self._desk),
        )
        self.head = head

    def _stored(self, row: Row) -> Row:
        if row.kind == "erasure":
            body = row.event.body
            self._keys.forget(body["candidate"])
            forget(self._connection, self._desk, body["candidate"], body["since"])
        return row._replace(contents=self._keys.encrypted(row.seq, row.opened)) if row.opened else row


def _snapshots(connection: Connection, desk: str) -> list[Stamp]:
    found = connection.exec_driver_sql("SELECT seq, until FROM snapshots WHERE desk = ? ORDER BY seq", (desk,))
    return [Stamp(*row) for row in found.fetchall()]


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
