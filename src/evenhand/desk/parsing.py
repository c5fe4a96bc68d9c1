"""Parsing: what can be read and checked of a command without the ledger; pairs, numbers and text."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import orjson

from evenhand._internal.checks import is_number, refusal
from evenhand.desk.candidates import Candidates, read_candidates
from evenhand.desk.commands import Command, Decide, Origin
from evenhand.desk.rated_reviews import ANSWER_FIELDS, RATED_KINDS
from evenhand.desk.settings import DeskSettings
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.ledger.event import CANONICAL, check_name, is_name
from evenhand.records.review_metadata import LONGEST_TEXT

log = logging.getLogger(__name__)

UNREADABLE = (TypeError, ValueError, AttributeError, KeyError, IndexError, RecursionError, OverflowError)
"""Raised by commands of the wrong shape; other commands of the batch must not suffer from one."""

NOT_COMPARED = ("idempotency_key", "origins")
"""Fields in which two commands with the same key may differ."""

LATER_FIELDS = (*ANSWER_FIELDS, "on_invalid")
"""Fields that count where they are used only: commands of earlier versions have none."""


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
        candidates = None
        if isinstance(command, Decide):
            candidates = read_candidates(command.candidates, settings, command.on_invalid)
        if command.idempotency_key is None:
            return ParsedCommand(command, candidates)
        check_name(command.idempotency_key, "idempotency_key")
        return ParsedCommand(command, candidates, _fingerprint(command, candidates))
    except EvenhandError as error:
        return error
    except UNREADABLE as error:
        return unreadable(error)


def _fingerprint(command: Command, candidates: Candidates | None) -> str:
    content: dict[str, Any] = {
        field.name: getattr(command, field.name)
        for field in fields(command)
        if field.name not in NOT_COMPARED
        and (field.name not in LATER_FIELDS or getattr(command, field.name) is not None)
    }
    if isinstance(content.get("comparisons"), Mapping):  # JSON has no keys that are pairs
        content["comparisons"] = list(content["comparisons"].items())
    if candidates is not None:
        content["candidates"] = [candidates.ids, candidates.contexts, candidates.features]
        content |= {name: candidates.beside[name] for name in ("left_out", "carried") if name in candidates.beside}
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


def unreadable(error: Exception) -> EvenhandError:
    """The error of a command of the wrong shape."""
    log.debug("a command could not be read", exc_info=error)
    return InvalidInput(f"the command cannot be read: {error}")


# Fields of other commands.


def as_pairs(name: str, value: Any) -> list[list[str]]:
    """Pairs of candidates' ids, as lists."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise refusal(name, "a list of pairs of candidates' ids", value)
    pairs = [list(pair) if isinstance(pair, Sequence) and not isinstance(pair, str) else [] for pair in value]
    for pair, original in zip(pairs, value, strict=True):
        if len(pair) != 2 or pair[0] == pair[1] or not all(isinstance(one, str) for one in pair):
            raise InvalidInput(f"{name} must be pairs of two different candidates' ids, got {original!r} in it")
    return pairs


def read_review(kind: Any, unfair: Any, fair: Any, any_unfair: Any, reviewer: Any) -> dict[str, Any]:
    """The fields of a review; InvalidInput for one that its kind does not have. `Review` refuses unknown kinds."""
    if reviewer is not None:
        check_name(reviewer, "reviewer")
    pairs = {"unfair": as_pairs("unfair", unfair), "fair": as_pairs("fair", fair)}
    if kind == "complete" and pairs["fair"]:
        raise InvalidInput(
            f"fair must be empty in a complete review, which names unfair pairs only, got {pairs['fair']}"
        )
    if kind in ("complete", "partial", *RATED_KINDS) and any_unfair is not None:
        names = "has answers of its own" if kind in RATED_KINDS else "names pairs"
        raise InvalidInput(f"any_unfair must be None in a {kind} review, which {names}, got {any_unfair!r}")
    for name, named in pairs.items():
        if kind == "one_bit" and named:
            raise InvalidInput(f"{name} must be empty in a one_bit review, which has any_unfair, got {named}")
        if kind in RATED_KINDS and named:
            raise InvalidInput(
                f"{name} must be empty in a {kind} review, whose answers imply the verdicts, got {named}"
            )
    return {"kind": kind, **pairs, "any_unfair": any_unfair, "reviewer": reviewer}


def as_numbers(name: str, value: Any, length: int) -> list[float]:
    """A list of this many finite numbers."""
    values = value.tolist() if hasattr(value, "tolist") else value
    expected = f"a list of {length} finite numbers, one for each feature"
    if isinstance(values, str) or not isinstance(values, Sequence) or not all(map(is_number, values)):
        raise refusal(name, expected, value)
    if len(values) != length:
        raise InvalidInput(f"{name} must be {expected}, got {len(values)}")
    return list(values)


def as_text(name: str, value: Any) -> str | None:
    """Text of limited length, or None."""
    if value is not None and not isinstance(value, str):
        raise refusal(name, "text or None", value)
    if value is not None and len(value) > LONGEST_TEXT:
        raise InvalidInput(f"{name} must be text of up to {LONGEST_TEXT} characters or None, got {len(value)}")
    return value


def read_origins(value: Any) -> list[Origin]:
    """Origins as JSON; InvalidInput if they are none.

    >>> read_origins([{"desk": "loans", "line": "ans_1"}])
    [{'desk': 'loans', 'line': 'ans_1'}]
    """
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    if not is_list or not all(map(_is_origin, value)):
        raise refusal("origins", 'a list of {"desk": name, "line": id, "decision": id}', value)
    return [dict(origin) for origin in value]


def _is_origin(value: Any) -> bool:
    fields = set(value) if isinstance(value, Mapping) else set()
    return {"desk", "line"} <= fields <= {"desk", "line", "decision"} and all(map(is_name, value.values()))


def with_origins(body: dict[str, Any], value: Any) -> dict[str, Any]:
    """The body of an event, with its origins if it has any."""
    origins = read_origins(value)
    return {**body, "origins": origins} if origins else body
