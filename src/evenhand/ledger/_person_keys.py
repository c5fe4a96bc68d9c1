"""PersonKeys: a random key for each person of a desk, which encrypts what events say about them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from evenhand.ledger.contents import SALT, UNREADABLE, Content, Contents

KEY = 32
NONCE = 12
"""Bytes of a key and of a nonce."""

KEYS_PER_QUERY = 500

People = tuple[str, ...]


class PersonKey(NamedTuple):
    """A key, and the first event that it was used for: what is older was encrypted with another, since destroyed."""

    since: int
    key: bytes


class PersonKeys:
    """The keys of one desk within a transaction.

    A content of several people is encrypted with a key that needs the keys of all of them, so it goes when one does.
    """

    def __init__(self, run: Callable[..., Any], desk: str) -> None:
        self._run, self._desk = run, desk
        self._known: dict[str, PersonKey | None] = {}
        self._new: dict[str, PersonKey] = {}

    def of(self, person: str) -> PersonKey | None:
        """The key of a person; None if the desk holds nothing about them."""
        self._load([person])
        return self._known[person]

    def _load(self, people: Iterable[str]) -> None:
        wanted = [person for person in dict.fromkeys(people) if person not in self._known]
        for at in range(0, len(wanted), KEYS_PER_QUERY):
            some = wanted[at : at + KEYS_PER_QUERY]
            marks = ", ".join("?" * len(some))
            statement = f"SELECT person, since, key FROM person_keys WHERE desk = ? AND person IN ({marks})"
            found = self._run(statement, (self._desk, *some)).fetchall()
            self._known |= dict.fromkeys(some) | {name: PersonKey(since, bytes(key)) for name, since, key in found}

    # Writing.

    def load_for(self, events: Iterable[Contents]) -> None:
        """Read the keys for the contents of new events, in as few queries as possible."""
        self._load(_everybody(content.of for contents in events for content in contents if content is not None))

    def encrypted(self, seq: int, contents: Contents) -> bytes:
        """The contents of a new event, encrypted; who is new gets a key."""
        everybody = _everybody(content.of for content in contents if content is not None)
        self._load(everybody)
        new = [person for person in everybody if self._known[person] is None]
        random = os.urandom(KEY * len(new) + NONCE * len(contents))
        for place, person in enumerate(new):
            self._known[person] = self._new[person] = PersonKey(seq, random[KEY * place : KEY * (place + 1)])
        at, header, pieces, bound = KEY * len(new), list[tuple[People, int]](), list[bytes](), self._bound(seq)
        for content in contents:
            assert content is not None
            nonce, key, at = random[at : at + NONCE], self._joint(content.of or everybody, seq), at + NONCE
            assert key is not None
            pieces.append(nonce + AESGCM(key).encrypt(nonce, content.salt + content.text, bound))
            header.append((content.of, len(pieces[-1])))
        return b"".join([orjson.dumps(header), b"\n", *pieces])

    def forget(self, person: str) -> None:
        """Destroy a key."""
        self._run("DELETE FROM person_keys WHERE desk = ? AND person = ?", (self._desk, person))
        self._known[person] = None
        self._new.pop(person, None)

    def keep(self) -> None:
        """Store new keys."""
        if self._new:
            rows = [(self._desk, person, *key) for person, key in self._new.items()]
            self._run("INSERT INTO person_keys (desk, person, since, key) VALUES (?, ?, ?, ?)", rows)
            self._new = {}

    # Reading.

    def decrypted(self, rows: Sequence[tuple[int, Any]]) -> list[Contents]:
        """The contents of events, each passed with its seq as it is stored, or None."""
        split = [None if blob is None else _split(blob) for _, blob in rows]
        self._load(person for parts in split if parts is not None for people, _ in parts for person in people)
        return [() if parts is None else self._open(seq, parts) for (seq, _), parts in zip(rows, split, strict=True)]

    def _open(self, seq: int, parts: list[tuple[People, bytes]]) -> Contents:
        everybody = _everybody([people for people, _ in parts])
        return tuple(self._decrypt(seq, people or everybody, piece) for people, piece in parts)

    def _decrypt(self, seq: int, people: People, piece: bytes) -> Content | None:
        key = self._joint(people, seq)
        if key is None:
            return None
        try:
            plain = AESGCM(key).decrypt(piece[:NONCE], piece[NONCE:], self._bound(seq))
            return Content(plain[:SALT], plain[SALT:])
        except (InvalidTag, ValueError):
            return UNREADABLE

    def _joint(self, people: People, seq: int) -> bytes | None:
        """The key of one person, or one that needs the keys of all; None if one of them was destroyed."""
        if len(people) == 1:
            known = self._known.get(people[0])
            return None if known is None or known.since > seq else known.key
        found = [self._known.get(person) for person in people]
        keys = [key.key for key in found if key is not None and key.since <= seq]
        if len(keys) < len(people) or not keys:
            return None
        return hashlib.sha256(b"".join(keys)).digest()

    def _bound(self, seq: int) -> bytes:
        """What a content is bound to: it cannot be moved to another event."""
        return f"{self._desk}\n{seq}".encode()


def _everybody(owners: Iterable[Sequence[str]]) -> People:
    return tuple(dict.fromkeys(person for people in owners for person in people))


def _split(blob: Any) -> list[tuple[People, bytes]]:
    """Whose each content is, and its encrypted bytes; one of nobody if they cannot be read."""
    try:
        header, _, rest = bytes(blob).partition(b"\n")
        parts, at = [], 0
        for people, length in orjson.loads(header):
            parts.append((tuple(map(str, people)), rest[at : at + int(length)]))
            at += int(length)
        return parts
    except (orjson.JSONDecodeError, TypeError, ValueError):
        return []
