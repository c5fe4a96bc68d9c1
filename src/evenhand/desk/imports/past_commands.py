"""From the lines of a file to commands: what an exported ledger, or records of past decisions, have to teach."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from evenhand.desk.commands import AnswerQuestion, Command, ImportPast
from evenhand.desk.imports.past import FIELDS
from evenhand.desk.imports.past_file import UNREADABLE, Feedback, PastFile, Record, is_event, is_settings, read_record
from evenhand.desk.imports.provenance import read_origins
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.ledger.event import canonical


def commands_of(past: PastFile, actor: str) -> Iterator[tuple[int, Command | EvenhandError]]:
    """The commands of each line, with its number, or what is wrong with the line.

    An idempotency key is made of a line's content, not of its number: other lines may be added before it.
    """
    seen: Counter[str] = Counter()
    for number, line in past.lines():
        try:
            record = read_record(line)
            if is_event(record):
                yield from _commands_of_event(past, number, record, actor)
            elif not is_settings(record):
                yield number, _command_of_record(record, actor, seen)
            elif number > past.first:
                raise InvalidInput("settings must be in the first line; these were not read")
        except EvenhandError as error:
            yield number, error


def key_of(event_id: str) -> str:
    """The idempotency key under which an event of an exported ledger is imported."""
    return f"import-{event_id}"


def _command_of_record(record: Record, actor: str, seen: Counter[str]) -> Command:
    """The same record twice in a file is two decisions."""
    digest = hashlib.blake2b(canonical(record).encode(), digest_size=16).hexdigest()
    seen[digest] += 1
    again = f"-{seen[digest]}" if seen[digest] > 1 else ""
    return ImportPast(record, actor=actor, idempotency_key=f"import-{digest}{again}")


def _commands_of_event(past: PastFile, number: int, event: Record, actor: str) -> Iterator[tuple[int, Command]]:
    try:
        if number in past.invalid:
            raise KeyError
        kind, body = event["kind"], event["body"]
        if kind in ("outcome", "review") and body["decision"] not in past.decisions:
            raise InvalidInput(f"this {kind} is of decision {body['decision']!r}, which is not in the file")
        if kind == "decision":
            yield from _commands_of_decision(past, event, actor)
        elif event["id"] not in past.withdrawn:
            command = _command_of_single(event, actor)
            if command is not None:
                yield number, command
    except UNREADABLE as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput("this looks like an event of an exported ledger, but its body is invalid") from None


def _commands_of_decision(past: PastFile, event: Record, actor: str) -> Iterator[tuple[int, Command]]:
    """One for each outcome and review of a decision: later ones can be imported later, and each be withdrawn."""
    body = event["body"]
    for feedback in past.feedback.get(event["id"], ()):
        if feedback.id in past.withdrawn or _is_repeat(feedback):
            continue
        source = {"desk": event["desk"], "decision": event["id"], "line": feedback.id}
        record = {
            "candidates": _candidates(body),
            "probabilities": body["probabilities"],
            "rewards": feedback.body["rewards"] if feedback.kind == "outcome" else {},
            "reviews": [feedback.body] if feedback.kind == "review" else [],
            "source": source,
        }
        yield feedback.number, ImportPast(record, [source], actor=actor, idempotency_key=key_of(feedback.id))


def _is_repeat(feedback: Feedback) -> bool:
    return bool((feedback.body.get("circumstances") or {}).get("repeat"))


def _command_of_single(event: Record, actor: str) -> Command | None:
    """The command of an answer or an imported record; None for other events."""
    kind, body = event["kind"], event["body"]
    origins = [*read_origins(body.get("origins", ())), {"desk": event["desk"], "line": event["id"]}]
    common: dict[str, Any] = {"actor": actor, "idempotency_key": key_of(event["id"]), "origins": origins}
    if kind == "answer" and body.get("unfair") is not None:
        fields = ("x", "y", "gap", "unfair", "reviewer", "circumstances")
        return AnswerQuestion(**{name: body.get(name) for name in fields}, **common)
    if kind == "imported":
        return ImportPast({name: body.get(name) for name in FIELDS} | {"candidates": _candidates(body)}, **common)
    return None


def _candidates(body: Record) -> list[Record]:
    return [{"id": i, "context": x} for i, x in zip(body["candidates"], body["contexts"], strict=True)]
