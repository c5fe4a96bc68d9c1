"""Erasing a person from a ledger's database: all that holds their contents beside the events, and snapshots."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import orjson
from sqlalchemy import Connection

from evenhand.ledger.event import Stamp

SEALED_FROM = "SELECT seq FROM events WHERE desk = ? AND contents IS NOT NULL ORDER BY seq LIMIT 1"

NAMED = """
SELECT count(*) FROM events WHERE desk = ? AND seq < ?
AND kind IN ('decision', 'imported', 'review', 'override') AND replace(text, ?, '') <> text
"""


class Held(NamedTuple):
    """What a ledger holds of a person."""

    since: int | None
    """The first event with contents of theirs; None if there is none."""
    old_events: int
    """Events that name them, written before contents were kept beside the text."""


def lock_snapshots(connection: Connection, desk: str) -> None:
    """Nobody else keeps or erases snapshots of this desk until the transaction ends; SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        digest = hashlib.blake2b(f"evenhand snapshots {desk}".encode(), digest_size=8).digest()
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(?)", (int.from_bytes(digest, signed=True),))


def holds_erased(connection: Connection, desk: str, stamp: Stamp) -> bool:
    """Whether a snapshot may hold what was learned from somebody who was erased since."""
    statement = (
        "SELECT 1 FROM events INDEXED BY events_kind "
        "WHERE desk = ? AND kind = ? AND kind <> 'decision' AND seq > ? LIMIT 1"
    )
    return connection.exec_driver_sql(statement, (desk, "erasure", stamp.until)).fetchone() is not None


def forget(connection: Connection, desk: str, person: str, since: int) -> None:
    """Remove what is derived from a person's contents: snapshots, waiting pairs, and people for interviews."""
    run = connection.exec_driver_sql
    lock_snapshots(connection, desk)
    run("DELETE FROM snapshots WHERE desk = ? AND seq >= ?", (desk, since))
    run("DELETE FROM waiting_pairs WHERE desk = ? AND (first_id = ? OR second_id = ?)", (desk, person, person))
    found = run("SELECT rows FROM interview_people WHERE desk = ?", (desk,)).fetchone()
    if found is not None:
        people = orjson.loads(found[0])
        if isinstance(people, dict) and person in people["ids"]:  # else nobody has an id
            left = [(name, row) for name, row in zip(people["ids"], people["rows"], strict=True) if name != person]
            text = orjson.dumps({"ids": [name for name, _ in left], "rows": [row for _, row in left]}).decode()
            run("UPDATE interview_people SET rows = ? WHERE desk = ?", (text, desk))


def before_contents(connection: Connection, desk: str, person: str) -> int:
    """How many events of a desk name a person in texts that were written before contents were kept beside them."""
    run = connection.exec_driver_sql
    first = run(SEALED_FROM, (desk,)).scalar_one_or_none()
    name = orjson.dumps(person).decode()
    return int(run(NAMED, (desk, 2**63 - 1 if first is None else first, name)).scalar_one())
