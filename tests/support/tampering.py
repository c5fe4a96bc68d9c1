"""What somebody with a database tool could do to a ledger."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from evenhand.ledger.event import FIRST, chained


def tampered(file: Path, *statements: str) -> None:
    """What somebody with a database tool could do, triggers removed."""
    connection = sqlite3.connect(file)
    for trigger in ("events_no_update", "events_no_delete"):
        connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def written_anew(file: Path, changed: Callable[[str], str]) -> None:
    """Every line's text changed, and all of it chained again."""
    connection = sqlite3.connect(file)
    connection.execute("DROP TRIGGER events_no_update")
    previous = FIRST
    for seq, text in connection.execute("SELECT seq, text FROM events ORDER BY seq").fetchall():
        digest = chained(previous, changed(text))
        connection.execute(
            "UPDATE events SET text = ?, previous = ?, hash = ? WHERE seq = ?", (changed(text), previous, digest, seq)
        )
        previous = digest
    connection.execute("UPDATE desks SET hash = ?", (previous,))
    connection.commit()
    connection.close()


def lines(file: Path) -> list[tuple[int, str]]:
    """The number and kind of every line."""
    connection = sqlite3.connect(file)
    found = connection.execute("SELECT seq, kind FROM events ORDER BY seq").fetchall()
    connection.close()
    return found
