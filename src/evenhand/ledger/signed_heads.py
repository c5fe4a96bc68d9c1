"""SignedHeads: heads of ledgers, signed now and then, in a table that is append-only and in a file beside the database.

One process inserts a head of a size; whoever did writes it to the file, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from evenhand.errors import InvalidInput
from evenhand.ledger.event import now
from evenhand.ledger.ledger import SERVICE, Ledger
from evenhand.ledger.signed_head import SignedHead, SigningKey
from evenhand.ledger.transaction import files
from evenhand.ledger.tree import LedgerTree

SUFFIX = ".heads.jsonl"

PAGE = 1_000
"""Heads per query where all are read."""

INSERT_HEAD = "INSERT INTO signed_heads (desk, size, line) VALUES (?, ?, ?) ON CONFLICT (desk, size) DO NOTHING"


class SignedHeads:
    """The signed heads of all desks in one database. file: where they are written to as well."""

    def __init__(self, ledger: Ledger, file: Path | None = None) -> None:
        self._ledger, self._file = ledger, file
        self._trees: dict[str, LedgerTree] = {}

    def tree(self, desk: str) -> LedgerTree:
        """The Merkle tree of a desk's ledger; UnknownRecord if there is no such desk."""
        if desk not in self._trees:
            self._ledger.head(desk)
        return self._trees.setdefault(desk, LedgerTree(self._ledger, desk))

    def streams(self) -> list[str]:
        """All that is signed: the desks, and the service's own stream if it has begun."""
        return [*self._ledger.names(), *self._ledger.heads([SERVICE])]

    def latest(self, desk: str) -> SignedHead | None:
        """The newest head of a desk; None if none was signed."""
        with self._ledger.transaction() as connection:
            statement = "SELECT line FROM signed_heads WHERE desk = ? ORDER BY size DESC LIMIT 1"
            line = connection.exec_driver_sql(statement, (desk,)).scalar()
        return None if line is None else SignedHead.from_line(line)

    def page(self, desk: str, after: int, limit: int) -> list[SignedHead]:
        """Up to `limit` heads of more than `after` events, in order."""
        with self._ledger.transaction() as connection:
            statement = "SELECT line FROM signed_heads WHERE desk = ? AND size > ? ORDER BY size LIMIT ?"
            found = connection.exec_driver_sql(statement, (desk, after, limit)).fetchall()
        return [SignedHead.from_line(line) for (line,) in found]

    def all(self, desk: str) -> Iterator[SignedHead]:
        """All heads of a desk, in order."""
        after = 0
        while page := self.page(desk, after, PAGE):
            yield from page
            after = page[-1].size

    def sign(self, desk: str, key: SigningKey) -> SignedHead | None:
        """Sign where a desk's ledger ends now; None if that was signed before."""
        end, latest = self._ledger.head(desk), self.latest(desk)
        if latest is not None and latest.size >= end.seq:
            return None
        root = self.tree(desk).root(end.seq).hex()
        time = max(now(), "" if latest is None else latest.time)  # also if a clock was set back
        head = SignedHead.sign(key, desk=desk, size=end.seq, root=root, hash=end.hash, time=time)
        with self._ledger.transaction(writes=True) as connection:
            made = connection.exec_driver_sql(INSERT_HEAD, (desk, head.size, head.to_line()))
        if made.rowcount != 1:  # another process signed it
            return None
        if self._file is not None:
            append_line(self._file, head.to_line())
        return head


def heads_file(ledger: Ledger) -> Path | None:
    """The file of heads beside an SQLite database; None for another database."""
    file = files.get(ledger.engine)
    return None if file is None else file.path.with_name(file.path.name + SUFFIX)


def append_line(file: Path, line: str) -> None:
    """Append a line to a file that only its owner can read, and have it on disk."""
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, line.encode() + b"\n")  # one write: lines of several processes do not mix
        os.fsync(handle)
    finally:
        os.close(handle)


def read_heads(file: Path) -> list[SignedHead]:
    """The heads in a file of JSON lines; InvalidInput if it cannot be read, DamagedLedger if a line is not a head."""
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise InvalidInput(f"the heads in {file} cannot be read: {error.strerror}") from None
    return [SignedHead.from_line(line) for line in lines if line.strip()]
