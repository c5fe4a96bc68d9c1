"""PastFile: JSON lines with past decisions, read once except for the decisions themselves."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import orjson

from evenhand.errors import DamagedLedger, InvalidInput
from evenhand.ledger.event import FIRST, canonical, chained
from evenhand.ledger.export import from_line

Record = dict[str, Any]

UNREADABLE = (KeyError, TypeError, ValueError, AttributeError)
"""Raised by a line that looks like an event of an exported ledger, and is none."""

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
        elif kind in ("opened", "settings") and not self.has_own_settings and _has_settings(body):
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
            text = canonical({name: value for name, value in record.items() if name not in ("previous", "hash")})
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


def is_event(record: Record) -> bool:
    """Whether it is an event of an exported ledger."""
    return {"desk", "seq", "id", "kind", "body"} <= set(record)


def is_settings(record: Record) -> bool:
    """Whether it is a line of settings."""
    return set(record) == {"settings"} and _has_settings(record)


def _has_settings(body: Any) -> bool:
    return isinstance(body, dict) and isinstance(body.get("settings"), dict)
