"""SignedHeads: heads of ledgers, signed now and then, in a table that is append-only and in a file beside the database.

One process inserts a head of a size; whoever did writes it to the file, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evenhand.ledger.event import now
from evenhand.ledger.ledger import LARGEST_SEQ, SERVICE, Ledger
from evenhand.ledger.signed_head import SignedHead, SigningKey
from evenhand.ledger.transaction import files
from evenhand.ledger.tree import LedgerTree
from evenhand.ledger.verification.heads_file import append_line

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

    def all(self, desk: str, until: int = LARGEST_SEQ) -> Iterator[SignedHead]:
        """All heads of a desk of up to `until` events, in order, read in pages."""
        after = 0
        while page := self.page(desk, after, PAGE):
            yield from (head for head in page if head.size <= until)
            after = page[-1].size
            if after >= until:
                return

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
