"""Locks for folding that fall free when their process dies: a locked file, or a session's advisory lock."""

from __future__ import annotations

import hashlib
import os
import sys
from typing import IO

from sqlalchemy import Connection, Engine, text
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


class AdvisoryLock:
    """A session-level advisory lock of PostgreSQL, on a connection of its own."""

    def __init__(self, engine: Engine, desk: str) -> None:
        self._engine = engine
        digest = hashlib.blake2b(f"evenhand fold {desk}".encode(), digest_size=8).digest()
        self._key = int.from_bytes(digest, signed=True)
        self._connection: Connection | None = None

    def acquire(self) -> bool:
        """Whether it is held now; a session that broke has lost it."""
        if self._connection is not None:
            try:
                self._connection.execute(text("SELECT 1"))
                return True
            except SQLAlchemyError:
                self.release()
        try:
            connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        except SQLAlchemyError:
            return False
        got = False
        try:
            got = bool(connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": self._key}).scalar())
        except SQLAlchemyError:
            pass
        finally:
            if got:
                self._connection = connection
            else:
                connection.close()
        return got

    def release(self) -> None:
        """Let others fold: the session ends, and the lock with it."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.invalidate()
            connection.close()
