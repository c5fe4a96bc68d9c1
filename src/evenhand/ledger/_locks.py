"""Locks for projecting: released by the operating system or the database when their process dies."""

from __future__ import annotations

import hashlib
import os
import threading
from contextlib import suppress
from typing import Any

import filelock
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from evenhand._internal.private_file import OWNER_ONLY, make_private


class ProjectionLocks:
    """The locks of one ledger, among the desks of this process; subclasses exclude other processes as well."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._holders: dict[str, ProjectionLock] = {}

    def acquire(self, holder: ProjectionLock) -> bool:
        """Whether this holder has the lock of its desk now; does not wait for another holder."""
        with self._turn:
            if self._is_usable() and holder.desk not in self._holders and self._take(holder.desk):
                self._holders[holder.desk] = holder
            return self._holders.get(holder.desk) is holder

    def release(self, holder: ProjectionLock) -> None:
        """Release the lock if this holder has it."""
        with self._turn:
            if self._holders.get(holder.desk) is holder:
                del self._holders[holder.desk]
                self._give_back(holder.desk)

    def close(self) -> None:
        """Release all locks."""
        for holder in list(self._holders.values()):
            self.release(holder)

    def _is_usable(self) -> bool:
        """Whether locks can be taken; those held are lost if not."""
        return True

    def _take(self, desk: str) -> bool:
        """Take the lock from other processes, if none of them has it."""
        return True

    def _give_back(self, desk: str) -> None:
        """Let other processes have it."""


class ProjectionLock:
    """The lock of one desk, for one of the projectors that may hold it: one of all processes does."""

    def __init__(self, locks: ProjectionLocks, desk: str) -> None:
        self._locks, self.desk = locks, desk

    def acquire(self) -> bool:
        """Whether it is held now; does not wait for another holder."""
        return self._locks.acquire(self)

    def release(self) -> None:
        """Let others project."""
        self._locks.release(self)


class FileLocks(ProjectionLocks):
    """Locks on small files beside an SQLite database."""

    def __init__(self, database: str) -> None:
        super().__init__()
        self._database = os.path.abspath(database)
        self._files: dict[str, filelock.BaseFileLock] = {}

    def _take(self, desk: str) -> bool:
        digest = hashlib.blake2b(desk.encode(), digest_size=6).hexdigest()
        path = f"{self._database}.{digest}.lock"
        make_private(path, like=self._database)
        file = filelock.FileLock(path, timeout=0, mode=OWNER_ONLY, thread_local=False)
        with suppress(filelock.Timeout):
            file.acquire()
            self._files[desk] = file
        return file.is_locked

    def _give_back(self, desk: str) -> None:
        self._files.pop(desk).release()


class AdvisoryLocks(ProjectionLocks):
    """One PostgreSQL session that holds the advisory locks of all desks which this process projects.

    Its connection is not the pool's: locks are held as long as a process lives.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine
        assert engine.dialect.dbapi is not None
        self._errors: tuple[type[BaseException], ...] = (SQLAlchemyError, engine.dialect.dbapi.Error)
        self._connection: Any = None

    def _take(self, desk: str) -> bool:
        return self._query("SELECT pg_try_advisory_lock(%s)", _key(desk)) is True

    def _give_back(self, desk: str) -> None:
        self._query("SELECT pg_advisory_unlock(%s)", _key(desk))

    def _is_usable(self) -> bool:
        """Whether there is a session; a broken one has lost all locks."""
        if self._connection is not None and self._query("SELECT 1") is not None:
            return True
        try:
            pooled = self._engine.raw_connection()
            connection: Any = pooled.driver_connection
            pooled.detach()
            connection.rollback()
            connection.autocommit = True
        except self._errors:
            return False
        self._connection = connection
        return True

    def _query(self, statement: str, *values: int) -> object:
        """The value of a statement; None if the session is broken, which ends it."""
        try:
            return self._connection.execute(statement, values).fetchone()[0]
        except self._errors:
            self._end()
            return None

    def _end(self) -> None:
        connection, self._connection = self._connection, None
        self._holders.clear()
        if connection is not None:
            with suppress(*self._errors):
                connection.close()

    def close(self) -> None:
        """End the session; its locks are free when this returns, which a server does not promise of a hang-up."""
        with self._turn:
            if self._connection is not None:
                self._query("SELECT pg_advisory_unlock_all()")
            self._end()


def _key(desk: str) -> int:
    digest = hashlib.blake2b(f"evenhand fold {desk}".encode(), digest_size=8).digest()  # the same key as 0.1
    return int.from_bytes(digest, signed=True)


def locks_of(engine: Engine) -> ProjectionLocks:
    """The locks of a ledger: files beside an SQLite database, advisory locks in PostgreSQL, else of this process."""
    if engine.dialect.name == "postgresql":
        return AdvisoryLocks(engine)
    database = engine.url.database
    return ProjectionLocks() if database is None or database == ":memory:" else FileLocks(database)
