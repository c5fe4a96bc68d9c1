"""Import: a warm start from a JSONL of past decisions and reviews, another desk's exported ledger for instance."""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from evenhand.desk.commands import AnswerQuestion, Command, ImportPast
from evenhand.desk.desk import Desk
from evenhand.desk.event import Event
from evenhand.errors import EvenhandError, InvalidInput, LedgerUnavailable

BATCH = 256

UNREADABLE = (KeyError, TypeError, ValueError, AttributeError)
"""What a line raises that looks like one of an exported ledger, and is none."""


@dataclass
class Imported:
    """What was taken in from a file, what was there before, and what was wrong with the rest."""

    lines: int = 0
    """Read, blank ones apart."""
    decisions: int = 0
    outcomes: int = 0
    reviews: int = 0
    answers: int = 0
    before: int = 0
    """Decisions and answers that this desk had taken in from the same lines before; they are counted here alone."""
    refused: list[tuple[int, EvenhandError]] = field(default_factory=list)
    """Line numbers, with what was wrong."""

    @property
    def taken(self) -> int:
        """Lines that the desk's own ledger has now and had not before."""
        return self.decisions + self.answers

    def __str__(self) -> str:
        counted = (
            f"{self.decisions} decisions, {self.outcomes} outcomes, {self.reviews} reviews, {self.answers} answers"
        )
        before = f"; {self.before} decisions and answers were there before" if self.before else ""
        return f"{self.lines} lines read; taken in: {counted}{before}; {len(self.refused)} lines refused"

    def took(self, event: Event, head: int) -> None:
        """Count what became of one command; `head` is where the ledger stood before."""
        if event.seq <= head:
            self.before += 1
        elif event.kind == "answer":
            self.answers += 1
        else:
            self.decisions += 1
            self.outcomes += len(event.body["rewards"])
            self.reviews += len(event.body["reviews"])


def import_jsonl(desk: Desk, path: str | os.PathLike[str], *, actor: str = "import") -> Imported:
    """Let a desk learn from a file of past decisions: an exported ledger, or lines as `evenhand.desk.past` describes.

    Every record becomes a line of the desk's own ledger. The same file again changes nothing. Records that do not fit
    are left out and told. Should the database go away, LedgerUnavailable says how far it came.
    """
    told = Imported(lines=sum(1 for _ in _lines(path)))
    head = desk.head.seq
    batch: list[tuple[int, Command]] = []
    for number, command in _commands(path, actor):
        if isinstance(command, EvenhandError):
            told.refused.append((number, command))
            continue
        batch.append((number, command))
        if len(batch) == BATCH:
            _take_in(desk, batch, head, told)
            batch = []
    _take_in(desk, batch, head, told)
    told.refused.sort(key=lambda refused: refused[0])
    return told


def settings_of(path: str | os.PathLike[str]) -> tuple[dict[str, Any], bool]:
    """The settings that a file carries, without a seed, and whether somebody wrote them down for this import.

    Either its first line is {"settings": {...}}, or it is an exported ledger: then they are those in force at its end.
    """
    found: dict[str, Any] = {}
    for _, line in _lines(path):
        try:
            record = _read(line)
        except InvalidInput:
            continue
        if _is_settings(record) and not found:
            return dict(record["settings"]), True
        if _is_event(record) and record["kind"] in ("opened", "settings") and _is_settings_of(record["body"]):
            found = {name: value for name, value in record["body"]["settings"].items() if name != "seed"}
    return found, False


def _take_in(desk: Desk, batch: list[tuple[int, Command]], head: int, told: Imported) -> None:
    try:
        results = desk.execute([command for _, command in batch])
    except LedgerUnavailable as error:
        raise LedgerUnavailable(
            f"the import stopped half way ({told}): {error}; import the file again, nothing is taken in twice"
        ) from error
    for (number, command), result in zip(batch, results, strict=True):
        if isinstance(result, EvenhandError):
            told.refused.append((number, InvalidInput(f"{result}{_lost_with(command)}")))
        else:
            told.took(result, head)


def _lost_with(command: Command) -> str:
    """What is left out together with a decision of an exported ledger, whose outcomes and reviews are other lines."""
    record = command.record if isinstance(command, ImportPast) else {}
    if not isinstance(record.get("source"), dict) or "decision" not in record["source"]:
        return ""
    return f" (left out with it: {len(record['rewards'])} outcomes, {len(record['reviews'])} reviews)"


