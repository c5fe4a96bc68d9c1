"""Transactions of a ledger's database: SQLite's file is still the one that was opened, and errors are sentences.

A process may go on writing to a file that was removed, moved or replaced; all of it would be lost with its last
connection. So the identity of the file at the path is compared with that of the file that was opened.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError

from evenhand._internal.private_file import is_private, make_private
from evenhand.errors import DamagedLedger, EvenhandError, LedgerUnavailable

log = logging.getLogger(__name__)

WAIT = 30.0
"""Seconds to wait for another process to finish writing."""

DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

Identity = tuple[int, int] | None
"""Device and inode of a file; None if there is none."""


class DatabaseFile:
    """Connects to one file, and detects when the file at its path, or the log beside it, is another one.

    `check` is called before a transaction and after its commit. It cannot detect a file that is removed after the last
    check, nor one that is overwritten in place, as `cp` does: reading and `verify` detect that.

    reads: to only read. Where the file or its folder cannot be written, it is opened all the same: with the log if
    another process has it open, else as immutable. LedgerUnavailable if a log has content and no process has it open:
    reading it needs writing.
    """

    def __init__(self, path: Path, *, make: bool, reads: bool = False) -> None:
        self.path = path
        self._log = f"{path}-wal"
        self._mode = "rwc" if make else "rw"
        self.is_read_only = reads and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
        if self.is_read_only:
            self._mode = "ro" if os.path.exists(f"{path}-shm") else "ro&immutable=1"
            self._refuse_full_log()
        self._opened: Identity = None
        self._opened_log: Identity = None
        self._users: WeakSet[Any] = WeakSet()

    def connect(self, **named: Any) -> sqlite3.Connection:
        """A new connection; only the first one may create the file, for its owner only. SQLite's logs get its mode."""
        if self._opened is not None:
            self._check_file()
        elif self._mode == "rwc":
            make_private(self.path)
        connection: sqlite3.Connection = sqlite3.connect(f"{self.path.as_uri()}?mode={self._mode}", uri=True, **named)
        return connection

    def connected(self, connection: sqlite3.Connection, user: object) -> None:
        """Note the file and its log. SQLite removes the log with the last connection, not before."""
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()  # creates the log
        if self._opened is None:
            if not (self.is_read_only or is_private(self.path)):
                log.warning("%s can be read by other users of this machine; close it to them: chmod 600", self.path)
            self._opened = _identity(self.path)
            self._mode = "rw" if self._mode == "rwc" else self._mode
        self._check_file()
        if not self._users:
            self._opened_log = _identity(self._log)
        self.check()
        self._users.add(user)

    def closing(self, user: object) -> None:
        """A connection is about to be closed."""
        self._users.discard(user)

    def check(self) -> None:
        """LedgerUnavailable if the file or its log is gone or was replaced."""
        self._check_file()
        if self.is_read_only:
            self._refuse_full_log()
        elif _identity(self._log) != self._opened_log:
            raise LedgerUnavailable(
                f"the log {self._log} is gone or was replaced while the database was in use; nothing of this was "
                "acknowledged; what was before is safe once all processes that have it open have ended: restart them"
            )

    def _refuse_full_log(self) -> None:
        """Events in a log would be missed by opening the file as immutable."""
        if self._mode.endswith("immutable=1") and os.path.exists(self._log) and os.stat(self._log).st_size:
            raise LedgerUnavailable(
                f"the log {self._log} has events that are not in the database file yet, and cannot be read where "
                "nothing can be written; copy both to where it can, and read them there"
            )

    def _check_file(self) -> None:
        if _identity(self.path) != self._opened:
            raise LedgerUnavailable(
                f"the database file {self.path} is gone or was replaced; nothing of this was acknowledged; put it "
                "back, or restart with the file that is to be used"
            )


def _identity(path: str | Path) -> Identity:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


files: WeakKeyDictionary[Engine, DatabaseFile] = WeakKeyDictionary()
"""The file of each engine of an SQLite database, if it is in one."""
_writers: WeakKeyDictionary[Engine, threading.Lock] = WeakKeyDictionary()


@contextmanager
def transaction(engine: Engine, *, writes: bool) -> Iterator[Connection]:
    """A connection within one transaction; database errors are raised as an EvenhandError.

    SQLite's file is checked before, and once more after a commit: what was written to a file that was removed or
    replaced is not acknowledged. If the file vanished in between, the commit may be in it when it is put back, as after
    a connection that broke during a commit.
    """
    file, is_sqlite = files.get(engine), engine.dialect.name == "sqlite"
    turn = _turn(engine) if is_sqlite and (writes or file is None) else nullcontext()
    with translated(), turn, engine.connect() as connection:
        if file is not None:
            file.check()
        if writes:
            connection.execution_options(evenhand_writes=True)
        with connection.begin():
            yield connection
        if writes and file is not None:
            file.check()


def begin(connection: Connection) -> None:
    """Begin a transaction in SQLite, whose driver would begin it by itself, and too late."""
    writes = connection.get_execution_options().get("evenhand_writes", False)
    driver: Any = connection.connection.driver_connection
    driver.execute("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def _turn(engine: Engine) -> Iterator[None]:
    """One thread after the other: left to SQLite, a thread that finds the file locked sleeps longer than needed."""
    lock = _writers.setdefault(engine, threading.Lock())
    if not lock.acquire(timeout=WAIT):
        raise LedgerUnavailable(f"another thread has been writing for {WAIT:g} seconds; nothing was written")
    try:
        yield
    finally:
        lock.release()


@contextmanager
def translated() -> Iterator[None]:
    """Database errors as an EvenhandError with a sentence."""
    try:
        yield
    except (EvenhandError, IntegrityError, DataError):  # the last two are errors of evenhand
        raise
    except DBAPIError as error:
        raise _sentence(error.orig or error) from None if is_undecodable(error.orig) else error
    except (SQLAlchemyError, OSError, sqlite3.Error) as error:
        raise _sentence(error) from None if is_undecodable(error) else error


def is_undecodable(error: BaseException | None) -> bool:
    """Whether SQLite's driver found text that is not UTF-8; its message quotes all of it."""
    return isinstance(error, sqlite3.OperationalError) and str(error).startswith("Could not decode to UTF-8")


def _sentence(error: BaseException) -> EvenhandError:
    if is_undecodable(error):
        return DamagedLedger("the database is damaged: it has text that is not UTF-8; verify the ledger")
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    shown = " ".join(str(error).split())
    if code in DAMAGED:
        return DamagedLedger(f"the database is damaged ({shown}); restore it from a backup, then verify the ledger")
    if code == sqlite3.SQLITE_FULL:
        return LedgerUnavailable(f"nothing was written: the disk is full ({shown}); what was acknowledged is safe")
    return LedgerUnavailable(
        f"the database cannot be used now ({shown}); what was acknowledged is safe, what was not may be sent again"
    )
