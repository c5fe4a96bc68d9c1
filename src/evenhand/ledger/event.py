"""Event: one line of a ledger, and the chain that ties it to the line before."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import orjson

from evenhand.errors import DamagedLedger

FIRST = "0" * 64
"""What the first event of a ledger has for a previous hash."""

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
"""What the ids of each kind of event begin with."""

CANONICAL = orjson.OPT_SORT_KEYS | orjson.OPT_SERIALIZE_NUMPY


PIECE = 2047
"""Of longer pieces hashlib lets go of the interpreter, and another thread takes it: getting it back takes longer."""

RANDOM_BYTES = 10
"""In each id."""


@dataclass(frozen=True)
class Event:
    """One line of a ledger: what happened, when, by whom, and the hash that seals it with all that came before.

    `text` is exactly what was hashed: hash = SHA-256(previous + text), both as UTF-8.
    """

    text: str
    """Canonical JSON of desk, seq, id, time, actor, kind, body and request: keys sorted, no spaces."""
    previous: str
    hash: str

    @cached_property
    def content(self) -> dict[str, Any]:
        """What `text` says."""
        if not isinstance(self.text, str):  # SQLite keeps whatever somebody puts into a column
            raise DamagedLedger("a line of the ledger is no text; verify the ledger")
        try:
            content: dict[str, Any] = orjson.loads(self.text)
        except orjson.JSONDecodeError:
            raise DamagedLedger("a line of the ledger cannot be read; verify the ledger") from None
        return content

    @property
    def desk(self) -> str:
        """The name of the desk."""
        return str(self.content["desk"])

    @property
    def seq(self) -> int:
        """The number of the line, from 1 on without a gap."""
        return int(self.content["seq"])

    @property
    def id(self) -> str:
        """A name of its own: a prefix that tells the kind, and 128 bits."""
        return str(self.content["id"])

    @property
    def time(self) -> str:
        """UTC, ISO 8601, microseconds."""
        return str(self.content["time"])

    @property
    def actor(self) -> str:
        """Who did it."""
        return str(self.content["actor"])

    @property
    def kind(self) -> str:
        """One of opened, decision, outcome, review, withdrawal, settings, override, answer, imported."""
        return str(self.content["kind"])

    @property
    def body(self) -> dict[str, Any]:
        """All the rest."""
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
    content = text.encode()
    digest = hashlib.sha256(previous.encode())
    for at in range(0, len(content), PIECE):
        digest.update(content[at : at + PIECE])
    return digest.hexdigest()


def request_digest(key: str | None, fingerprint: str | None) -> str | None:
    """What an event's text says of its idempotency key and of the command that came with it; None without a key.

    A digest: the columns beside the text cannot be changed unnoticed, and whoever may read the text learns no key.

    >>> request_digest(None, None), len(request_digest("day 1", "0a1b") or "")
    (None, 32)
    """
    if key is None:
        return None
    return hashlib.blake2b(f"{key}\n{fingerprint}".encode(), digest_size=16).hexdigest()


def new_id(kind: str) -> str:
    """A new id: 48 bits of time in milliseconds, so that ids sort by time, and 80 bits at random."""
    return f"{PREFIXES[kind]}_{time.time_ns() // 1_000_000:012x}{_random.take().hex()}"


class _Random:
    """Random bytes from the operating system, asked for many at a time; none is given out twice."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.forget()

    def forget(self) -> None:
        """Give out nothing of what was asked for so far: a forked process has the same."""
        self._bytes, self._at = b"", 0

    def take(self) -> bytes:
        """The bytes of one id."""
        with self._lock:
            if self._at >= len(self._bytes):
                self._bytes, self._at = os.urandom(RANDOM_BYTES * 64), 0
            self._at += RANDOM_BYTES
            return self._bytes[self._at - RANDOM_BYTES : self._at]


_random = _Random()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_random.forget)


def now() -> str:
    """This moment, UTC, ISO 8601 with microseconds.

    >>> len(now())
    32
    """
    return datetime.now(UTC).isoformat(timespec="microseconds")
