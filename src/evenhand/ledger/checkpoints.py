"""Checkpoints: what SQLite's write-ahead log holds goes into its file, beside the writing and not within a commit.

Left to itself SQLite does it at the end of some commit, which then takes many times as long as the others. Durability
is not touched: a commit is synced to the log before it returns, and the log is read after a crash as ever.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.ledger.database_file import DatabaseFile

log = logging.getLogger(__name__)

LINES = 1_000
"""After so many lines a checkpoint is due. Much longer lines reach the limit at which SQLite does it itself."""


class Checkpoints:
    """A thread for one file that is started when there is first something to do.

    turn: what keeps other threads of this process from writing.
    """

    def __init__(self, file: DatabaseFile, turn: Callable[[], AbstractContextManager[None]]) -> None:
        self._file, self._turn = file, turn
        self._lines = 0
        self._due, self._closed = threading.Event(), False
        self._thread: threading.Thread | None = None

    def wrote(self, lines: int) -> None:
        """So many lines were committed."""
        self._lines += lines
        if self._lines < LINES or self._closed:
            return
        self._lines = 0
        self._due.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="checkpoints", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while self._is_due():
            try:
                with closing(self._file.connect(isolation_level=None)) as connection:
                    connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
                    with self._turn():  # the little that was written meanwhile: then the log begins anew
                        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            except Exception as error:  # whatever it is, SQLite does it within commits until it is over
                log.warning("a checkpoint is left to SQLite: %s", error)

    def _is_due(self) -> bool:
        """Wait until there is something to do; False if that is to end."""
        self._due.wait()
        self._due.clear()  # before looking: who closes says so first, and rouses then
        return not self._closed

    def close(self) -> None:
        """End the thread."""
        self._closed = True
        self._due.set()
        if self._thread is not None:
            self._thread.join()
