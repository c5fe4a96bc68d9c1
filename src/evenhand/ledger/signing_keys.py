"""The keys that sign heads: public keys are events of the service's stream, secrets are in the database or given.

The database's own secret keeps a head from being denied later. It keeps nobody who owns the database from signing
another head: that is found by whoever kept the first one. A secret from the environment is never in the database.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, delete, select

from evenhand.errors import DamagedLedger, InvalidInput, UnknownRecord
from evenhand.ledger.ledger import SERVICE, Ledger, LedgerView
from evenhand.ledger.service_stream import append
from evenhand.ledger.signed_head import SigningKey, is_signature, key_statement
from evenhand.ledger.tables import SIGNING_KEY, service_keys

ENVIRONMENT = "EVENHAND_SIGNING_KEY"
"""The variable with a secret of 64 hexadecimal digits, used instead of one in the database."""

MOST_KEYS = 10_000
"""Maximum number of keys read."""


@dataclass(frozen=True)
class RecordedKey:
    """A public key of the service, and when it signed."""

    key: str
    created: str
    retired: str | None
    """When the next key took over; None for the current key."""
    previous: str | None
    """The key before."""
    endorsement: str | None
    """The signature of the key before on this one; None if its secret was not at hand."""

    @property
    def is_endorsed(self) -> bool:
        """Whether the key before signed this one."""
        if self.previous is None or self.endorsement is None:
            return False
        return is_signature(self.previous, key_statement(self.key, self.previous), self.endorsement)

    def to_dict(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return dict(vars(self))


def recorded_keys(ledger: Ledger) -> list[RecordedKey]:
    """All keys of the service, the oldest first; none if nothing was signed yet."""
    with ledger.transaction() as connection:
        return _recorded(connection)


def signing_key(ledger: Ledger, secret: str | None = None) -> SigningKey:
    """The key to sign with: the one with this secret, else the database's own, created when it is first needed.

    A secret that the service has not used before takes over from the key before. InvalidInput for a retired one, or if
    the current key's secret is neither given nor in the database.
    """
    given = None if secret is None else SigningKey.from_hex(secret)
    with ledger.transaction() as connection:
        found = _current(connection, given)
    if found is not None:
        return found
    with ledger.transaction(writes=True) as connection:
        found = _current(connection, given)  # another process may have been faster
        return found or _take_over(connection, given)


def rotate_key(ledger: Ledger) -> SigningKey:
    """A new key of the database's own, endorsed by the one before, whose secret is deleted."""
    with ledger.transaction(writes=True) as connection:
        return _take_over(connection, None)


def _current(connection: Connection, given: SigningKey | None) -> SigningKey | None:
    """The current key; None if there is none, or the given one is new."""
    known = [one.key for one in _recorded(connection)]
    if given is not None:
        if given.public in known[:-1]:
            raise InvalidInput(f"the signing key {given.public} was retired; use the current one, or a new one")
        return given if given.public in known else None
    if not known:
        return None
    stored = _stored(connection)
    if stored is None or stored.public != known[-1]:
        raise InvalidInput(
            f"the secret of the signing key {known[-1]} is not in the database; set {ENVIRONMENT}, or create another "
            "key with: evenhand ledger rotate-key"
        )
    return stored


def _take_over(connection: Connection, given: SigningKey | None) -> SigningKey:
    """Record a new key, signed by the one before if its secret is at hand."""
    known, before = _recorded(connection), _stored(connection)
    secret = os.urandom(32)
    key = given or SigningKey(secret)
    previous = known[-1].key if known else None
    endorsement = None
    if before is not None and before.public == previous:
        endorsement = before.sign(key_statement(key.public, previous))
    connection.execute(delete(service_keys).where(service_keys.c.name == SIGNING_KEY))
    if given is None:
        connection.execute(service_keys.insert().values(name=SIGNING_KEY, key=secret))
    append(connection, "key", {"key": key.public, "previous": previous, "endorsement": endorsement})
    return key


def _stored(connection: Connection) -> SigningKey | None:
    found = connection.execute(select(service_keys.c.key).where(service_keys.c.name == SIGNING_KEY)).scalar()
    return None if found is None else SigningKey(bytes(found))


def _recorded(connection: Connection) -> list[RecordedKey]:
    try:
        rows = LedgerView(connection, SERVICE, writes=False).after(0, MOST_KEYS, ("key",))
    except UnknownRecord:
        return []
    try:
        return _with_ends([(row.event.time, row.event.body) for row in rows])
    except (KeyError, TypeError):
        raise DamagedLedger("the record of signing keys cannot be read: an event of it was changed") from None


def _with_ends(events: Sequence[tuple[str, dict[str, Any]]]) -> list[RecordedKey]:
    ends: list[str | None] = [*(later for (_, _), (later, _) in pairwise(events)), None]
    return [
        RecordedKey(body["key"], time, end, body["previous"], body["endorsement"])
        for (time, body), end in zip(events, ends, strict=bool(events))
    ]
