"""Executing: a batch of commands becomes lines of the ledger in one transaction, each command for itself."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from evenhand.desk.commands import Command, Decide
from evenhand.desk.event import Event, canonical, chained, now, request_digest
from evenhand.desk.ledger import Head, Row, View
from evenhand.desk.names import is_name
from evenhand.desk.recording import Recording
from evenhand.desk.settings import Settings
from evenhand.desk.wish import Wish
from evenhand.errors import EvenhandError, IdempotencyConflict, InvalidInput

log = logging.getLogger(__name__)

UNREADABLE = (TypeError, ValueError, AttributeError, KeyError, IndexError, RecursionError, OverflowError)
"""What a command of the wrong shape may raise; it must not take the others of its batch with it."""


def read(command: Command, settings: Settings) -> Wish | EvenhandError:
    """A command, read as far as that goes without the ledger, or what is wrong with it."""
    try:
        return Wish.of(command, settings)
    except EvenhandError as error:
        return error
    except UNREADABLE as error:
        return InvalidInput(f"this command cannot be read: {error}")


def carry_out(
    desk: str, wishes: Sequence[Wish | EvenhandError], recording: Recording, view: View
) -> list[Event | EvenhandError]:
    """Add the lines of all commands that can be carried out; for each its event or its error."""
    _look_up(recording, wishes, view)
    keys = [w.command.idempotency_key for w in wishes if isinstance(w, Wish) and w.command.idempotency_key]
    batch = Batch(desk, recording, view.head, view.by_key(keys) if keys else {})
    results = [wish if isinstance(wish, EvenhandError) else batch.line(wish) for wish in wishes]
    if batch.rows:
        view.append(batch.rows, batch.head)
    return [result if isinstance(result, EvenhandError) else result.event for result in results]


def _look_up(recording: Recording, wishes: Sequence[Wish | EvenhandError], view: View) -> None:
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

    def line(self, wish: Wish) -> Row | EvenhandError:
        """The line that a command adds, or the one that it added before."""
        key = wish.command.idempotency_key
        if key is not None and key in self._by_key:
            if self._by_key[key].fingerprint == wish.fingerprint:
                return self._by_key[key]
            return IdempotencyConflict(f"idempotency key {key!r} was used for another command; choose a new one")
        try:
            row = self._draw_up(wish, key)
        except EvenhandError as error:
            return error
        except UNREADABLE as error:
            log.debug("a command could not be read", exc_info=True)
            return InvalidInput(f"this command cannot be read: {error}")
        self._seq, self._hash = row.seq, row.hash
        self.rows.append(row)
        self._recording.wrote(row)
        if key is not None:
            self._by_key[key] = row
        return row

    def _draw_up(self, wish: Wish, key: str | None) -> Row:
        draft, seq, previous = self._recording.draft(wish), self._seq + 1, self._hash
        text = canonical(
            {
                "desk": self._desk,
                "seq": seq,
                "id": draft.id,
                "time": self._moment,
                "actor": wish.command.actor,
                "kind": draft.kind,
                "body": draft.body,
                "request": request_digest(key, wish.fingerprint),
            }
        )
        places = (draft.target, draft.number, draft.undoes, key, wish.fingerprint)
        return Row(seq, draft.id, draft.kind, *places, text, previous, chained(previous, text))
