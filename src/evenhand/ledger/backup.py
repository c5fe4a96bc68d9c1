"""Backups of an SQLite ledger, made while it is in use; and the list of erasures that a restored one must catch up on.

PostgreSQL has tools of its own for backups.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import orjson
from sqlalchemy import Engine

from evenhand._internal.private_file import make_private
from evenhand.errors import DamagedFile, InvalidInput
from evenhand.ledger.engine import file_of
from evenhand.ledger.event import Event
from evenhand.ledger.overwriting import overwrite_deleted
from evenhand.ledger.transaction import files, translated

ERASURES = ".erasures"
"""Suffix of the list of erasures beside a database file: JSON lines with ids only."""

OF_A_DATABASE = ("", "-wal", "-journal")
"""Suffixes of the files of an SQLite database that have content."""


class NotedErasure(NamedTuple):
    """A line of the list of erasures."""

    desk: str
    candidate: str
    time: str


def sqlite_file(url: str) -> Path:
    """The file of an SQLite database; InvalidInput if the URL names none."""
    file = file_of(url)
    if file is None:
        raise InvalidInput("database must be a file of SQLite; PostgreSQL has tools of its own for backups")
    return file


def copy_database(source: Path, target: Path) -> None:
    """Copy an SQLite database, with what its write-ahead log has, while others use it.

    No file of a database may be where the copy is to be.
    """
    if not source.is_file():
        raise InvalidInput(f"there is no ledger {source}")
    for suffix in OF_A_DATABASE:  # SQLite would apply a log that was left behind to the copy
        found = Path(f"{target}{suffix}")
        if found.exists():
            raise InvalidInput(f"there is a file {found} already; move it away, or choose another name")
    if not target.resolve().parent.is_dir():
        raise InvalidInput(f"there is no folder {target.resolve().parent} to write {target.name} in")
    partial = target.with_name(f"{target.name}.partial")
    partial.unlink(missing_ok=True)
    try:
        with translated():
            make_private(partial)  # as the ledger itself
            with closing(_opened(source, "ro")) as original, closing(sqlite3.connect(partial)) as copy:
                original.backup(copy)
            os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def _opened(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True)


def finish_erasures(engine: Engine, events: Sequence[Event]) -> None:
    """Leave nothing of what was erased in an SQLite database's files, and add each erasure to the list beside them.

    What is on the list already was finished. The list is for the day when an older backup has to be restored.
    """
    file = files.get(engine)
    if file is None or not events:
        return
    path = Path(f"{file.path}{ERASURES}")
    make_private(path, like=file.path)
    known = set(path.read_bytes().splitlines())
    lines = [orjson.dumps(NotedErasure(one.desk, one.body["candidate"], one.time)._asdict()) for one in events]
    new = [line for line in lines if line not in known]
    if new:
        overwrite_deleted(engine)
        with open(path, "ab") as noted:
            noted.write(b"".join(line + b"\n" for line in new))
            noted.flush()
            os.fsync(noted.fileno())


def noted_erasures(path: Path) -> Iterator[NotedErasure]:
    """The erasures in a list; none if there is no file."""
    for number, line in enumerate(path.read_bytes().splitlines() if path.is_file() else (), start=1):
        try:
            yield NotedErasure(**orjson.loads(line))
        except (orjson.JSONDecodeError, TypeError):
            raise DamagedFile(f"line {number} of {path} must have desk, candidate and time, and has not") from None
