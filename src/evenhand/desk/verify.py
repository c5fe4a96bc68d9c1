"""Whether a ledger is what was written: every hash, every link, every column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from evenhand.desk.event import FIRST, chained
from evenhand.desk.ledger import Head, Ledger, Row
from evenhand.errors import DamagedLedger

CHUNK = 1000


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
    with ledger.reading(desk) as view:
        head = view.head
    chain = Chain(desk)
    for row in lines_of(ledger, desk, head.seq):
        chain.add(row)
        if known is not None and row.seq == known[0] and row.hash != known[1]:
            raise DamagedLedger(
                f"line {row.seq} of desk {desk!r} is not the one that was noted: the ledger was rewritten"
            )
    if known is not None and known[0] > chain.seq:
        raise DamagedLedger(f"the ledger of desk {desk!r} ends at line {chain.seq}; line {known[0]} was noted before")
    chain.compare(head)
    return Verified(desk, chain.seq, chain.hash, chain.decisions)


def lines_of(ledger: Ledger, desk: str, until: int, after: int = 0) -> Iterator[Row]:
    """All lines of a desk's ledger up to `until`, read in chunks."""
    while after < until:
        with ledger.reading(desk) as view:
            rows = view.after(after, min(CHUNK, until - after))
        if not rows:
            return
        yield from rows
        after = rows[-1].seq


@dataclass
class Chain:
    """The lines of a ledger seen so far, each checked against those before it."""

    desk: str
    seq: int = 0
    hash: str = FIRST
    decisions: int = 0
    settings: int = 0
    _reviews: dict[str, int] = field(default_factory=dict)
    """The seq of every review and answer."""

    def add(self, row: Row) -> None:
        """Check the next line."""
        where = f"line {self.seq + 1} of desk {self.desk!r}"
        if row.seq != self.seq + 1:
            raise DamagedLedger(f"{where} is missing: line {row.seq} comes next")
        if row.previous != self.hash:
            raise DamagedLedger(f"{where} does not follow the line before it: one of the two was changed")
        if chained(row.previous, row.text) != row.hash:
            raise DamagedLedger(f"{where} was changed: its text does not have its hash")
        try:
            content = orjson.loads(row.text)
            wrong = self._wrong_column(row, content)
        except (orjson.JSONDecodeError, KeyError, TypeError):
            raise DamagedLedger(f"{where} cannot be read: its text is no event") from None
        if wrong is not None:
            raise DamagedLedger(f"{where} was changed: its column {wrong} does not say what its text says")
        self.seq, self.hash = row.seq, row.hash
        self.decisions += row.kind == "decision"
        if row.kind in ("opened", "settings"):
            self.settings = row.seq
        if row.kind in ("review", "answer"):
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
            "number": (row.number, self.decisions if row.kind == "decision" else None),
            "undoes": (row.undoes, None if undone is None else self._reviews.get(undone)),
        }
        if row.kind == "decision" and body["number"] != self.decisions:
            return "number"
        return next((name for name, (column, text) in told.items() if column != text), None)

    def compare(self, head: Head) -> None:
        """Check where the desk says that its ledger stands."""
        if (head.seq, head.hash) != (self.seq, self.hash):
            raise DamagedLedger(
                f"desk {self.desk!r} says that its ledger has {head.seq} lines, but it ends at line {self.seq}"
            )
        if (head.decisions, head.settings) != (self.decisions, self.settings):
            raise DamagedLedger(f"desk {self.desk!r} counts {head.decisions} decisions, its ledger {self.decisions}")
