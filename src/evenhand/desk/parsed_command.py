"""Wish: a command with what can be read from it before the ledger is asked."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import orjson

from evenhand.desk.candidates import Candidates, read_candidates
from evenhand.desk.commands import Command, Decide
from evenhand.desk.settings import DeskSettings
from evenhand.errors import InvalidInput
from evenhand.ledger.event import CANONICAL
from evenhand.ledger.names import check_name

APART = ("idempotency_key", "origins")
"""What a command is sent with: the key itself, and by which way it came."""


@dataclass(frozen=True)
class Wish:
    """A command with what could be read from it before the ledger was asked."""

    command: Command
    candidates: Candidates | None
    fingerprint: str | None

    @classmethod
    def of(cls, command: Command, settings: DeskSettings) -> Wish:
        """Check what can be checked without the ledger."""
        if not isinstance(command, Command):
            raise InvalidInput(f"{command!r} is no command; allowed are those of evenhand.desk.commands")
        check_name(command.actor, "actor")
        candidates = read_candidates(command.candidates, settings) if isinstance(command, Decide) else None
        if command.idempotency_key is None:
            return cls(command, candidates, None)
        check_name(command.idempotency_key, "idempotency_key")
        return cls(command, candidates, _fingerprint(command, candidates))


def _fingerprint(command: Command, candidates: Candidates | None) -> str:
    """A digest of the command: two with the same one are the same."""
    said: dict[str, Any] = {f.name: getattr(command, f.name) for f in fields(command) if f.name not in APART}
    if candidates is not None:
        said["candidates"] = [candidates.ids, candidates.contexts, candidates.features]
    try:
        text = orjson.dumps([type(command).__name__, said], default=_as_plain, option=CANONICAL)
    except TypeError as error:
        raise InvalidInput(f"this command cannot be written as JSON: {error}") from None
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def _as_plain(value: Any) -> Any:
    if hasattr(value, "items"):
        return dict(value)
    if isinstance(value, Sequence | set | frozenset):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
