"""Locks for projecting: released by the operating system or the database when their process dies."""

from __future__ import annotations

import hashlib
import os
import threading
from contextlib import suppress
from typing import Any, Protocol

import filelock
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError


class ProjectionLock(Protocol):
    """A lock that one projector in all processes can hold."""

    def acquire(self) -> bool:
        """Whether it is held now; does not wait for another holder."""

    def release(self) -> None:
        """Let others project."""


class ProjectionLocks:
    """The locks of one ledger: files beside an SQLite database, advisory locks in PostgreSQL, else of this process."""

    def __init__(self, engine: Engine) -> None:
        self._database = engine.url.database
        self._session = AdvisoryLocks(engine) if engine.dialect.name == "postgresql" else None
        self._in_memory: dict[str, threading.Lock] = {}

    def of(self, desk: str) -> ProjectionLock:
        """The lock of one desk; each caller is a holder of its own."""
        if self._session is not None:
            return AdvisoryLock(self._session, desk)
        if self._database is None or self._database == ":memory:":
            return MemoryLock(self._in_memory.setdefault(desk, threading.Lock()))
        digest = hashlib.blake2b(desk.encode(), digest_size=6).hexdigest()
        return FileLock(f"{os.path.abspath(self._database)}.{digest}.lock")

    def close(self) -> None:
        """Release all advisory locks."""
        if self._session is not None:
            self._session.close()


class MemoryLock:
    """A lock among the desks of this process, for a ledger in memory."""

    def __init__(self, lock: threading.Lock) -> None:
        self._lock, self._is_held = lock, False

    def acquire(self) -> bool:
        """Whether it is held now."""
        self._is_held = self._is_held or self._lock.acquire(blocking=False)
        return self._is_held

    def release(self) -> None:
        """Let others project."""
        if self._is_held:
            self._is_held = False
            self._lock.release()


class FileLock:
    """A lock on a small file beside an SQLite database."""

    def __init__(self, path: str) -> None:
        self._lock = filelock.FileLock(path, timeout=0, thread_local=False)

    def acquire(self) -> bool:
        """Whether it is held now."""
        if not self._lock.is_locked:
            with suppress(filelock.Timeout):
                self._lock.acquire()
        return self._lock.is_locked

    def release(self) -> None:
        """Let others project."""
        self._lock.release(force=True)


class AdvisoryLocks:
    """One PostgreSQL session that holds the advisory locks of all desks which this process projects.

    Its connection is not the pool's: locks are held as long as a process lives. A session's own locks do not exclude
    each other; `_holders` does.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        assert engine.dialect.dbapi is not None
        self._errors: tuple[type[BaseException], ...] = (SQLAlchemyError, engine.dialect.dbapi.Error)
        self._turn = threading.Lock()
        self._connection: Any = None
        self._holders: dict[int, object] = {}

    def acquire(self, key: int, holder: object) -> bool:
        """Whether this holder has the lock now; a broken session has lost all of them."""
        with self._turn:
            if not self._is_connected():
                return False
            if key not in self._holders and self._query("SELECT pg_try_advisory_lock(%s)", key) is True:
                self._holders[key] = holder
            return self._holders.get(key) is holder

    def release(self, key: int, holder: object) -> None:
        """Release the lock if this holder has it."""
        with self._turn:
            if self._holders.get(key) is holder:
                del self._holders[key]
                self._query("SELECT pg_advisory_unlock(%s)", key)

    def _is_connected(self) -> bool:
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


class AdvisoryLock:
    """The advisory lock of one desk."""

    def __init__(self, session: AdvisoryLocks, desk: str) -> None:
        self._session = session
        digest = hashlib.blake2b(f"evenhand fold {desk}".encode(), digest_size=8).digest()  # the same key as 0.1
        self._key = int.from_bytes(digest, signed=True)

    def acquire(self) -> bool:
        """Whether it is held now."""
        return self._session.acquire(self._key, self)

    def release(self) -> None:
        """Let others project."""
        self._session.release(self._key, self)
