"""Overwriting what was deleted: nothing that was erased can be read in the files of an SQLite database.

All connections delete with secure_delete, which fills what they free with zeros; what remains is the write-ahead log,
with earlier versions of pages. Files that an earlier version wrote to may have deleted content in free pages: they are
written anew once. PostgreSQL keeps deleted rows until its own VACUUM, and in its log and its backups.
"""

from __future__ import annotations

import logging
from typing import Any

from sqlalchemy import Connection, Engine

from evenhand.ledger.transaction import files, translated

log = logging.getLogger(__name__)

OVERWRITES = 1
"""SQLite's user_version of a file in which whatever was deleted was overwritten."""


def mark_new(connection: Connection) -> None:
    """Note of a new SQLite database that it never held deleted content."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"PRAGMA user_version = {OVERWRITES}")


def overwrite_deleted(engine: Engine) -> bool:
    """Leave nothing of what was deleted in an SQLite file or its log; False if a reader in the way kept the log.

    The log is then overwritten by later writes, and removed when the last process closes the database.
    """
    if engine.dialect.name != "sqlite" or files.get(engine) is None:
        return True
    with translated():
        pooled = engine.raw_connection()
        try:
            driver: Any = pooled.driver_connection
            if driver.execute("PRAGMA user_version").fetchone()[0] < OVERWRITES:
                driver.execute("VACUUM")
                driver.execute(f"PRAGMA user_version = {OVERWRITES}")
            busy = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        finally:
            pooled.close()
    if busy:
        log.warning("the write-ahead log still has what was erased: somebody reads it; it goes when they end")
    return not busy
