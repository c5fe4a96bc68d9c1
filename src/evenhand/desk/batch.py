"""Executing: a batch of commands becomes lines of the ledger in one transaction, each command for itself."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import groupby

from evenhand.desk.commands import Command, Decide
from evenhand.desk.handlers import Draft, Recording
from evenhand.desk.parsed_command import Wish
from evenhand.desk.settings import DeskSettings
from evenhand.errors import EvenhandError, IdempotencyConflict, InvalidInput
from evenhand.ledger.event import Event, canonical, chained, now, request_digest
from evenhand.ledger.ledger import Head, LedgerView, Row
from evenhand.ledger.names import is_name

log = logging.getLogger(__name__)

UNREADABLE = (TypeError, ValueError, AttributeError, KeyError, IndexError, RecursionError, OverflowError)
"""What a command of the wrong shape may raise; it must not take the others of its batch with it."""


def read(command: Command, settings: DeskSettings) -> Wish | EvenhandError:
    """A command, read as far as that goes without the ledger, or what is wrong with it."""
    try:
        return Wish.of(command, settings)
    except EvenhandError as error:
        return error
    except UNREADABLE as error:
        return InvalidInput(f"this command cannot be read: {error}")


def carry_out(
    desk: str, wishes: Sequence[Wish | EvenhandError], recording: Recording, view: LedgerView
) -> list[Event | EvenhandError]:
    """Add the lines of all commands that can be carried out; for each its event or its error."""
    _look_up(recording, wishes, view)
    keys = [w.command.idempotency_key for w in wishes if isinstance(w, Wish) and w.command.idempotency_key]
    batch = Batch(desk, recording, view.head, view.by_key(keys) if keys else {})
    results = batch.lines(wishes)
    if batch.rows:
        view.append(batch.rows, batch.head)
    return [result if isinstance(result, EvenhandError) else result.event for result in results]


def _look_up(recording: Recording, wishes: Sequence[Wish | EvenhandError], view: LedgerView) -> None:
    """Get from the ledger all lines that the commands speak of: none, if they are all new decisions."""
    wanted: set[str] = set()
    for wish in wishes:
        if isinstance(wish, Wish) and not isinstance(wish.command, Decide):
            named = (getattr(wish.command, field, None) for field in ("decision", "review_id", "supersedes"))
            wanted.update(str(name) for name in named if is_name(name))
    if not wanted:
        return
    recording.known.update(view.by_id(wanted))
    wanted |= {row.target for row in recording.known.values() if row.target is not None}
    lines = view.about(wanted)
    later = view.about({line.id for line in lines if line.kind == "review"} - wanted)
    for line in sorted({*lines, *later}, key=lambda row: row.seq):
        recording.about.setdefault(line.target or "", []).append(line)


class Batch:
    """The lines that a batch of commands adds, chained to the head and to each other."""

    def __init__(self, desk: str, recording: Recording, head: Head, by_key: dict[str, Row]) -> None:
        self._desk, self._recording, self._by_key, self._moment = desk, recording, by_key, now()
        self._seq, self._hash = head.seq, head.hash
        self.rows: list[Row] = []

    @property
    def head(self) -> Head:
        """Where the ledger stands with these lines."""
        return Head(self._seq, self._hash, self._recording.decisions, self._recording.settings_seq)

    def lines(self, wishes: Sequence[Wish | EvenhandError]) -> list[Row | EvenhandError]:
        """For each command, in their order, the line that it adds, or the one that it added before, or its error."""
        found: list[Row | EvenhandError] = []
        for are_decisions, run in groupby(wishes, _is_decision):
            some = list(run)
            staged = self._stage_by_stage([w for w in some if isinstance(w, Wish)]) if are_decisions else None
            found += [w if isinstance(w, EvenhandError) else self._line(w) for w in some] if staged is None else staged
        return found

    def _line(self, wish: Wish) -> Row | EvenhandError:
        draft = self._drafted(wish)
        if not isinstance(draft, Draft):
            return draft
        try:
            return self._add(wish, draft, self._text(self._seq + 1, wish, draft))
        except UNREADABLE as error:
            return _unreadable(error)

    def _stage_by_stage(self, wishes: list[Wish]) -> list[Row | EvenhandError] | None:
        """The same for decisions in a row: all are drafted, then all written out, then all chained.

        What runs again at once is still in the processor's caches: a twentieth of the time is saved. None, and nothing
        has changed, if they must go one by one: a key sent twice needs the line it added before, and what cannot be
        written out leaves its number to the next one.
        """
        keys = [wish.command.idempotency_key for wish in wishes if wish.command.idempotency_key is not None]
        if len(set(keys)) < len(keys):
            return None
        before, drafts = self._recording.decisions, []
        for wish in wishes:
            drafts.append(self._drafted(wish))
            self._recording.decisions += isinstance(drafts[-1], Draft)
        self._recording.decisions = before
        new = [(wish, draft) for wish, draft in zip(wishes, drafts, strict=True) if isinstance(draft, Draft)]
        try:
            texts = [self._text(seq, *both) for seq, both in enumerate(new, self._seq + 1)]
        except UNREADABLE:
            return None
        rows = iter([self._add(wish, draft, text) for (wish, draft), text in zip(new, texts, strict=True)])
        return [next(rows) if isinstance(draft, Draft) else draft for draft in drafts]

    def _drafted(self, wish: Wish) -> Draft | Row | EvenhandError:
        """What a command's line is to say; or the line it added before, or its error."""
        key = wish.command.idempotency_key
        if key is not None and key in self._by_key:
            if self._by_key[key].fingerprint == wish.fingerprint:
                return self._by_key[key]
            return IdempotencyConflict(f"idempotency key {key!r} was used for another command; choose a new one")
        try:
            return self._recording.draft(wish)
        except EvenhandError as error:
            return error
        except UNREADABLE as error:
            return _unreadable(error)

    def _text(self, seq: int, wish: Wish, draft: Draft) -> str:
        return canonical(
            {
                "desk": self._desk,
                "seq": seq,
                "id": draft.id,
                "time": self._moment,
                "actor": wish.command.actor,
                "kind": draft.kind,
                "body": draft.body,
                "request": request_digest(wish.command.idempotency_key, wish.fingerprint),
            }
        )

    def _add(self, wish: Wish, draft: Draft, text: str) -> Row:
        key, seq, previous = wish.command.idempotency_key, self._seq + 1, self._hash
        places = (draft.target, draft.number, draft.undoes, key, wish.fingerprint)
        row = Row(seq, draft.id, draft.kind, *places, text, previous, chained(previous, text))
        self._seq, self._hash = row.seq, row.hash
        self.rows.append(row)
        self._recording.wrote(row)
        if key is not None:
            self._by_key[key] = row
        return row


def _is_decision(wish: Wish | EvenhandError) -> bool:
    return isinstance(wish, Wish) and isinstance(wish.command, Decide)


def _unreadable(error: Exception) -> EvenhandError:
    log.debug("a command could not be read", exc_info=error)
    return InvalidInput(f"this command cannot be read: {error}")
