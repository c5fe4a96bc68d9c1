"""Event: one event of a ledger, and the hash chain that ties it to the one before."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import orjson

from evenhand.errors import DamagedLedger

FIRST = "0" * 64
"""The previous hash of the first event of a ledger."""

PREFIXES = {
    "opened": "opn",
    "decision": "dec",
    "outcome": "out",
    "review": "rev",
    "withdrawal": "wdr",
    "settings": "set",
    "override": "ovr",
    "answer": "ans",
    "imported": "imp",
}
"""Prefixes of the ids of each kind of event."""

CANONICAL = orjson.OPT_SORT_KEYS | orjson.OPT_SERIALIZE_NUMPY


@dataclass(frozen=True)
class Event:
    """What happened, when and by whom, and the hash of it and of all events before.

    `text` is exactly what was hashed: hash = SHA-256(previous + text), both as UTF-8.
    """

    text: str
    """Canonical JSON of desk, seq, id, time, actor, kind, body and request: keys sorted, no spaces."""
    previous: str
    hash: str

    @cached_property
    def content(self) -> dict[str, Any]:
        """`text`, parsed."""
        if not isinstance(self.text, str):  # SQLite stores any type in a column
            raise DamagedLedger("an event of the ledger is not text; verify the ledger")
        try:
            content: dict[str, Any] = orjson.loads(self.text)
        except orjson.JSONDecodeError:
            raise DamagedLedger("an event of the ledger cannot be read; verify the ledger") from None
        return content

    @property
    def desk(self) -> str:
        """The name of the desk."""
        return str(self.content["desk"])

    @property
    def seq(self) -> int:
        """Its number, from 1 without a gap."""
        return int(self.content["seq"])

    @property
    def id(self) -> str:
        """Unique: a prefix for the kind, and 128 bits."""
        return str(self.content["id"])

    @property
    def time(self) -> str:
        """UTC, ISO 8601, microseconds."""
        return str(self.content["time"])

    @property
    def actor(self) -> str:
        """Who did it: a user, a token or a program."""
        return str(self.content["actor"])

    @property
    def kind(self) -> str:
        """One of opened, decision, outcome, review, withdrawal, settings, override, answer, imported."""
        return str(self.content["kind"])

    @property
    def body(self) -> dict[str, Any]:
        """The fields of this kind of event."""
        body: dict[str, Any] = self.content["body"]
        return body

    def to_dict(self) -> dict[str, Any]:
        """Everything in one dict, for JSON."""
        return {**self.content, "previous": self.previous, "hash": self.hash}


def canonical(content: dict[str, Any]) -> str:
    """JSON with sorted keys and no spaces; floats come back to the bit."""
    return orjson.dumps(content, option=CANONICAL).decode()


def chained(previous: str, text: str) -> str:
    """The hash of an event: SHA-256 of the hash before it and its text, in hexadecimal digits.

    >>> chained("0" * 64, "{}")[:8]
    '5508d2b7'
    """
    return hashlib.sha256(f"{previous}{text}".encode()).hexdigest()


def request_digest(key: str | None, fingerprint: str | None) -> str | None:
    """A digest of an event's idempotency key and command, for its text; None without a key.

    With it the columns beside the text cannot be changed unnoticed, and readers of the text do not learn the key.

    >>> request_digest(None, None), len(request_digest("day 1", "0a1b") or "")
    (None, 32)
    """
    if key is None:
        return None
    return hashlib.blake2b(f"{key}\n{fingerprint}".encode(), digest_size=16).hexdigest()


def new_id(kind: str) -> str:
    """A new id: 48 bits of time in milliseconds, so that ids sort by time, and 80 bits at random."""
    return f"{PREFIXES[kind]}_{time.time_ns() // 1_000_000:012x}{os.urandom(10).hex()}"


def now() -> str:
    """This moment, UTC, ISO 8601 with microseconds.

    >>> len(now())
    32
    """
    return datetime.now(UTC).isoformat(timespec="microseconds")
