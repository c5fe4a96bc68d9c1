"""Whether a ledger is what was written: every hash, every link, every column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from evenhand.errors import DamagedLedger
from evenhand.ledger.event import FIRST, chained, request_digest
from evenhand.ledger.ledger import Head, Ledger, Row

CHUNK = 1000

NEWEST = 2_000
"""So many lines are checked when a desk is opened, at most: opening takes no longer, however long the ledger is."""


@dataclass(frozen=True)
class Verified:
    """A ledger that is whole: note `seq` and `hash` elsewhere, and nobody can cut its end off unnoticed either."""

    desk: str
    seq: int
    hash: str
    decisions: int


def verify(ledger: Ledger, desk: str, *, known: tuple[int, str] | None = None) -> Verified:
    """Go through a desk's whole ledger; DamagedLedger, with the line and what is wrong with it, if anything is.

    known: the seq and hash of a line as noted elsewhere before. Without, somebody who can write to the database could
    remove the newest lines, or write the whole ledger anew.
    """
    head, stray = standing(ledger, desk)
    chain = Chain(desk)
    for row in lines_of(ledger, desk, head.seq):
        chain.add(row)
        if known is not None and row.seq == known[0] and row.hash != known[1]:
            raise DamagedLedger(
                f"line {row.seq} of desk {desk!r} is not the one that was noted: the ledger was rewritten"
            )
    if stray is not None:  # said last: a line with another number is missing where it was
        raise stray
    if known is not None and known[0] > chain.seq:
        raise DamagedLedger(f"the ledger of desk {desk!r} ends at line {chain.seq}; line {known[0]} was noted before")
    chain.compare(head)
    return Verified(desk, chain.seq, chain.hash, head.decisions)


def standing(ledger: Ledger, desk: str) -> tuple[Head, DamagedLedger | None]:
    """Where a desk says that its ledger stands; and what is wrong if there are lines beyond it, or before the first."""
    with ledger.reading(desk) as view:
        stray = view.stray()
        return view.head, None if stray is None else DamagedLedger(f"desk {desk!r} was changed: {stray.sentence}")


def check_end(ledger: Ledger, desk: str, after: int) -> None:
    """Check the lines from `after` on, but no more than the newest of a long ledger: what opening a desk relies on."""
    head, stray = standing(ledger, desk)
    if stray is not None:
        raise stray
    chain = None
    for row in lines_of(ledger, desk, head.seq, max(0, after - 1, head.seq - NEWEST)):
        chain = chain or (Chain(desk) if row.seq == 1 else Chain.within(desk, row))
        chain.add(row)
    (chain or Chain(desk)).compare(head)


def check_text(row: Row) -> Row:
    """The line, whose text has its hash."""
    check_column_types(row, f"line {row.seq}")
    if chained(row.previous, row.text) != row.hash:
        raise DamagedLedger(f"line {row.seq} was changed: its text does not have its hash")
    return row


def check_column_types(row: Row, where: str) -> None:
    """That text and hashes are text."""
    if not has_text(row):
        raise DamagedLedger(f"{where} was changed: its text or one of its hashes is no text")


def has_text(row: Row) -> bool:
    """Whether text and hashes are text: SQLite keeps whatever somebody puts into a column."""
    return all(isinstance(column, str) for column in (row.text, row.previous, row.hash))


def lines_of(ledger: Ledger, desk: str, until: int, after: int = 0) -> Iterator[Row]:
    """All lines of a desk's ledger up to `until`, read in chunks."""
    while after < until:
        with ledger.reading(desk) as view:
            rows = view.after(after, min(CHUNK, until - after))
        yield from rows
        if not rows or not isinstance(rows[-1].seq, int):  # what is no number comes last in SQLite
            return
        after = rows[-1].seq


@dataclass
class Chain:
    """The lines of a ledger seen so far, each checked against those before it."""

    desk: str
    seq: int = 0
    hash: str = FIRST
    decisions: int | None = 0
    """How many there were; None if it begins within a ledger and has seen none yet."""
    settings: int | None = 0
    """The line of those in force; None if it begins within a ledger and has seen none yet."""
    _reviews: dict[str, int] = field(default_factory=dict)
    """The seq of every line that can be taken back."""
    _is_whole: bool = True

    @classmethod
    def within(cls, desk: str, row: Row) -> Chain:
        """A chain whose first line is one in the middle: what lies before it is taken for granted."""
        return cls(desk, row.seq - 1, row.previous, None, None, _is_whole=False)

    def add(self, row: Row) -> None:
        """Check the next line."""
        where = f"line {self.seq + 1} of desk {self.desk!r}"
        if row.seq != self.seq + 1:
            raise DamagedLedger(f"{where} is missing: line {row.seq} comes next")
        check_column_types(row, where)
        if row.previous != self.hash:
            raise DamagedLedger(f"{where} does not follow the line before it: one of the two was changed")
        if chained(row.previous, row.text) != row.hash:
            raise DamagedLedger(f"{where} was changed: its text does not have its hash")
        try:
            content = orjson.loads(row.text)
            wrong = self._wrong_column(row, content)
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
            raise DamagedLedger(f"{where} cannot be read: its text is no event") from None
        if wrong is not None:
            raise DamagedLedger(f"{where} was changed: its column {wrong} does not fit its text")
        self.seq, self.hash = row.seq, row.hash
        if row.kind == "decision":
            self.decisions = content["body"]["number"] + 1
        if row.kind in ("opened", "settings"):
            self.settings = row.seq
        if row.kind in ("review", "answer", "imported"):
            self._reviews[row.id] = row.seq

    def _wrong_column(self, row: Row, content: dict[str, Any]) -> str | None:
        body = content["body"]
        undone = body.get("review") if row.kind == "withdrawal" else body.get("supersedes")
        target = body.get("review") if row.kind == "withdrawal" else body.get("decision")
        told = {
            "desk": (self.desk, content["desk"]),
            "seq": (row.seq, content["seq"]),
            "id": (row.id, content["id"]),
            "kind": (row.kind, content["kind"]),
            "target": (row.target, target if row.kind in ("outcome", "review", "override", "withdrawal") else None),
            "number": (row.number, body["number"] if row.kind == "decision" else None),
            "undoes": (row.undoes, None if undone is None else self._seq_of(undone, row.undoes)),
        }
        if row.kind == "decision" and body["number"] != (body["number"] if self.decisions is None else self.decisions):
            return "number"
        if "request" in content and content["request"] != request_digest(row.key, row.fingerprint):
            return "key or fingerprint"  # the first ledgers did not seal them
        return next((name for name, (column, text) in told.items() if column != text), None)

    def _seq_of(self, review: str, column: int | None) -> int | None:
        """Where a review stands; of one before the first line of this chain only that the column says something."""
        return self._reviews.get(review, None if self._is_whole else column or 0)

    def compare(self, head: Head) -> None:
        """Check where the desk says that its ledger stands."""
        if head.seq == self.seq and head.hash != self.hash:
            raise DamagedLedger(f"desk {self.desk!r} was changed: its hash is not that of line {self.seq}, its last")
        if (head.seq, head.hash) != (self.seq, self.hash):
            raise DamagedLedger(
                f"desk {self.desk!r} says that its ledger has {head.seq} lines, but it ends at line {self.seq}"
            )
        if self.decisions not in (None, head.decisions) or self.settings not in (None, head.settings):
            raise DamagedLedger(
                f"desk {self.desk!r} was changed: it counts {head.decisions} decisions and has the settings of line "
                f"{head.settings}, its ledger says {self.decisions} and {self.settings}"
            )
