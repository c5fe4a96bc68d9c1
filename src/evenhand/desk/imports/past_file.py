"""PastFile: JSON lines with past decisions, such as an exported ledger, and the commands that they amount to."""

from __future__ import annotations

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import orjson

from evenhand.desk.commands import AnswerQuestion, Command, ImportPast
from evenhand.desk.event_records import is_repeat
from evenhand.desk.imports.past import FIELDS
from evenhand.desk.parsing import UNREADABLE, read_origins
from evenhand.desk.remaining import remaining_past
from evenhand.errors import DamagedLedger, EvenhandError, InvalidInput
from evenhand.ledger.contents import commitments_in, from_json, opened_body, wrong_content
from evenhand.ledger.event import FIRST, SETTINGS_KINDS, canonical, chained
from evenhand.ledger.verify import from_line

Record = dict[str, Any]

BESIDE = ("previous", "hash", "contents")
"""What an exported line has beside the text of its event."""

NOTHING_IMPORTED = "; nothing was imported. Export the ledger again, or import what there is with --even-if-damaged"


class Feedback(NamedTuple):
    """An outcome or a review in an exported ledger."""

    number: int
    """Of its line in the file."""
    id: str
    kind: str
    body: Record


@dataclass
class PastFile:
    """The content of a file except for its decisions, which may be too many for memory."""

    path: str | os.PathLike[str]
    length: int = 0
    """Lines that are not blank."""
    first: int = 0
    """The number of the first line that is not blank."""
    settings: Record = field(default_factory=dict)
    """Those of the first line, {"settings": {...}}, or those in force where an exported ledger ends; no seed."""
    has_own_settings: bool = False
    """Whether somebody wrote the settings for this import."""
    decisions: set[str] = field(default_factory=set)
    feedback: dict[str, list[Feedback]] = field(default_factory=lambda: defaultdict(list))
    """Outcomes and reviews of each decision, in order."""
    withdrawn: dict[str, int] = field(default_factory=dict)
    """What was withdrawn or superseded, and the number of the line that did it."""
    invalid: set[int] = field(default_factory=set)
    """Lines that look like events of an exported ledger, and are none."""

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, even_if_damaged: bool = False) -> Self:
        """Read a file once. Events with hashes are verified: DamagedLedger if one does not follow those before it."""
        past, chains = cls(path), None if even_if_damaged else FileChains()
        for number, line in past.lines():
            past.length += 1
            past.first = past.first or number
            try:
                record = read_record(line)
            except InvalidInput:
                if chains is not None:
                    chains.refuse_unreadable(number)
                continue
            if chains is not None and is_event(record):
                chains.add(number, line, record)
            past._note(number, record)
        return past

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """All lines that are not blank, with their numbers."""
        try:
            with open(self.path, "rb") as file:
                for number, line in enumerate(file, start=1):
                    if line.strip():
                        yield number, line.strip()
        except OSError as error:
            raise InvalidInput(f"the file {self.path} cannot be read: {error.strerror}") from None

    def _note(self, number: int, record: Record) -> None:
        try:
            if is_settings(record) and number == self.first:
                self.settings, self.has_own_settings = dict(record["settings"]), True
            elif is_event(record):
                self._note_event(number, record["kind"], record["id"], record["body"])
        except UNREADABLE:
            self.invalid.add(number)

    def _note_event(self, number: int, kind: str, name: str, body: Record) -> None:
        if kind == "decision":
            self.decisions.add(name)
        elif kind in ("outcome", "review"):
            if body.get("supersedes"):
                self.withdrawn[body["supersedes"]] = number
            self.feedback[body["decision"]].append(Feedback(number, name, kind, body))
        elif kind == "withdrawal":
            self.withdrawn[body["review"]] = number
        elif kind in SETTINGS_KINDS and not self.has_own_settings and _has_settings(body):
            self.settings = {name: value for name, value in body["settings"].items() if name != "seed"}


