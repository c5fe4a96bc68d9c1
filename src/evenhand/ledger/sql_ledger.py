"""SqlLedger: ledgers in SQLite or PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from evenhand.errors import AlreadyRecorded
from evenhand.ledger.checkpoints import Checkpoints
from evenhand.ledger.engine import file_of, open_engine, transaction, translated, turn_to_write
from evenhand.ledger.ledger import FoldLock, Ledger, Row, Stamp
from evenhand.ledger.locks import AdvisoryLock, FileLock, LockSession
from evenhand.ledger.migrate import NEWEST, bring_up_to_date, refuse_newer, refuse_unknown, version_of
from evenhand.ledger.sql_pairs import SqlPairs
from evenhand.ledger.sql_view import INSERT, SqlView, Statements

PROBE = 65_536
"""Bytes that are written to see whether there is room: as many as a batch of ten or twenty decisions has."""
NAMES = """
WITH RECURSIVE named(desk) AS (
    SELECT min(desk) FROM events
    UNION ALL SELECT (SELECT min(desk) FROM events WHERE desk > named.desk) FROM named WHERE named.desk IS NOT NULL
)
SELECT name FROM desks UNION SELECT desk FROM named WHERE desk IS NOT NULL
"""
"""From one desk's lines to the next: a look into the index for each, while DISTINCT would read every line."""


class SqlLedger(Ledger):
    """Ledgers of any number of desks in one database, which any number of processes may open."""

    def __init__(self, url: str, *, make: bool = True, reads: bool = False) -> None:
        with translated():
            self.engine = open_engine(url, make=make, reads=reads)
        try:
            self._be_up_to_date(make)
        except BaseException:
            self.engine.dispose()
            raise
        self.pairs = SqlPairs(self.engine)
        self._locks = LockSession(self.engine) if self.engine.dialect.name == "postgresql" else None
        self._checkpoints = (
            Checkpoints(file_of(self.engine), partial(turn_to_write, self.engine))
            if self.engine.dialect.name == "sqlite"
            else None
        )

    def _be_up_to_date(self, make: bool) -> None:
        with self.transaction() as connection:
            found = version_of(connection)
            if found is None and not make:
                refuse_unknown(connection)
        if found == NEWEST:
            return
        refuse_newer(found)
        if self.engine.dialect.name == "sqlite" and file_of(self.engine).is_read_only:
            return  # desks, events and snapshots are in every version as they are now
        with self.transaction(writes=True) as connection:
            bring_up_to_date(connection)

    def transaction(self, *, writes: bool = False) -> AbstractContextManager[Connection]:
        """A connection in one transaction of the ledger's database, for whoever keeps other tables in it."""
        return transaction(self.engine, writes=writes)

    def names(self) -> list[str]:
        """The names of all desks, those among them of which only lines are left: whoever opens one is told."""
        with self.transaction() as connection:
            return sorted(name for (name,) in Statements(connection).run(NAMES).fetchall())

    def create(self, name: str, first: Row, created: str) -> None:
        """A new desk with its first event."""
        try:
            with self.transaction(writes=True) as connection:
                statements = Statements(connection)
                if statements.run("SELECT name FROM desks WHERE name = ?", (name,)).fetchone() is not None:
                    raise AlreadyRecorded(_taken(name))
                values = (name, 1, first.hash, 0, 1, created)
                statements.run(
                    "INSERT INTO desks (name, seq, hash, decisions, settings, created) VALUES (?, ?, ?, ?, ?, ?)",
                    values,
                )
                statements.run(INSERT, [(name, *first)])
        except IntegrityError as error:  # another process was faster
            raise AlreadyRecorded(_taken(name)) from error

    @contextmanager
    def reading(self, name: str) -> Iterator[SqlView]:
        """A view of a desk's ledger."""
        with self.transaction() as connection:
            yield SqlView(connection, name, writes=False)

    @contextmanager
    def writing(self, name: str) -> Iterator[SqlView]:
        """The same, with the desk's row locked (PostgreSQL) or the database (SQLite)."""
        with self.transaction(writes=True) as connection:
            view = SqlView(connection, name, writes=True)
            before = view.head.seq
            yield view
        if self._checkpoints is not None:
            self._checkpoints.wrote(view.head.seq - before)

    def check_writable(self) -> None:
        """Add a snapshot of no desk, and remove it again: what a batch needs of room has to be there, and is freed."""
        with self.transaction(writes=True) as connection:
            statements, tried = Statements(connection), ("", 0)
            content = os.urandom(PROBE)  # nothing that could be compressed
            statements.run("INSERT INTO snapshots (desk, seq, until, blob) VALUES (?, ?, 0, ?)", (*tried, content))
            statements.run("DELETE FROM snapshots WHERE desk = ? AND seq = ?", tried)

    def snapshots(self, name: str) -> list[Stamp]:
        """Which snapshots there are."""
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
        """Add a snapshot and drop others."""
        with self.transaction(writes=True) as connection:
            statements = Statements(connection)
            for seq in {*drop, stamp.seq}:
                statements.run("DELETE FROM snapshots WHERE desk = ? AND seq = ?", (name, seq))
            statements.run("INSERT INTO snapshots (desk, seq, until, blob) VALUES (?, ?, ?, ?)", (name, *stamp, blob))

    def fold_lock(self, name: str) -> FoldLock:
        """An advisory lock of a session, or a locked file beside the database: both end with their process."""
        if self._locks is not None:
            return AdvisoryLock(self._locks, name)
        return FileLock(str(self.engine.url.database), name)

    def close(self) -> None:
        """Close all connections."""
        if self._checkpoints is not None:
            self._checkpoints.close()
        if self._locks is not None:
            self._locks.close()
        self.engine.dispose()


def _taken(name: str) -> str:
    return f"there is a desk {name!r} already; open it, or choose another name"
