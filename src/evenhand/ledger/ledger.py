"""Ledger: the append-only events of any number of desks, in SQLite or PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from evenhand.errors import AlreadyRecorded
from evenhand.ledger.engine import file_of, open_engine, transaction, translated
from evenhand.ledger.locks import ProjectionLock, ProjectionLocks
from evenhand.ledger.migrate import NEWEST, bring_up_to_date, refuse_newer, refuse_unknown, version_of
from evenhand.ledger.rows import EventToApply, Head, Row, Stamp, StrayEvent
from evenhand.ledger.view import INSERT, LedgerView, Statements
from evenhand.ledger.waiting_pairs import WaitingPairs

__all__ = ["EventToApply", "Head", "Ledger", "LedgerView", "Row", "Stamp", "StrayEvent", "open_ledger"]

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
        try:
            self._be_up_to_date(make)
        except BaseException:
            self.engine.dispose()
            raise
        self.pairs = WaitingPairs(self.transaction)
        self._locks = ProjectionLocks(self.engine)

    def _be_up_to_date(self, make: bool) -> None:
        with self.transaction() as connection:
            version = version_of(connection)
            if version is None and not make:
                refuse_unknown(connection)
        if version == NEWEST:
            return
        refuse_newer(version)
        file = file_of(self.engine)
        if file is not None and file.is_read_only:
            return  # desks, events and snapshots are the same in every version
        with self.transaction(writes=True) as connection:
            bring_up_to_date(connection)

    def transaction(self, *, writes: bool = False) -> AbstractContextManager[Connection]:
        """A connection in one transaction of the ledger's database; also for other tables in it."""
        return transaction(self.engine, writes=writes)

    def names(self) -> list[str]:
        """The names of all desks, sorted; also of those whose head is lost, so that opening one says so."""
        with self.transaction() as connection:
            return sorted(name for (name,) in Statements(connection).run(NAMES).fetchall())

    def head(self, name: str) -> Head:
        """Where a desk's ledger ends."""
        with self.reading(name) as view:
            return view.head

    def heads(self, names: Sequence[str]) -> dict[str, int]:
        """The seq of the last event of each of these desks, in one query."""
        wanted = set(names)
        with self.transaction() as connection:
            found = Statements(connection).run("SELECT name, seq FROM desks").fetchall()
        return {name: seq for name, seq in found if name in wanted}

    def create(self, name: str, first: Row, created: str) -> None:
        """A new desk with its first event; AlreadyRecorded if there is one of that name."""
        taken = AlreadyRecorded(f"there is a desk {name!r} already; open it, or choose another name")
        try:
            with self.transaction(writes=True) as connection:
                statements = Statements(connection)
                if statements.run("SELECT name FROM desks WHERE name = ?", (name,)).fetchone() is not None:
                    raise taken
                statements.run(
                    "INSERT INTO desks (name, seq, hash, decisions, settings, created) VALUES (?, ?, ?, ?, ?, ?)",
                    (name, 1, first.hash, 0, 1, created),
                )
                statements.run(INSERT, [(name, *first)])
        except IntegrityError as error:  # another process was faster
            raise taken from error

    @contextmanager
    def reading(self, name: str) -> Iterator[LedgerView]:
        """A consistent view of a desk's ledger; UnknownRecord if there is no such desk."""
        with self.transaction() as connection:
            yield LedgerView(connection, name, writes=False)

    @contextmanager
    def writing(self, name: str) -> Iterator[LedgerView]:
        """The same, with the desk (PostgreSQL) or the database (SQLite) locked. Durable once it ends without error."""
        with self.transaction(writes=True) as connection:
            yield LedgerView(connection, name, writes=True)

    def check_writable(self) -> None:
        """Write as much as a batch needs, and remove it again; LedgerUnavailable if that cannot be done now."""
        with self.transaction(writes=True) as connection:
            statements, probe = Statements(connection), ("", 0)
            content = os.urandom(PROBE_BYTES)  # nothing that could be compressed
            statements.run("INSERT INTO snapshots (desk, seq, until, blob) VALUES (?, ?, 0, ?)", (*probe, content))
            statements.run("DELETE FROM snapshots WHERE desk = ? AND seq = ?", probe)

    # Snapshots of projections: derived from events, never the truth.

    def snapshots(self, name: str) -> list[Stamp]:
        """The snapshots there are, ascending."""
        with self.transaction() as connection:
            found = Statements(connection).run("SELECT seq, until FROM snapshots WHERE desk = ? ORDER BY seq", (name,))
            return [Stamp(*row) for row in found.fetchall()]

    def snapshot(self, name: str, seq: int) -> bytes | None:
        """One snapshot."""
        with self.transaction() as connection:
            found = Statements(connection).run("SELECT blob FROM snapshots WHERE desk = ? AND seq = ?", (name, seq))
            row = found.fetchone()
            return None if row is None else bytes(row[0])

    def keep_snapshot(self, name: str, stamp: Stamp, blob: bytes, drop: Sequence[int]) -> None:
        """Add a snapshot, or replace the one at its seq, and drop others."""
        with self.transaction(writes=True) as connection:
            statements = Statements(connection)
            for seq in {*drop, stamp.seq}:
                statements.run("DELETE FROM snapshots WHERE desk = ? AND seq = ?", (name, seq))
            statements.run("INSERT INTO snapshots (desk, seq, until, blob) VALUES (?, ?, ?, ?)", (name, *stamp, blob))

    def projection_lock(self, name: str) -> ProjectionLock:
        """The lock of whoever projects this desk; one holder in all processes, released when its process dies."""
        return self._locks.of(name)

    def close(self) -> None:
        """Close all connections."""
        self._locks.close()
        self.engine.dispose()


def open_ledger(url: str, *, make: bool = True, reads: bool = False) -> Ledger:
    """The ledger at a URL: "memory:", "sqlite:///path", or "postgresql+psycopg://..."; tables are made as needed.

    make: False to open only a ledger that exists: InvalidInput if there is none. Tables of an older version are brought
    up to date either way. reads: True to only read: an SQLite file that cannot be written is opened as it is.
    """
    return Ledger(url, make=make, reads=reads)
