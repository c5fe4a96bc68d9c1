"""decisions_csv: a desk's decisions as a table, one row for each candidate, with what came of it."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.review.display import features_of

if TYPE_CHECKING:
    from evenhand.desk.settings import DeskSettings
    from evenhand.ledger.ledger import Ledger, Row

CHUNK = 250
COLUMNS = (
    "decision",
    "number",
    "time",
    "candidate",
    "odds",
    "chosen",
    "estimated_reward",
    "optimistic_reward",
    "reward",
    "pairs_called_unfair",
    "pairs_called_fair",
    "chosen_instead",
)
STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def decisions_csv(ledger: Ledger, desk: str, settings: DeskSettings) -> Iterator[str]:
    """The table in pieces of text, the first with the heads of the columns."""
    with ledger.reading(desk) as view:
        decisions, gone = view.head.decisions, {review for _, review in view.withdrawals()}
    names = list(settings.features or [f"feature {i + 1}" for i in range(settings.n_features)])
    yield _lines([[*COLUMNS, *names]])
    for at in range(0, decisions, CHUNK):
        with ledger.reading(desk) as view:
            found = view.by_number(range(at, min(at + CHUNK, decisions)))
            about = view.about([row.id for row in found.values()])
        later: dict[str, list[Row]] = defaultdict(list)
        for row in about:
            if row.seq not in gone:
                later[row.target or ""].append(row)
        yield _lines([line for n in sorted(found) for line in rows_of(found[n], later[found[n].id], settings, names)])


def rows_of(decision: Row, later: Sequence[Row], settings: DeskSettings, names: Sequence[str]) -> Iterator[list[Any]]:
    """One row for each candidate of a decision."""
    event, body = decision.event, decision.event.body
    told = [(row.kind, row.event.body) for row in later]
    rewards = {name: reward for kind, said in told if kind == "outcome" for name, reward in said["rewards"].items()}
    reviews = [said for kind, said in told if kind == "review"]
    instead = [said["chosen"] for kind, said in told if kind == "override"]
    features = features_of(body, body["candidates"], settings)
    for place, name in enumerate(body["candidates"]):
        counts = [sum(name in pair for said in reviews for pair in said[how]) for how in ("unfair", "fair")]
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
            None if not instead else name in instead[-1],
            *(features[place].get(key) for key in names),
        ]


def _lines(rows: Sequence[Sequence[Any]]) -> str:
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
    if isinstance(value, str) and value.startswith(STARTS_A_FORMULA):
        return f"'{value}"
    return value
