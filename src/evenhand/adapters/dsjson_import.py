"""A file of DSJSON as a file of past decisions, which a desk imports."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.adapters.dsjson_reader import numbered_rounds, read_dsjson
from evenhand.errors import InvalidInput

MOST_FEATURES = 500
"""Names of texts, such as ids of articles, become features of their own; more of them than this are no contexts."""


@dataclass(frozen=True)
class DsjsonPast:
    """What was found in a file of DSJSON."""

    rounds: int
    names: tuple[str, ...]
    """The features that make a context, in order."""
    norm: float
    """Contexts were divided by it, so that the longest has norm 1; 1 if none was longer."""
    capacity: int
    """The largest number of candidates that could be chosen in a round."""

    def __str__(self) -> str:
        scaled = f"; contexts were divided by {self.norm:.6g}" if self.norm > 1 else ""
        return f"{self.rounds} rounds, {len(self.names)} features{scaled}"


def write_past(
    source: str | os.PathLike[str], target: str | os.PathLike[str], names: Sequence[str] | None = None
) -> DsjsonPast:
    """Write the rounds of a DSJSON file as JSON lines that `evenhand ledger import` and `import_jsonl` read.

    names: the features that make a context, all of them by default. Every line keeps its number.
    """
    columns, longest, rounds, most = dict.fromkeys(names or ()), 0.0, 0, 1
    for one in read_dsjson(source):
        rounds += 1
        most = max(most, one.capacity or len(one.features))
        for features in one.features:
            if names is None:
                columns |= dict.fromkeys(features)
            longest = max(longest, math.hypot(*(features.get(name, 0.0) for name in columns)))
        if len(columns) > MOST_FEATURES:
            raise InvalidInput(f"features must be at most {MOST_FEATURES}, got more: name those that make a context")
    if not rounds:
        raise InvalidInput(f"{os.fspath(source)} must have at least one decision, got none")
    if not columns:
        raise InvalidInput(f"{os.fspath(source)} must have features of candidates, got none")
    found = DsjsonPast(rounds, tuple(columns), max(longest, 1.0), most)
    with Path(target).open("w", encoding="utf-8") as file:
        written = 0
        for number, one in numbered_rounds(source):
            file.write("\n" * (number - written - 1))
            file.write(json.dumps(one.to_past(found.names, norm=found.norm)) + "\n")
            written = number
    return found
