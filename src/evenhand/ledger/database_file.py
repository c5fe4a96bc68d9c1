"""DatabaseFile: the file of an SQLite database, and whether it is still the one that was opened.

A process may go on writing to a file that was removed, moved away or replaced; all of it would be lost with its last
connection. So whoever opened one compares its path with what was opened.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any
from weakref import WeakSet

from evenhand.errors import LedgerUnavailable

Identity = tuple[int, int] | None
"""Device and inode of a file; None if there is none."""


class DatabaseFile:
    """Makes connections to one file, and tells when the file at its path, or the log beside it, is another one.

    `check` takes two looks at the file system. Called before a transaction and once more after its commit, it leaves
    open: a file that is removed after the last look, and before the answer has left; and one that is overwritten where
    it is, as `cp` does it, which is the same file with other content: reading and `verify` tell that.

    reads: for whoever only reads. Where the file or its folder cannot be written, it is opened all the same: with the
    log, if somebody has it open, and as a file that nobody changes if there is nothing in a log; `check` tells if
    somebody begins to. LedgerUnavailable if a log holds something and nobody has it open: reading it takes writing.
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
        """A new connection; LedgerUnavailable if the file is not the one of those before. It is made only at first."""
        if self._opened is not None:
            self._check_file()
        connection: sqlite3.Connection = sqlite3.connect(f"{self.path.as_uri()}?mode={self._mode}", uri=True, **named)
        return connection

    def connected(self, connection: sqlite3.Connection, user: object) -> None:
        """A connection of this user was set up: from now on this file is meant, and the log that it has.

        SQLite removes the log with the last connection to it, and not before: as long as one of these is there, there
        is one log.
        """
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()  # only now the log is there for sure
        if self._opened is None:
            self._opened = _identity(self.path)
            self._mode = "rw" if self._mode == "rwc" else self._mode
        self._check_file()
        if not self._users:
            self._opened_log = _identity(self._log)
        self.check()
        self._users.add(user)

    def closing(self, user: object) -> None:
        """A user's connection is about to be closed."""
        self._users.discard(user)

    def check(self) -> None:
        """LedgerUnavailable if the file or its log is gone or another one."""
        self._check_file()
        if self.is_read_only:
            self._refuse_full_log()
        elif _identity(self._log) != self._opened_log:
            raise LedgerUnavailable(
                f"the log {self._log} is gone or was replaced while the database was in use; nothing of this was "
                "acknowledged; what was before is safe once whoever has the database open has ended: start it again"
            )

    def _refuse_full_log(self) -> None:
        """Lines in a log would be passed over by whoever takes the file for one that nobody changes."""
        if self._mode.endswith("immutable=1") and os.path.exists(self._log) and os.stat(self._log).st_size:
            raise LedgerUnavailable(
                f"the log {self._log} has lines that are not in the database file yet, and cannot be read where "
                "nothing can be written; copy both to where it can, and read them there"
            )

    def _check_file(self) -> None:
        if _identity(self.path) != self._opened:
            raise LedgerUnavailable(
                f"the database file {self.path} is gone or was replaced; nothing of this was acknowledged; put it "
                "back, and it goes on, or start again with the one that is to be used"
            )


def _identity(path: str | Path) -> Identity:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
