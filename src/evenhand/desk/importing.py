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
from evenhand.errors import EvenhandError, InvalidInput

BATCH = 256


@dataclass
class Imported:
    """How many records were taken in, and what was wrong with the others."""

    taken: int = 0
    refused: list[tuple[int, EvenhandError]] = field(default_factory=list)
    """Line numbers, with what was wrong."""


def import_jsonl(desk: Desk, path: str | os.PathLike[str], *, actor: str = "import") -> Imported:
    """Let a desk learn from a file of past decisions: an exported ledger, or lines as `evenhand.desk.past` describes.

    Every record becomes a line of the desk's own ledger. The same file again changes nothing. Records that do not fit
    are left out and told.
    """
    told = Imported()
    batch: list[tuple[int, Command]] = []
    for number, command in _commands(path, actor):
        if isinstance(command, EvenhandError):
            told.refused.append((number, command))
            continue
        batch.append((number, command))
        if len(batch) == BATCH:
            _take_in(desk, batch, told)
            batch = []
    _take_in(desk, batch, told)
    return told


def _take_in(desk: Desk, batch: list[tuple[int, Command]], told: Imported) -> None:
    for (number, _), result in zip(batch, desk.execute([command for _, command in batch]), strict=True):
        if isinstance(result, EvenhandError):
            told.refused.append((number, result))
        else:
            told.taken += 1


def _commands(path: str | os.PathLike[str], actor: str) -> Iterator[tuple[int, Command | EvenhandError]]:
    later = _Later.of(path)
    for number, line in _lines(path):
        try:
            record = _read(line)
            command = later.command(record, actor) if _is_event(record) else _past(number, line, record, actor)
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


def _past(number: int, line: bytes, record: dict[str, Any], actor: str) -> Command:
    digest = hashlib.blake2b(b"%d:%s" % (number, line), digest_size=16).hexdigest()
    return ImportPast(record, actor=actor, idempotency_key=f"import-{digest}")


class _Later:
    """What an exported ledger says of its decisions after they were made."""

    def __init__(self) -> None:
        self._rewards: dict[str, dict[str, float]] = defaultdict(dict)
        self._reviews: dict[str, list[tuple[str, dict[str, Any]]]] = defaultdict(list)
        self._gone: set[str] = set()

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> _Later:
        """Read the file once for all but its decisions."""
        later = cls()
        for _, line in _lines(path):
            try:
                record = _read(line)
            except InvalidInput:
                continue
            if _is_event(record):
                later._note(record["kind"], record["id"], record["body"])
        return later

    def _note(self, kind: str, name: str, body: dict[str, Any]) -> None:
        if kind == "outcome":
            self._rewards[body["decision"]].update(body["rewards"])
        elif kind == "review":
            self._reviews[body["decision"]].append((name, body))
            self._gone |= {body["supersedes"]} if body.get("supersedes") else set()
        elif kind == "withdrawal":
            self._gone.add(body["review"])

    def command(self, event: dict[str, Any], actor: str) -> Command | None:
        """What to import of a line; None if nothing is to be learned from it."""
        body, name = event["body"], event["id"]
        who: dict[str, Any] = {"actor": actor, "idempotency_key": f"import-{name}"}
        if event["kind"] == "answer" and name not in self._gone and body.get("unfair") is not None:
            said = {key: body.get(key) for key in ("x", "y", "gap", "unfair", "reviewer", "circumstances")}
            return AnswerQuestion(**said, **who)
        if event["kind"] == "imported":
            ids = zip(body["candidates"], body["contexts"], strict=True)
            return ImportPast({**body, "candidates": [{"id": i, "context": x} for i, x in ids]}, **who)
        reviews = [said for review, said in self._reviews.get(name, ()) if review not in self._gone]
        rewards = self._rewards.get(name, {})
        if event["kind"] != "decision" or not (reviews or rewards):
            return None
        told = [said for said in reviews if not (said.get("circumstances") or {}).get("repeat")]
        candidates = [{"id": i, "context": x} for i, x in zip(body["candidates"], body["contexts"], strict=True)]
        source = {"desk": event["desk"], "decision": name}
        past = {"candidates": candidates, "probabilities": body["probabilities"], "rewards": rewards, "reviews": told}
        return ImportPast({**past, "source": source}, **who)
