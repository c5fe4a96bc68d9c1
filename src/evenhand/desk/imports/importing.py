"""Import: a warm start from a JSONL file of past decisions and reviews, such as another desk's exported ledger."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from evenhand._internal.counted import counted
from evenhand.desk.commands import Command, Withdraw
from evenhand.desk.desk import Desk
from evenhand.desk.imports.past_file import PastFile, commands_of, key_of
from evenhand.errors import EvenhandError, InvalidInput, LedgerUnavailable
from evenhand.ledger.event import Event, Row, is_name

BATCH = 256

Numbered = tuple[int, Command]
"""A command, with the number of its line."""


@dataclass
class ImportReport:
    """What was imported from a file, what was known before, and what was refused."""

    lines: int = 0
    """Lines read that are not blank."""
    added: int = 0
    """Events added to the desk's ledger."""
    outcomes: int = 0
    reviews: int = 0
    answers: int = 0
    withdrawn: int = 0
    """Imported before, and withdrawn since where they came from."""
    known: int = 0
    """Lines that this desk had imported before; they are counted here only."""
    own: int = 0
    """Lines that are this desk's own, or came from it by way of others; they are counted here only."""
    refused: list[tuple[int, EvenhandError]] = field(default_factory=list)
    """Line numbers, with what was wrong."""
    _decided: set[str] = field(default_factory=set)

    @property
    def decisions(self) -> int:
        """The decisions that the imported outcomes and reviews are of."""
        return len(self._decided)

    def __str__(self) -> str:
        found = ("decision", self.decisions), ("outcome", self.outcomes), ("review", self.reviews)
        counts = ", ".join(counted(number, name) for name, number in (*found, ("answer", self.answers)))
        withdrawn = f"; {self.withdrawn} withdrawn" if self.withdrawn else ""
        known = f"; {counted(self.known, 'line was', 'lines were')} imported before" if self.known else ""
        own = f"; {counted(self.own, 'line is', 'lines are')} this desk's own" if self.own else ""
        refused = counted(len(self.refused), "line")
        return f"{counted(self.lines, 'line')} read; imported: {counts}{withdrawn}{known}{own}; {refused} refused"

    def count(self, event: Event, head: int) -> None:
        """Count the event of one command; `head` is where the ledger ended before the import."""
        if event.seq <= head:
            self.known += 1
            return
        self.added += 1
        if event.kind == "answer":
            self.answers += 1
        elif event.kind == "withdrawal":
            self.withdrawn += 1
        else:
            origins = event.body.get("origins", ())
            self._decided.add((origins[0].get("decision") if origins else None) or event.id)
            self.outcomes += len(event.body["rewards"])
            self.reviews += len(event.body["reviews"])


def import_jsonl(desk: Desk, file: str | os.PathLike[str] | PastFile, *, actor: str = "import") -> ImportReport:
    """Let a desk learn from a file of past decisions: an exported ledger, or lines as `desk.imports.past` describes.

    Every outcome, review and answer of an exported ledger becomes an event of the desk, and so does every record of a
    past decision. Imported again, a file adds what is new in it: of the same file nothing, of a ledger that was
    exported again what came since, and what was withdrawn since is withdrawn here. Events of the desk's own, and what
    other desks imported of them, are left out. Records that do not fit are refused and reported. DamagedLedger, and
    nothing was imported, if an exported ledger is not what was written. If the database becomes unavailable,
    LedgerUnavailable says how far the import came.
    """
    past = file if isinstance(file, PastFile) else PastFile.read(file)
    report, head = ImportReport(lines=past.length), desk.head.seq
    batch: list[Numbered] = []
    for number, command in chain(commands_of(past, actor), _withdrawals(desk, past, actor)):
        if isinstance(command, EvenhandError):
            report.refused.append((number, command))
            continue
        batch.append((number, command))
        if len(batch) == BATCH:
            _execute(desk, batch, head, report)
            batch = []
    _execute(desk, batch, head, report)
    report.refused.sort(key=lambda refused: refused[0])
    return report


def _withdrawals(desk: Desk, past: PastFile, actor: str) -> Iterator[Numbered]:
    """Withdraw what this desk had imported before and was withdrawn or superseded since."""
    with desk.ledger.reading(desk.name) as view:
        found = view.with_keys(key_of(name) for name in past.withdrawn if is_name(key_of(name)))
        imported = {row.key: row for row in found if _was_imported(row)}
        withdrawn = {review for _, review in view.withdrawals()}
    for name, number in past.withdrawn.items():
        row = imported.get(key_of(name))
        if row is not None and row.seq not in withdrawn:
            reason = f"{name} was withdrawn where it was imported from"
            yield number, Withdraw(row.id, reason, actor=actor, idempotency_key=f"{key_of(name)}-taken-back")


def _was_imported(row: Row) -> bool:
    """Whether an event came from a file; others may have used its idempotency key."""
    return row.kind == "imported" or "origins" in row.event.body


def _without_known(desk: Desk, batch: Sequence[Numbered], report: ImportReport) -> list[Numbered]:
    """The commands that nobody else has imported; keys belong to actors, but what was imported is known to all."""
    keys = {str(command.idempotency_key): command.actor for _, command in batch}
    with desk.ledger.reading(desk.name) as view:
        found = view.with_keys(keys)
    known = {row.key for row in found if _was_imported(row) and row.event.actor != keys[str(row.key)]}
    report.known += sum(command.idempotency_key in known for _, command in batch)
    return [(number, command) for number, command in batch if command.idempotency_key not in known]


def _without_own(desk: Desk, batch: Sequence[Numbered], report: ImportReport) -> list[Numbered]:
    """The commands that do not come from this desk's own ledger; the others are counted."""
    sources = [{origin["line"] for origin in getattr(command, "origins", ())} for _, command in batch]
    with desk.ledger.reading(desk.name) as view:
        own = set(view.by_id({event for events in sources for event in events if is_name(event)}))
    others = [numbered for numbered, events in zip(batch, sources, strict=True) if own.isdisjoint(events)]
    report.own += len(batch) - len(others)
    return others


def _execute(desk: Desk, batch: Sequence[Numbered], head: int, report: ImportReport) -> None:
    try:
        new = _without_known(desk, _without_own(desk, batch, report), report)
        results = desk.execute([command for _, command in new])
    except LedgerUnavailable as error:
        raise LedgerUnavailable(
            f"the import stopped half way ({report}): {error}; import the file again, nothing is imported twice"
        ) from error
    for (number, _), result in zip(new, results, strict=True):
        if isinstance(result, EvenhandError):
            report.refused.append((number, InvalidInput(str(result))))
        else:
            report.count(result, head)
