"""From the lines of a file to commands: what an exported ledger, or records of past decisions, have to teach."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from evenhand.desk.commands import AnswerQuestion, Command, ImportPast
from evenhand.desk.imports.past import FIELDS
from evenhand.desk.imports.past_file import UNREADABLE, PastFile, Record, Told, is_event, is_settings, read_record
from evenhand.desk.imports.provenance import read_origins
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.ledger.event import canonical


def commands_of(past: PastFile, actor: str) -> Iterator[tuple[int, Command | EvenhandError]]:
    """What to take in of each line, with its number, or what is wrong with the line.

    An idempotency key is made of what a line is and not of where it stands: lines may come before it, and it is still
    the same.
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
                raise InvalidInput("settings belong into the first line; they were not read here")
        except EvenhandError as error:
            yield number, error


def key_of(line: str) -> str:
    """The idempotency key under which a line of an exported ledger is taken in."""
    return f"import-{line}"


def _command_of_record(record: Record, actor: str, seen: Counter[str]) -> Command:
    """The same record twice in a file is two decisions alike."""
    digest = hashlib.blake2b(canonical(record).encode(), digest_size=16).hexdigest()
    seen[digest] += 1
    again = f"-{seen[digest]}" if seen[digest] > 1 else ""
    return ImportPast(record, actor=actor, idempotency_key=f"import-{digest}{again}")


def _commands_of_event(past: PastFile, number: int, event: Record, actor: str) -> Iterator[tuple[int, Command]]:
    try:
        if number in past.wrong:
            raise KeyError
        kind, body = event["kind"], event["body"]
        if kind in ("outcome", "review") and body["decision"] not in past.decisions:
            raise InvalidInput(f"this {kind} is of decision {body['decision']!r}, which is not in the file")
        if kind == "decision":
            yield from _commands_of_decision(past, event, actor)
        elif event["id"] not in past.gone:
            command = _command_of_line(event, actor)
            if command is not None:
                yield number, command
    except UNREADABLE as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput("this looks like a line of an exported ledger, but its body is none") from None


def _commands_of_decision(past: PastFile, event: Record, actor: str) -> Iterator[tuple[int, Command]]:
    """One for each outcome and each review of a decision: so what comes later can be taken in later, and taken back."""
    said = [told for told in past.told.get(event["id"], ()) if told.id not in past.gone and not _is_repeat(told)]
    if not said:
        return
    body = event["body"]
    made = {"candidates": _candidates(body), "probabilities": body["probabilities"]}
    for told in said:
        learned = {
            "rewards": told.body["rewards"] if told.kind == "outcome" else {},
            "reviews": [told.body] if told.kind == "review" else [],
        }
        source = {"desk": event["desk"], "decision": event["id"], "line": told.id}
        record = {**made, **learned, "source": source}
        yield told.number, ImportPast(record, [source], actor=actor, idempotency_key=key_of(told.id))


def _is_repeat(told: Told) -> bool:
    return bool((told.body.get("circumstances") or {}).get("repeat"))


def _command_of_line(event: Record, actor: str) -> Command | None:
    """Of a line that stands for itself; None if nothing is to be learned from it."""
    kind, body = event["kind"], event["body"]
    origins = [*read_origins(body.get("origins", ())), {"desk": event["desk"], "line": event["id"]}]
    who: dict[str, Any] = {"actor": actor, "idempotency_key": key_of(event["id"]), "origins": origins}
    if kind == "answer" and body.get("unfair") is not None:
        return AnswerQuestion(
            **{name: body.get(name) for name in ("x", "y", "gap", "unfair", "reviewer", "circumstances")}, **who
        )
    if kind == "imported":
        return ImportPast({name: body.get(name) for name in FIELDS} | {"candidates": _candidates(body)}, **who)
    return None


def _candidates(body: Record) -> list[Record]:
    return [{"id": i, "context": x} for i, x in zip(body["candidates"], body["contexts"], strict=True)]
