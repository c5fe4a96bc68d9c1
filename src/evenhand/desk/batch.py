"""Batch: commands become events; each command on its own, all of them in one transaction."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import orjson

from evenhand.desk.candidates import Candidates, read_candidates
from evenhand.desk.commands import Command, Decide
from evenhand.desk.handlers import Draft, Handlers
from evenhand.desk.proposals import Proposals
from evenhand.desk.settings import DeskSettings
from evenhand.errors import EvenhandError, IdempotencyConflict, InvalidInput
from evenhand.ledger.event import CANONICAL, Event, canonical, chained, now, request_digest
from evenhand.ledger.names import check_name, is_name
from evenhand.ledger.rows import Head, Row
from evenhand.ledger.view import LedgerView

log = logging.getLogger(__name__)

UNREADABLE = (TypeError, ValueError, AttributeError, KeyError, IndexError, RecursionError, OverflowError)
"""Raised by commands of the wrong shape; other commands of the batch must not suffer from one."""

NOT_COMPARED = ("idempotency_key", "origins")
"""Fields in which two commands with the same key may differ."""


@dataclass(frozen=True)
class ParsedCommand:
    """A command, and what can be read from it without the ledger."""

    command: Command
    candidates: Candidates | None = None
    fingerprint: str | None = None
    """A digest of a command with an idempotency key: two with the same one are the same."""


def parse(command: Command, settings: DeskSettings) -> ParsedCommand | EvenhandError:
    """Check what can be checked without the ledger."""
    try:
        if not isinstance(command, Command):
            raise InvalidInput(f"a command must be one of evenhand.desk.commands, got {command!r}")
        check_name(command.actor, "actor")
        candidates = read_candidates(command.candidates, settings) if isinstance(command, Decide) else None
        if command.idempotency_key is None:
            return ParsedCommand(command, candidates)
        check_name(command.idempotency_key, "idempotency_key")
        return ParsedCommand(command, candidates, _fingerprint(command, candidates))
    except EvenhandError as error:
        return error
    except UNREADABLE as error:
        return _unreadable(error)


def _fingerprint(command: Command, candidates: Candidates | None) -> str:
    content: dict[str, Any] = {
        field.name: getattr(command, field.name) for field in fields(command) if field.name not in NOT_COMPARED
    }
    if candidates is not None:
        content["candidates"] = [candidates.ids, candidates.contexts, candidates.features]
    try:
        text = orjson.dumps([type(command).__name__, content], default=_plain, option=CANONICAL)
    except TypeError as error:
        raise InvalidInput(f"the command cannot be written as JSON: {error}") from None
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def _plain(value: Any) -> Any:
    if hasattr(value, "items"):
        return dict(value)
    if isinstance(value, Sequence | set | frozenset):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


class Batch:
    """The events of a batch of commands, chained to the head they were built on and to each other.

    `read` takes from the ledger what the commands refer to, `build` makes the events without it. Built again on another
    head, the proposals that were computed before are used again.
    """

    def __init__(self, desk: str, commands: Sequence[ParsedCommand | EvenhandError], proposals: Proposals) -> None:
        self._desk, self._commands, self._proposals = desk, commands, proposals
        self.head = Head(0, "", 0, 0)
        self.rows: list[Row] = []
        self.results: list[Row | EvenhandError] = []

    def read(self, view: LedgerView, settings: DeskSettings) -> None:
        """Read the head, and the events that the commands refer to: none, if they are all new decisions."""
        self.head = self._next = view.head
        self.handlers = Handlers(view.head, settings, self._proposals)
        parsed = [each for each in self._commands if isinstance(each, ParsedCommand)]
        keys = [each.command.idempotency_key for each in parsed if each.command.idempotency_key]
        self._by_key = view.by_key(keys) if keys else {}
        names: set[str] = set()
        for each in parsed:
            if each.candidates is None:
                referred = (getattr(each.command, field, None) for field in ("decision", "review_id", "supersedes"))
                names.update(str(name) for name in referred if is_name(name))
        if names:
            self.handlers.read(view, names)

    def build(self) -> None:
        """Handle the commands in order; later ones see the events of earlier ones."""
        self.rows, self._moment = [], now()
        self.results = [
            each if isinstance(each, EvenhandError) else self._event(number, each)
            for number, each in enumerate(self._commands)
        ]

    def append_to(self, view: LedgerView) -> None:
        """Write the events; the view must have the head that they were built on."""
        if self.rows:
            view.append(self.rows, self._next)

    def events(self) -> list[Event | EvenhandError]:
        """For each command, in order, its event, or the one it had before, or its error."""
        return [
            result if isinstance(result, EvenhandError) else Event(result.text, result.previous, result.hash)
            for result in self.results
        ]

    def _event(self, number: int, parsed: ParsedCommand) -> Row | EvenhandError:
        key = parsed.command.idempotency_key
        if key is not None and key in self._by_key:
            if self._by_key[key].fingerprint == parsed.fingerprint:
                return self._by_key[key]
            return IdempotencyConflict(f"idempotency key {key!r} was used for another command; choose a new one")
        try:
            return self._chain(parsed, self.handlers.handle(number, parsed.command, parsed.candidates))
        except EvenhandError as error:
            return error
        except UNREADABLE as error:
            return _unreadable(error)

    def _chain(self, parsed: ParsedCommand, draft: Draft) -> Row:
        key, seq, previous = parsed.command.idempotency_key, self._next.seq + 1, self._next.hash
        text = canonical(
            {
                "desk": self._desk,
                "seq": seq,
                "id": draft.id,
                "time": self._moment,
                "actor": parsed.command.actor,
                "kind": draft.kind,
                "body": draft.body,
                "request": request_digest(key, parsed.fingerprint),
            }
        )
        columns = (draft.target, draft.number, draft.undoes, key, parsed.fingerprint)
        row = Row(seq, draft.id, draft.kind, *columns, text, previous, chained(previous, text))
        self.rows.append(row)
        self.handlers.appended(row)
        self._next = Head(seq, row.hash, self.handlers.decisions, self.handlers.settings_seq)
        if key is not None:
            self._by_key[key] = row
        return row


def _unreadable(error: Exception) -> EvenhandError:
    log.debug("a command could not be read", exc_info=error)
    return InvalidInput(f"the command cannot be read: {error}")
