"""Records of past decisions to import, and desks that export theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evenhand.desk import Desk
from evenhand.ledger.verify import to_jsonl

PEOPLE: list[dict[str, Any]] = [{"id": "a", "context": [0.9, 0, 0]}, {"id": "b", "context": [0, 0.9, 0]}]
REVIEW = {"kind": "partial", "unfair": [["a", "b"]], "reviewer": "Kim"}
PROBABILITIES = {"a": 0.4, "b": 0.1}
GOOD = {"candidates": PEOPLE, "probabilities": PROBABILITIES, "rewards": {"a": 0.5}, "reviews": [REVIEW]}


def written(path: Path, *records: Any) -> Path:
    """A file of these records, text as it stands."""
    path.write_text("\n".join(record if isinstance(record, str) else json.dumps(record) for record in records))
    return path


def distance(desk: Desk) -> float:
    """How far a is from b, as the desk knows."""
    return float(desk.projection.bandit.distances([person["context"] for person in PEOPLE]).estimate[0, 1])


def exported(desk: Desk, path: Path) -> Path:
    """The desk's ledger in a file."""
    path.write_text("\n".join(to_jsonl(desk.ledger, desk.name)))
    return path
