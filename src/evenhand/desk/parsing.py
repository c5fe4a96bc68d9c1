"""Parsing: what can be read and checked of a command without the ledger; pairs, numbers and text."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import orjson

from evenhand._internal.checks import check_one_of, is_number, refusal
from evenhand.desk.candidates import Candidates, read_candidates
from evenhand.desk.commands import ANSWER_FIELDS, RATED_FIELDS, Command, Decide, Origin
from evenhand.desk.event_records import implied_fields, review_of
from evenhand.desk.review_rules import ReviewRules
from evenhand.desk.settings import DeskSettings
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.ledger.contents import CANONICAL
from evenhand.ledger.event import check_name, is_name
from evenhand.records.decision import Review
from evenhand.records.ratings import PREFERENCES, check_scale, check_score, check_tolerance
from evenhand.records.review_metadata import LONGEST_TEXT

log = logging.getLogger(__name__)

UNREADABLE = (TypeError, ValueError, AttributeError, KeyError, IndexError, RecursionError, OverflowError)
"""Raised by commands of the wrong shape; other commands of the batch must not suffer from one."""

NOT_COMPARED = ("idempotency_key", "key_lifetime", "origins", "people")
"""Fields in which two commands with the same key may differ."""

BOUNDS = ("lower", "upper")

LATER_FIELDS = (*ANSWER_FIELDS, "on_invalid", "action", "subject", *BOUNDS)
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
            candidates = candidates.with_bounds(command.lower, command.upper)
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
        content |= {name: getattr(candidates, name) for name in BOUNDS if name in content}
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


def read_review(
    values: Mapping[str, Any], candidates: Sequence[str], probabilities: Sequence[float], rules: ReviewRules
) -> tuple[Review, dict[str, Any]]:
    """A review of a decision, and its fields in an event; scale and tolerance default to the desk's.

    values: kind, unfair, fair, any_unfair, reviewer, and those of ANSWER_FIELDS that are not None.
    """
    kind, reviewer = values["kind"], values["reviewer"]
    if reviewer is not None:
        check_name(reviewer, "reviewer")
    body = {"kind": kind, **_read_verdicts(values), "reviewer": reviewer, **_read_answers(values, rules)}
    review = review_of(body, candidates)  # which refuses unknown kinds and candidates
    return review, body | implied_fields(review, candidates, probabilities) if kind in RATED_FIELDS else body


def _read_verdicts(values: Mapping[str, Any]) -> dict[str, Any]:
    """unfair, fair and any_unfair; InvalidInput for one that a review of this kind does not have."""
    kind, any_unfair = values["kind"], values["any_unfair"]
    pairs = {name: as_pairs(name, values[name]) for name in ("unfair", "fair")}
    if kind == "complete" and pairs["fair"]:
        raise InvalidInput(
            f"fair must be empty in a complete review, which names unfair pairs only, got {pairs['fair']}"
        )
    if kind in ("complete", "partial", *RATED_FIELDS) and any_unfair is not None:
        names = "has answers of its own" if kind in RATED_FIELDS else "names pairs"
        raise InvalidInput(f"any_unfair must be None in a {kind} review, which {names}, got {any_unfair!r}")
    for name, named in pairs.items():
        if kind == "one_bit" and named:
            raise InvalidInput(f"{name} must be empty in a one_bit review, which has any_unfair, got {named}")
        if kind in RATED_FIELDS and named:
            raise InvalidInput(
                f"{name} must be empty in a {kind} review, whose answers imply the verdicts, got {named}"
            )
    return {**pairs, "any_unfair": any_unfair}


def _read_answers(values: Mapping[str, Any], rules: ReviewRules) -> dict[str, Any]:
    """The fields of ratings or comparisons; InvalidInput for one that a review of this kind does not have."""
    kind = values["kind"]
    fields = RATED_FIELDS.get(kind, ())
    others = [name for name in ANSWER_FIELDS if name in values and name not in fields]
    if others:
        raise InvalidInput(f"{others[0]} must be None in a {kind} review, got {values[others[0]]!r}")
    if not fields:
        return {}
    tolerance = check_tolerance(values.get("tolerance", rules.tolerance))
    if kind == "ratings":
        scale = check_scale(values.get("scale", rules.scale))
        return {"ratings": _read_ratings(values.get("ratings"), scale), "scale": list(scale), "tolerance": tolerance}
    return {"comparisons": _read_comparisons(values.get("comparisons")), "tolerance": tolerance}


def _read_ratings(value: Any, scale: tuple[float, float]) -> dict[str, float]:
    if not isinstance(value, Mapping) or not value or not all(isinstance(name, str) for name in value):
        raise refusal("ratings", "a dict from candidates' ids to scores", value)
    return {name: check_score(score, scale, f"the rating of candidate {name!r}") for name, score in value.items()}


def _read_comparisons(value: Any) -> list[dict[str, Any]]:
    """From a dict by pair, or from a list as in events."""
    expected = 'a dict from pairs of candidates\' ids to "alike", "first" or "second", or a list of {"pair", "answer"}'
    if isinstance(value, Mapping):
        entries = [{"pair": pair, "answer": answer} for pair, answer in value.items()]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        entries = list(value)
    else:
        entries = []
    if not entries:
        raise refusal("comparisons", expected, value)
    found = []
    for entry in entries:
        pair = entry.get("pair") if isinstance(entry, Mapping) and set(entry) == {"pair", "answer"} else None
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise refusal("comparisons", expected, entry)
        if not all(isinstance(name, str) for name in pair) or pair[0] == pair[1]:
            raise InvalidInput(f"comparisons must be of two different candidates' ids, got {list(pair)!r} in it")
        check_one_of(f"the comparison of {pair[0]!r} and {pair[1]!r}", entry["answer"], PREFERENCES)
        found.append({"pair": list(pair), "answer": entry["answer"]})
    return found


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
