"""Locks for folding that fall free when their process dies: a locked file, or a session's advisory lock."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from contextlib import suppress
from typing import IO, Any

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class FileLock:
    """A lock on a small file beside an SQLite database; the operating system ends it with the process."""

    def __init__(self, database: str, desk: str) -> None:
        digest = hashlib.blake2b(desk.encode(), digest_size=6).hexdigest()
        self._path = f"{os.path.abspath(database)}.{digest}.folding"
        self._file: IO[bytes] | None = None

    def acquire(self) -> bool:
        """Whether it is held now."""
        if self._file is not None:
            return True
        file = open(self._path, "ab")  # noqa: SIM115 - held until release
        try:
            if sys.platform == "win32":
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return False
        self._file = file
        return True

    def release(self) -> None:
        """Let others fold; the file stays, removing it would let two hold it."""
        if self._file is not None:
            self._file.close()
            self._file = None


class LockSession:
    """One session of PostgreSQL that holds the advisory locks of all desks which this process folds.

    Its connection is not the pool's: locks are held as long as a process lives, and one connection a desk would leave
    none to read and write with. The session's own locks do not shut each other out; that is done here.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        assert engine.dialect.dbapi is not None
        self._errors: tuple[type[BaseException], ...] = (SQLAlchemyError, engine.dialect.dbapi.Error)
        self._turn = threading.Lock()
        self._connection: Any = None
        self._holders: dict[int, object] = {}

    def acquire(self, key: int, holder: object) -> bool:
        """Whether this holder has the lock now; a session that broke has lost all of them."""
        with self._turn:
            if not self._is_there():
                return False
            if key in self._holders:
                return self._holders[key] is holder
            if self._asked("SELECT pg_try_advisory_lock(%s)", key) is not True:
                return False
            self._holders[key] = holder
            return True

    def release(self, key: int, holder: object) -> None:
        """Let others have it; without effect if this holder has it not."""
        with self._turn:
            if self._holders.get(key) is holder:
                del self._holders[key]
                self._asked("SELECT pg_advisory_unlock(%s)", key)

    def _is_there(self) -> bool:
        if self._connection is not None and self._asked("SELECT 1") is not None:
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

    def _asked(self, statement: str, *values: int) -> object:
        """The value that a statement gives; None if the session is broken, which ends it."""
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
        """End the session, and all its locks with it."""
        with self._turn:
            self._end()


class AdvisoryLock:
    """A session-level advisory lock of PostgreSQL."""

    def __init__(self, session: LockSession, desk: str) -> None:
        self._session = session
        digest = hashlib.blake2b(f"evenhand fold {desk}".encode(), digest_size=8).digest()
        self._key = int.from_bytes(digest, signed=True)

    def acquire(self) -> bool:
        """Whether it is held now; a session that broke has lost it."""
        return self._session.acquire(self._key, self)

    def release(self) -> None:
        """Let others fold."""
        self._session.release(self._key, self)
