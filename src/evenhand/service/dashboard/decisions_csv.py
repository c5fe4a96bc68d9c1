"""decisions_csv: a desk's decisions as a table, one row per candidate."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.review.display import features_of
from evenhand.service.dashboard.decision_list import decisions_with_events

if TYPE_CHECKING:
    from evenhand.desk.settings import DeskSettings
    from evenhand.ledger.event import Row
    from evenhand.ledger.ledger import Ledger

CHUNK = 250
COLUMNS = (
    "decision",
    "number",
    "time",
    "candidate",
    "probability",
    "chosen",
    "estimated_reward",
    "optimistic_reward",
    "reward",
    "pairs_called_unfair",
    "pairs_called_fair",
    "chosen_instead",
)
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def decisions_csv(ledger: Ledger, desk: str, settings: DeskSettings) -> Iterator[str]:
    """The table in pieces of text, the first with the header line."""
    names = list(settings.features or [f"feature {i + 1}" for i in range(settings.n_features)])
    yield _text([[*COLUMNS, *names]])
    decisions = ledger.head(desk).decisions
    for at in range(0, decisions, CHUNK):
        found = decisions_with_events(ledger, desk, range(at, min(at + CHUNK, decisions)))
        yield _text([line for row, about in found for line in _rows(row, about, settings, names)])


def _rows(decision: Row, later: Sequence[Row], settings: DeskSettings, names: Sequence[str]) -> Iterator[list[Any]]:
    """One row per candidate of a decision."""
    event, body = decision.event, decision.event.body
    bodies = [(row.kind, row.event.body) for row in later]
    rewards = {name: reward for kind, one in bodies if kind == "outcome" for name, reward in one["rewards"].items()}
    reviews = [one for kind, one in bodies if kind == "review"]
    overrides = [one["chosen"] for kind, one in bodies if kind == "override"]
    features = features_of(body, body["candidates"], settings)
    for place, name in enumerate(body["candidates"]):
        counts = [sum(name in pair for review in reviews for pair in review[how]) for how in ("unfair", "fair")]
        yield [
            event.id,
            body["number"],
            event.time,
            name,
            body["probabilities"][place],
            name in body["chosen"],
            body["estimated_rewards"][place],
            body["optimistic_rewards"][place],
            rewards.get(name),
            *counts,
            None if not overrides else name in overrides[-1],
            *(features[place].get(key) for key in names),
        ]


def _text(rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows([[harmless(value) for value in row] for row in rows])
    return text.getvalue()


def harmless(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: text that begins like one gets an apostrophe in front.

    >>> harmless("=1+1"), harmless(-0.5), harmless("Ada"), harmless(True)
    ("'=1+1", -0.5, 'Ada', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value
