"""decisions_csv: a desk's decisions as a table, one row per candidate."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.review.display import features_of

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
    with ledger.reading(desk) as view:
        decisions, withdrawn = view.head.decisions, {review for _, review in view.withdrawals()}
    names = list(settings.features or [f"feature {i + 1}" for i in range(settings.n_features)])
    yield _text([[*COLUMNS, *names]])
    for at in range(0, decisions, CHUNK):
        with ledger.reading(desk) as view:
            found = view.by_number(range(at, min(at + CHUNK, decisions)))
            about = view.about([row.id for row in found.values()])
        later: dict[str, list[Row]] = defaultdict(list)
        for row in about:
            if row.seq not in withdrawn:
                later[row.target or ""].append(row)
        yield _text([line for n in sorted(found) for line in _rows(found[n], later[found[n].id], settings, names)])


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
