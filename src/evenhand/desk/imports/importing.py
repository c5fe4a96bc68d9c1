"""Import: a warm start from a JSONL of past decisions and reviews, another desk's exported ledger for instance."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from evenhand.desk.commands import Command, Withdraw
from evenhand.desk.desk import Desk
from evenhand.desk.imports.past_commands import commands_of, key_of
from evenhand.desk.imports.past_file import PastFile
from evenhand.desk.imports.provenance import decision_behind, lines_in
from evenhand.errors import EvenhandError, InvalidInput, LedgerUnavailable
from evenhand.ledger.event import Event
from evenhand.ledger.names import is_name

BATCH = 256

Numbered = tuple[int, Command]
"""A command, with the number of the line that it comes from."""


@dataclass
class Imported:
    """What was taken in from a file, what was there before, and what was wrong with the rest."""

    lines: int = 0
    """Read, blank ones apart."""
    taken: int = 0
    """Lines that the desk's own ledger has now and had not before."""
    outcomes: int = 0
    reviews: int = 0
    answers: int = 0
    taken_back: int = 0
    """What this desk had taken in before, and was taken back since where it came from."""
    before: int = 0
    """Lines that this desk had taken in from the same records before; they are counted here alone."""
    own: int = 0
    """Lines that are this desk's own, or came from it by way of others; they are counted here alone."""
    refused: list[tuple[int, EvenhandError]] = field(default_factory=list)
    """Line numbers, with what was wrong."""
    _decided: set[str] = field(default_factory=set)

    @property
    def decisions(self) -> int:
        """Those that the outcomes and reviews taken in are of."""
        return len(self._decided)

    def __str__(self) -> str:
        counted = (
            f"{self.decisions} decisions, {self.outcomes} outcomes, {self.reviews} reviews, {self.answers} answers"
        )
        back = f"; {self.taken_back} taken back" if self.taken_back else ""
        before = f"; {self.before} lines were taken in before" if self.before else ""
        own = f"; {self.own} lines were here already" if self.own else ""
        return f"{self.lines} lines read; taken in: {counted}{back}{before}{own}; {len(self.refused)} lines refused"

    def took(self, event: Event, head: int) -> None:
        """Count what became of one command; `head` is where the ledger stood before."""
        if event.seq <= head:
            self.before += 1
            return
        self.taken += 1
        if event.kind == "answer":
            self.answers += 1
        elif event.kind == "withdrawal":
            self.taken_back += 1
        else:
            self._decided.add(decision_behind(event.body.get("origins", ())) or event.id)
            self.outcomes += len(event.body["rewards"])
            self.reviews += len(event.body["reviews"])


def import_jsonl(desk: Desk, file: str | os.PathLike[str] | PastFile, *, actor: str = "import") -> Imported:
    """Let a desk learn from a file of past decisions: an exported ledger, or lines as `desk.imports.past` describes.

    Every outcome, review and answer of an exported ledger becomes a line of the desk's own, and so does every record of
    past decisions. Imported again, a file adds what is new in it: of the same file nothing, of a ledger that was
    exported again what came since, and what was taken back since is taken back here. Lines of the desk's own, and what
    other desks imported of them, are left out: they are known. Records that do not fit are left out and told.
    DamagedLedger, and nothing was taken in, if an exported ledger is not what was written. Should the database go away,
    LedgerUnavailable says how far it came.
    """
    past = file if isinstance(file, PastFile) else PastFile.read(file)
    told, head = Imported(lines=past.length), desk.head.seq
    batch: list[Numbered] = []
    for number, command in chain(commands_of(past, actor), _to_take_back(desk, past, actor)):
        if isinstance(command, EvenhandError):
            told.refused.append((number, command))
            continue
        batch.append((number, command))
        if len(batch) == BATCH:
            _take_in(desk, batch, head, told)
            batch = []
    _take_in(desk, batch, head, told)
    told.refused.sort(key=lambda refused: refused[0])
    return told


def _to_take_back(desk: Desk, past: PastFile, actor: str) -> Iterator[Numbered]:
    """What this desk had taken in before, and was taken back or superseded since."""
    with desk.ledger.reading(desk.name) as view:
        there = view.by_key([key_of(name) for name in past.gone if is_name(key_of(name))])
        undone = {review for _, review in view.withdrawals()}
    for name, number in past.gone.items():
        row = there.get(key_of(name))
        if row is not None and row.seq not in undone:
            reason = f"{name} was taken back where it was imported from"
            yield number, Withdraw(row.id, reason, actor=actor, idempotency_key=f"{key_of(name)}-taken-back")


def _new(desk: Desk, batch: Sequence[Numbered], told: Imported) -> list[Numbered]:
    """The commands that do not come from this desk's own ledger; the others are counted."""
    ways = [lines_in(getattr(command, "origins", ())) for _, command in batch]
    with desk.ledger.reading(desk.name) as view:
        own = set(view.by_id({line for way in ways for line in way if is_name(line)}))
    new = [numbered for numbered, way in zip(batch, ways, strict=True) if own.isdisjoint(way)]
    told.own += len(batch) - len(new)
    return new


def _take_in(desk: Desk, lines: Sequence[Numbered], head: int, told: Imported) -> None:
    try:
        batch = _new(desk, lines, told)
        results = desk.execute([command for _, command in batch])
    except LedgerUnavailable as error:
        raise LedgerUnavailable(
            f"the import stopped half way ({told}): {error}; import the file again, nothing is taken in twice"
        ) from error
    for (number, _), result in zip(batch, results, strict=True):
        if isinstance(result, EvenhandError):
            told.refused.append((number, InvalidInput(str(result))))
        else:
            told.took(result, head)