class FileChains:
    """The hash chains in a file: one for each desk whose exported ledger is in it."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[int, str]] = {}

    def add(self, number: int, line: bytes, record: Record) -> None:
        """Check the next event: by its text as it is, or in canonical form if somebody has reformatted it."""
        desk = str(record["desk"])
        if "previous" not in record and "hash" not in record and desk not in self._last:
            return  # never had any
        seq, previous = self._last.get(desk, (0, FIRST)) if record["seq"] != 1 else (0, FIRST)
        try:
            text = from_line(line.decode()).text
        except DamagedLedger:
            text = canonical({name: value for name, value in record.items() if name not in BESIDE})
        own = chained(previous, text)
        if (record["seq"], record.get("previous"), record.get("hash")) != (seq + 1, previous, own):
            raise DamagedLedger(f"line {number} of the file was changed, or one before it removed{NOTHING_IMPORTED}")
        self._last[desk] = (seq + 1, own)

    def refuse_unreadable(self, number: int) -> None:
        """DamagedLedger if a line that is not JSON comes after events with hashes."""
        if self._last:
            raise DamagedLedger(f"line {number} of the file was changed, or cut off: it is not JSON{NOTHING_IMPORTED}")


def read_record(line: bytes) -> Record:
    """The JSON object of a line; InvalidInput if it is none."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise InvalidInput(f"a line must be JSON: {error}") from None
    if not isinstance(record, dict):
        raise InvalidInput("a line must be a JSON object")
    return record


def with_contents(record: Record) -> Record:
    """An event of an exported ledger with its contents in their places, and the people whom they are of."""
    body = record["body"]
    if not isinstance(body, dict) or "sealed" not in body:
        return record
    contents = from_json(record.get("contents"))
    try:
        if wrong_content(body, contents):
            raise InvalidInput("what this event says about people does not have its commitment")
        people = {name for names, _ in commitments_in(body) for name in names}
        return {**record, "body": opened_body(body, contents), "people": sorted(people)}
    except UNREADABLE as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput("this looks like an event of an exported ledger, but its body is invalid") from None


def is_event(record: Record) -> bool:
    """Whether it is an event of an exported ledger."""
    return {"desk", "seq", "id", "kind", "body"} <= set(record)


def is_settings(record: Record) -> bool:
    """Whether it is a line of settings."""
    return set(record) == {"settings"} and _has_settings(record)


def _has_settings(body: Any) -> bool:
    return isinstance(body, dict) and isinstance(body.get("settings"), dict)


def commands_of(past: PastFile, actor: str) -> Iterator[tuple[int, Command | EvenhandError]]:
    """The commands of each line, with its number, or what is wrong with the line.

    An idempotency key is made of a line's content, not of its number: other lines may be added before it.
    """
    seen: Counter[str] = Counter()
    for number, line in past.lines():
        try:
            record = read_record(line)
            if is_event(record):
                yield from _commands_of_event(past, number, with_contents(record), actor)
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
        if feedback.id in past.withdrawn or is_repeat(feedback.body):
            continue
        source = {"desk": event["desk"], "decision": event["id"], "line": feedback.id}
        rewards = feedback.body["rewards"] if feedback.kind == "outcome" else {}
        reviews = [feedback.body] if feedback.kind == "review" else []
        treated = feedback.body.get("treatment", body["probabilities"])  # by the system in force, if it is about that
        left = remaining_past({**body, "probabilities": treated, "rewards": rewards, "reviews": reviews})
        if not left["rewards"] and not left["reviews"]:
            continue  # all of it was about people who were erased
        fields = {name: left[name] for name in ("probabilities", "rewards", "reviews")}
        mode = {"mode": body["mode"]} if "mode" in body else {}
        record = {"candidates": _candidates(left), **fields, "source": source, **mode}
        yield feedback.number, ImportPast(record, [source], actor=actor, idempotency_key=key_of(feedback.id))


def _command_of_single(event: Record, actor: str) -> Command | None:
    """The command of an answer or an imported record; None for other events."""
    kind, body = event["kind"], event["body"]
    origins = [*read_origins(body.get("origins", ())), {"desk": event["desk"], "line": event["id"]}]
    common: dict[str, Any] = {"actor": actor, "idempotency_key": key_of(event["id"]), "origins": origins}
    if kind == "answer" and body.get("unfair") is not None and "erased" not in body:
        fields = ("x", "y", "gap", "unfair", "reviewer", "circumstances")
        people = [name for name in event.get("people", ()) if name != event["id"]]
        return AnswerQuestion(**{name: body.get(name) for name in fields}, people=people, **common)
    if kind == "imported":
        left = remaining_past(body)
        if not left["candidates"]:
            return None
        return ImportPast({name: left.get(name) for name in FIELDS} | {"candidates": _candidates(left)}, **common)
    return None


def _candidates(body: Record) -> list[Record]:
    return [{"id": i, "context": x} for i, x in zip(body["candidates"], body["contexts"], strict=True)]
