"""The lottery's secrets, each in the database beside its desk's ledger; and the commitments that its events carry.

A decision is drawn with a key that nobody can foresee who has only the events, and that was fixed before the candidates
were known: the event before has the key's digest, the decision's own event the key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.ledger.ledger import Ledger

SECRET_BYTES = 32
INSERT_SECRET = "INSERT INTO lottery_secrets (desk, secret) VALUES (?, ?) ON CONFLICT DO NOTHING"
SELECT_SECRET = "SELECT secret FROM lottery_secrets WHERE desk = ?"


def secret_of(ledger: Ledger, desk: str) -> bytes | None:
    """The secret of a desk; None if there is none."""
    with ledger.transaction() as connection:
        row = connection.exec_driver_sql(SELECT_SECRET, (desk,)).fetchone()
    return None if row is None else bytes(row[0])


def keep_secret(ledger: Ledger, desk: str, new: bytes) -> bytes:
    """The secret of a desk, which is `new` if there was none: of processes that begin at once, all get the same."""
    found = secret_of(ledger, desk)
    if found is not None:
        return found
    with ledger.transaction(writes=True) as connection:
        connection.exec_driver_sql(INSERT_SECRET, (desk, new))
        return bytes(connection.exec_driver_sql(SELECT_SECRET, (desk,)).one()[0])


def commitment_to(key: bytes) -> str:
    """What an event says of the key of the next decision: its SHA-256, in hexadecimal digits.

    >>> commitment_to(bytes(32))[:8]
    '66687aad'
    """
    return hashlib.sha256(key).hexdigest()


def commitment_in(body: Mapping[str, Any]) -> str | None:
    """The commitment to the next decision's key in the body of an opening or a decision; earlier versions made none."""
    lottery = body.get("lottery") or {}
    return None if "next" not in lottery else str(lottery["next"])


class Commitments:
    """Compares the key of each decision with the commitment before it.

    A ledger of an earlier version has no commitments up to some decision, and one in every decision from then on.
    """

    def __init__(self, *, is_whole: bool = True) -> None:
        self._next: str | None = None
        self._is_known = is_whole
        """Whether the event that may commit to the next decision was seen."""

    def problem(self, kind: str, body: Mapping[str, Any]) -> str | None:
        """Take the next event; what is wrong with its key, None if it is right."""
        if kind not in ("opened", "decision"):
            return None
        expected, is_known = self._next, self._is_known
        try:
            self._next, self._is_known = commitment_in(body), True
            key = (body.get("lottery") or {}).get("key")
            found = None if key is None else commitment_to(bytes.fromhex(key))
        except (TypeError, ValueError, AttributeError):
            return "its lottery cannot be read"
        if kind == "opened" or not is_known:
            return None
        if expected is None:
            return None if found is None else "its lottery has a key that no event before committed to"
        if self._next is None or found is None:
            return "its lottery has no key or commits to none, but an event before committed to its key"
        return None if found == expected else "its lottery's key is not the one committed to"
