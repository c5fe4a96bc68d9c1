"""Encryption of what a browser holds for the service: nobody can read it, change it, or use it in another's name.

An item says why a pair is reviewed, whether it was shown before and what the desk expects; a reviewer who knew would
answer differently. The cipher is AES-GCM, under keys that the service was given, or else under a random key that the
database keeps for all processes of a service.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import select

from evenhand.errors import InvalidInput
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.tables import REVIEW_KEY, service_keys
from evenhand.ledger.waiting_pairs import QueuePosition

NONCE, KEY = 12, 32
"""Lengths in bytes."""
BLOCK, CURSOR_BLOCK = 1024, 64
"""Content is padded to a multiple of this many bytes: the length of an item tells nothing about it."""

LONGEST_CURSOR = 8_000
"""Two ids of 200 characters, each up to six bytes in JSON, and the rest; in base64."""


class Encryption:
    """Encrypts and decrypts for one desk and one purpose.

    keys: the newest first, which encrypts; any of them decrypts. Without any, the database's own key does both.
    """

    def __init__(self, ledger: Ledger, desk: str, purpose: str, keys: Sequence[bytes] = ()) -> None:
        self._ledger, self._bound_to, self._given = ledger, [purpose, desk], tuple(keys)

    @cached_property
    def _keys(self) -> tuple[bytes, ...]:
        return self._given or (self._key_of_database(),)

    def _key_of_database(self) -> bytes:
        """The database's key; created by whoever needs it first."""
        wanted = select(service_keys.c.key).where(service_keys.c.name == REVIEW_KEY)
        with self._ledger.transaction() as connection:
            found = connection.execute(wanted).scalar_one_or_none()
        if found is None:
            with self._ledger.transaction(writes=True) as connection:
                connection.exec_driver_sql(
                    "INSERT INTO service_keys (name, key) VALUES (?, ?) ON CONFLICT DO NOTHING",
                    (REVIEW_KEY, os.urandom(KEY)),
                )
                found = connection.execute(wanted).scalar_one()
        return bytes(found)

    def encrypt(self, content: Any, reviewer: str = "", *, block: int = BLOCK) -> str:
        """JSON content as letters, digits, - and _, for this reviewer only."""
        text = orjson.dumps(content)
        nonce = os.urandom(NONCE)
        hidden = AESGCM(self._keys[0]).encrypt(nonce, text + b" " * (-len(text) % block), self._bound(reviewer))
        return base64.urlsafe_b64encode(nonce + hidden).decode().rstrip("=")

    def decrypt(self, token: str, reviewer: str = "") -> Any:
        """The content; InvalidInput if it was changed, or encrypted for another desk, purpose or reviewer."""
        with suppress(binascii.Error, ValueError):
            raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
            for key in self._keys:
                with suppress(InvalidTag):
                    return orjson.loads(AESGCM(key).decrypt(raw[:NONCE], raw[NONCE:], self._bound(reviewer)))
        raise InvalidInput("item must be one that this desk gave to this reviewer; request the next one")

    def _bound(self, reviewer: str) -> bytes:
        return orjson.dumps([*self._bound_to, reviewer])

    def digest(self, text: str) -> str:
        """A name for `text` that says nothing about it."""
        return hashlib.blake2b(text.encode(), digest_size=12, key=self._keys[0]).hexdigest()


class QueueCursors(Encryption):
    """Where a page of the queue ended. A pair's place is its priority, which would tell a reviewer what is expected."""

    def __init__(self, ledger: Ledger, desk: str, keys: Sequence[bytes] = ()) -> None:
        super().__init__(ledger, desk, "queue cursor", keys)

    def cursor(self, place: QueuePosition) -> str:
        """To be sent back for what comes after this place."""
        return self.encrypt(list(place), block=CURSOR_BLOCK)

    def place(self, cursor: str) -> QueuePosition:
        """The place of a cursor; InvalidInput if it is not one of this desk."""
        try:
            return QueuePosition(*self.decrypt(cursor))
        except InvalidInput:
            raise InvalidInput(f"after must be the `next` of a page of this queue, got {cursor[:40]!r}") from None