def _commands(path: str | os.PathLike[str], actor: str) -> Iterator[tuple[int, Command | EvenhandError]]:
    later = _Later.of(path)
    for number, line in _lines(path):
        try:
            record = _read(line)
            if _is_settings(record):
                if number > later.first:
                    raise InvalidInput("settings belong into the first line; they were not read here")
                continue
            command = later.command(number, record, actor) if _is_event(record) else _past(number, line, record, actor)
        except EvenhandError as error:
            yield number, error
            continue
        if command is not None:
            yield number, command


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, bytes]]:
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, line.strip()


def _read(line: bytes) -> dict[str, Any]:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise InvalidInput(f"this is no JSON: {error}") from None
    if not isinstance(record, dict):
        raise InvalidInput("this is no JSON object")
    return record


def _is_event(record: dict[str, Any]) -> bool:
    return {"desk", "seq", "id", "kind", "body"} <= set(record)


def _is_settings(record: dict[str, Any]) -> bool:
    return set(record) == {"settings"} and _is_settings_of(record)


def _is_settings_of(body: Any) -> bool:
    return isinstance(body, dict) and isinstance(body.get("settings"), dict)


def _past(number: int, line: bytes, record: dict[str, Any], actor: str) -> Command:
    digest = hashlib.blake2b(b"%d:%s" % (number, line), digest_size=16).hexdigest()
    return ImportPast(record, actor=actor, idempotency_key=f"import-{digest}")


class _Later:
    """What an exported ledger says of its decisions after they were made."""

    def __init__(self) -> None:
        self.first = 0
        """The number of the first line."""
        self._decisions: set[str] = set()
        self._rewards: dict[str, dict[str, float]] = defaultdict(dict)
        self._reviews: dict[str, list[tuple[str, dict[str, Any]]]] = defaultdict(list)
        self._gone: set[str] = set()
        self._wrong: set[int] = set()

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> _Later:
        """Read the file once for all but its decisions."""
        later = cls()
        for number, line in _lines(path):
            later.first = later.first or number
            try:
                record = _read(line)
                if _is_event(record):
                    later._note(record["kind"], record["id"], record["body"])
            except InvalidInput:
                continue
            except UNREADABLE:
                later._wrong.add(number)
        return later

    def _note(self, kind: str, name: str, body: dict[str, Any]) -> None:
        if kind == "decision":
            self._decisions.add(name)
        elif kind == "outcome":
            self._rewards[body["decision"]].update(body["rewards"])
        elif kind == "review":
            self._reviews[body["decision"]].append((name, body))
            self._gone |= {body["supersedes"]} if body.get("supersedes") else set()
        elif kind == "withdrawal":
            self._gone.add(body["review"])

    def command(self, number: int, event: dict[str, Any], actor: str) -> Command | None:
        """What to import of a line; None if nothing is to be learned from it."""
        try:
            if number in self._wrong:
                raise KeyError
            return self._command(event, {"actor": actor, "idempotency_key": f"import-{event['id']}"})
        except UNREADABLE as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput("this looks like a line of an exported ledger, but its body is none") from None

    def _command(self, event: dict[str, Any], who: dict[str, Any]) -> Command | None:
        kind, body, name = event["kind"], event["body"], event["id"]
        if kind in ("outcome", "review") and body["decision"] not in self._decisions:
            raise InvalidInput(f"this {kind} is of decision {body['decision']!r}, which is not in the file")
        if kind == "answer" and name not in self._gone and body.get("unfair") is not None:
            said = {key: body.get(key) for key in ("x", "y", "gap", "unfair", "reviewer", "circumstances")}
            return AnswerQuestion(**said, **who)
        if kind == "imported":
            return ImportPast({**body, "candidates": _candidates(body)}, **who)
        reviews = [said for review, said in self._reviews.get(name, ()) if review not in self._gone]
        rewards = self._rewards.get(name, {})
        if kind != "decision" or not (reviews or rewards):
            return None
        told = [said for said in reviews if not (said.get("circumstances") or {}).get("repeat")]
        source = {"desk": event["desk"], "decision": name}
        past = {"probabilities": body["probabilities"], "rewards": rewards, "reviews": told, "source": source}
        return ImportPast({"candidates": _candidates(body), **past}, **who)


def _candidates(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"id": i, "context": x} for i, x in zip(body["candidates"], body["contexts"], strict=True)]
