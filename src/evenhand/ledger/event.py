"""Events of a ledger: what is stored of them, the hash chain that ties each to the one before, and names in them."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

import orjson

from evenhand.errors import DamagedLedger, InvalidInput
from evenhand.ledger.contents import CANONICAL, Contents, ToSeal, commitments_in, opened_body, seal

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
    "action": "act",
    "switch": "swi",
    "answer": "ans",
    "imported": "imp",
    "erasure": "era",
    "token": "tkn",
    "key": "key",
}
"""Prefixes of the ids of each kind of event; the last two are the service's own."""

SETTINGS_KINDS = ("opened", "settings", "switch")
"""Kinds of events with all settings of a desk, which are in force from then on."""

LONGEST = 200
"""Maximum length of a name, in characters."""

DESK_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
DESK_NAME_IN_WORDS = "1 to 100 letters, digits, dots, underscores and hyphens, a letter or digit first"
"""Names of new desks, which are used in paths and on command lines. Older desks keep their names."""


@dataclass(frozen=True)
class Event:
    """What happened, when and by whom, and the hash of it and of all events before.

    `text` is exactly what was hashed: hash = SHA-256(previous + text), both as UTF-8.
    """

    text: str
    """Canonical JSON of desk, seq, id, time, actor, kind, body and request: keys sorted, no spaces."""
    previous: str
    hash: str
    contents: Contents = field(default=(), repr=False, compare=False)
    """What it says about people, beside the text; see `ledger.contents`."""

    @cached_property
    def content(self) -> dict[str, Any]:
        """`text`, parsed, with the contents in their places."""
        if not isinstance(self.text, str):  # SQLite stores any type in a column
            raise DamagedLedger("an event of the ledger is not text; verify the ledger")
        try:
            content: dict[str, Any] = orjson.loads(self.text)
            if "sealed" in content["body"]:
                content["body"] = opened_body(content["body"], self.contents)
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
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
        """One of the keys of PREFIXES: opened, decision, outcome, review, ..."""
        return str(self.content["kind"])

    @property
    def body(self) -> dict[str, Any]:
        """The fields of this kind of event."""
        body: dict[str, Any] = self.content["body"]
        return body

    def to_dict(self) -> dict[str, Any]:
        """Everything in one dict, for JSON."""
        return {**self.content, "previous": self.previous, "hash": self.hash}


@dataclass(frozen=True)
class Head:
    """Where a desk's ledger ends."""

    seq: int
    hash: str
    decisions: int
    """How many decisions were made: the number of the next one."""
    settings: int
    """The seq of the event with the settings in force."""


class Row(NamedTuple):
    """An event as stored: its text and hashes, and the columns it is found by."""

    seq: int
    id: str
    kind: str
    target: str | None
    """The decision or the review that the event is about."""
    number: int | None
    """The number of a decision."""
    undoes: int | None
    """The seq of the review that the event withdraws or supersedes."""
    key: str | None
    """The idempotency key."""
    fingerprint: str | None
    """A digest of the command that came with the key."""
    text: str
    previous: str
    hash: str
    contents: bytes | None = None
    """What it says about people, encrypted; None if nothing, or not stored yet."""
    opened: Contents = ()
    """The same, decrypted; not a column."""

    @property
    def event(self) -> Event:
        """The event itself."""
        return Event(self.text, self.previous, self.hash, self.opened)

    @classmethod
    def make(
        cls,
        desk: str,
        seq: int,
        previous: str,
        actor: str,
        kind: str,
        body: dict[str, Any],
        *,
        target: str | None = None,
        number: int | None = None,
        undoes: int | None = None,
        key: str | None = None,
        fingerprint: str | None = None,
        sealed: tuple[Sequence[str], Sequence[ToSeal]] | None = None,
        name: str | None = None,
    ) -> Row:
        """A new event, with an id and the time of now, chained to the hash before it.

        sealed: columns and contents that are kept beside the text. The fingerprint is then salted, as the command that
        it is a digest of has the same contents.
        """
        name = name or new_id(kind)
        contents: Contents = ()
        if sealed is not None:
            body, contents = seal(body, *sealed)
            fingerprint = salted(fingerprint, contents)
        content = {"desk": desk, "seq": seq, "id": name, "time": now(), "actor": actor, "kind": kind, "body": body}
        text = canonical({**content, "request": request_digest(key, fingerprint)})
        columns = (target, number, undoes, key, fingerprint)
        return cls(seq, name, kind, *columns, text, previous, chained(previous, text), None, contents)

    @property
    def people(self) -> list[str]:
        """The people whom its contents are of."""
        return sorted(frozenset().union(*(people for people, _ in commitments_in(orjson.loads(self.text)["body"]))))

    def has_fingerprint(self, fingerprint: str | None) -> bool | None:
        """Whether the event is that of a command with this fingerprint; None if that was erased with its contents."""
        if self.contents is not None or self.opened:
            is_erased = not self.opened or self.opened[-1] is None
            return None if is_erased else self.fingerprint == salted(fingerprint, self.opened)
        return self.fingerprint == fingerprint


class EventToApply(NamedTuple):
    """What a reducer needs of an event; decisions are not read, they only count."""

    seq: int
    kind: str
    target: str | None = None
    text: str | None = None
    contents: Contents = ()


class Erasure(NamedTuple):
    """That a person was erased."""

    seq: int
    candidate: str
    since: int
    """The first event that had contents of theirs."""


class Stamp(NamedTuple):
    """Which events were applied: those up to `seq`, except reviews withdrawn by an event up to `until`."""

    seq: int
    until: int


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


def salted(fingerprint: str | None, contents: Contents) -> str | None:
    """A fingerprint that tells nothing without the contents: the salt is that of the last, which is everybody's."""
    if fingerprint is None:
        return None
    assert contents[-1] is not None
    return hashlib.blake2b(fingerprint.encode(), key=contents[-1].salt, digest_size=16).hexdigest()


def new_id(kind: str) -> str:
    """A new id: 48 bits of time in milliseconds, so that ids sort by time, and 80 bits at random."""
    return f"{PREFIXES[kind]}_{time.time_ns() // 1_000_000:012x}{os.urandom(10).hex()}"


def now() -> str:
    """This moment, UTC, ISO 8601 with microseconds.

    >>> len(now())
    32
    """
    return datetime.now(UTC).isoformat(timespec="microseconds")


def is_name(name: Any) -> bool:
    """Whether this can be a name: 1 to 200 printable characters.

    >>> is_name("applicant 7"), is_name(""), is_name("a\\x00b"), is_name(7)
    (True, False, False, False)
    """
    return isinstance(name, str) and 0 < len(name) <= LONGEST and name.isprintable()


def check_name(name: Any, what: str) -> str:
    """The name; InvalidInput, beginning with `what`, if it is none."""
    if not is_name(name):
        raise InvalidInput(f"{what} must be text of 1 to {LONGEST} printable characters, got {_shown(name)}")
    return str(name)


def check_desk_name(name: Any) -> str:
    """The name of a new desk, or InvalidInput.

    >>> check_desk_name("loans-2")
    'loans-2'
    """
    if not isinstance(name, str) or not re.fullmatch(DESK_NAME[1:-1], name):
        raise InvalidInput(f"name must be {DESK_NAME_IN_WORDS}, got {_shown(name)}")
    return name


def _shown(name: Any) -> str:
    return repr(name) if not isinstance(name, str) or len(name) <= LONGEST else f"text of {len(name)} characters"
