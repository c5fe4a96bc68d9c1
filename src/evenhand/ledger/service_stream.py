"""The service's own stream: tokens and signing keys, recorded in events that are chained and signed as a desk's are.

Whoever can write to the database can insert a row into `tokens`. Without an event here it is found; with one, the
event stays for everybody to see.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from evenhand.errors import DamagedLedger, UnknownRecord
from evenhand.ledger.event import FIRST, Head, Row
from evenhand.ledger.ledger import INSERT_BEFORE, SERVICE, Ledger, LedgerView

ACTOR = "service"


def record_token(connection: Connection, token_id: str) -> None:
    """Record the row of a token as it is now; to be called where it was written, within the same transaction."""
    (found,) = _rows(connection, " WHERE id = ?", (token_id,))
    append(connection, "token", {"row": found})


def append(connection: Connection, kind: str, body: dict[str, Any]) -> None:
    """Append an event to the service's stream, which begins with its first event."""
    begin(connection)
    view = LedgerView(connection, SERVICE, writes=True)
    row = Row.make(SERVICE, view.head.seq + 1, view.head.hash, ACTOR, kind, body)
    view.append([row], Head(row.seq, row.hash, 0, view.head.settings))


def begin(connection: Connection) -> None:
    """Begin the stream, if it has not begun: its first event has all tokens there are."""
    if connection.exec_driver_sql("SELECT 1 FROM desks WHERE name = ?", (SERVICE,)).fetchone() is not None:
        return
    first = Row.make(SERVICE, 1, FIRST, ACTOR, "opened", {"tokens": _rows(connection)})
    made = connection.exec_driver_sql(
        "INSERT INTO desks (name, seq, hash, decisions, settings, created) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (name) DO NOTHING",
        (SERVICE, 1, first.hash, 0, 1, first.event.time),
    )
    if made.rowcount == 1:  # else another process was faster
        connection.exec_driver_sql(INSERT_BEFORE, [(SERVICE, *first[:-2])])


def check_tokens(ledger: Ledger) -> int:
    """How many tokens there are, after each was compared with what was recorded; DamagedLedger if one differs."""
    with ledger.transaction() as connection:
        stored = {row["id"]: row for row in _rows(connection)}
        try:
            end = LedgerView(connection, SERVICE, writes=False).head.seq
        except UnknownRecord:
            end = 0
    recorded: dict[str, dict[str, Any]] = {}
    try:
        for row in ledger.rows(SERVICE, until=end, kinds=("opened", "token")) if end else ():
            body = row.event.body
            recorded |= {one["id"]: one for one in ([body["row"]] if row.kind == "token" else body["tokens"])}
    except (KeyError, TypeError):
        raise DamagedLedger("the record of tokens cannot be read: an event of it was changed") from None
    for name in sorted({*stored, *recorded}):
        _compare(name, stored.get(name), recorded.get(name))
    return len(stored)


def _compare(name: str, stored: dict[str, Any] | None, recorded: dict[str, Any] | None) -> None:
    """DamagedLedger unless a token's row is what was recorded; a column that was added since is NULL in old rows."""
    if stored is None:
        raise DamagedLedger(f"token {name} was removed from the database: its creation is recorded, its row is gone")
    if recorded is None:
        raise DamagedLedger(f"token {name} was planted: its row is in the database, its creation is not recorded")
    columns = sorted(column for column in {*stored, *recorded} if stored.get(column) != recorded.get(column))
    if columns:
        raise DamagedLedger(f"token {name} was changed: its {', '.join(columns)} differ from what was recorded")


def _rows(connection: Connection, condition: str = "", values: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Rows of tokens with all their columns, whatever the version of the database."""
    found = connection.exec_driver_sql(f"SELECT * FROM tokens{condition} ORDER BY id", values)
    return [dict(row) for row in found.mappings()]
