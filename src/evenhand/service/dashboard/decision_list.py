"""Lists of decisions: a line for each on pages, a row for each candidate as CSV; and the list of desks."""

from __future__ import annotations

import csv
import io
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from evenhand.desk.event_records import CHUNK, decisions_with_events, subject_of
from evenhand.desk.shadow import action_of
from evenhand.review.display import features_of

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk
    from evenhand.desk.projection.projection import Projection
    from evenhand.desk.settings import DeskSettings
    from evenhand.ledger.event import Head, Row
    from evenhand.ledger.ledger import Ledger

LATEST = 8
"""Decisions in the overview."""
PAGE = 25
"""Decisions on a page of the list."""
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


def desk_summary(ledger: Ledger, name: str) -> dict[str, Any]:
    """A desk's line in the list of desks."""
    with ledger.reading(name) as view:
        head = view.head
        first, last = view.after(0, 1)[0].event, view.after(head.seq - 1, 1)[0].event
    return {"name": name, "decisions": head.decisions, "lines": head.seq, "opened": first.time, "last": last.time}


def latest_decisions(desk: Desk, head: Head, projection: Projection) -> list[dict[str, Any]]:
    """The newest decisions first."""
    return _lines(desk, range(max(0, head.decisions - LATEST), head.decisions), projection)


def decision_list(desk: Desk, *, before: int | None, flagged: bool) -> dict[str, Any]:
    """A page of decisions with numbers below `before`, or of the newest; of all, or of flagged ones.

    lines: the newest first. older, newer: what `before` must be for the next pages; newer is None if that is the first
    page. is_first: there is none newer. of: how many there are. Only the decisions on the page are read.
    """
    projection = desk.projection
    rounds = sorted(projection.bandit.safeguards.flagged_rounds) if flagged else None
    numbers: Sequence[int] = range(desk.head.decisions) if rounds is None else rounds
    end = len(numbers) if before is None else bisect_left(numbers, before)
    start, later = max(0, end - PAGE), end + PAGE
    return {
        "lines": _lines(desk, numbers[start:end], projection),
        "older": numbers[start] if start else None,
        "newer": numbers[later] if later < len(numbers) else None,
        "is_first": end == len(numbers),
        "of": len(numbers),
    }


def _lines(desk: Desk, numbers: Sequence[int], projection: Projection) -> list[dict[str, Any]]:
    """The decisions with these numbers, the newest first."""
    found = decisions_with_events(desk.ledger, desk.name, numbers)
    return [_line(row, about, projection) for row, about in reversed([*found])]


def _line(row: Row, about: list[Row], projection: Projection) -> dict[str, Any]:
    """One decision, with what was recorded about it and not withdrawn."""
    event, body = row.event, row.event.body
    probability = dict(zip(body["candidates"], body["probabilities"], strict=True))
    reviews = [other for other in about if other.kind == "review"]
    own = [other for other in reviews if subject_of(other.event.body) == "desk"]
    action = action_of(body, about) if body.get("shadow") else None
    flags = [one.seq for one in own if one.event.body["unfair"] or one.event.body["any_unfair"]]
    flagged = body["number"] in projection.bandit.safeguards.flagged_rounds
    rewards: dict[str, float] = {}
    for other in about:
        if other.kind == "outcome":
            rewards |= other.event.body["rewards"]
    return {
        "id": event.id,
        "number": body["number"],
        "time": event.time,
        "candidates": len(probability),
        "chosen": [
            {"id": name, "probability": probability[name], "reward": rewards.get(name)}
            for name in (body["chosen"] if action is None else action["chosen"])
        ],
        # By the system in force: `chosen` is then what it did, null if that is not known, with the desk's chances.
        "shadow": bool(body.get("shadow")),
        "told": action is not None,
        "binding": len(body["tight_pairs"]),
        "reviews": len(reviews),
        "flagged": flagged,
        # Somebody called it unfair, and the bandit, which has learned from that review, does not count it.
        "uncounted": not flagged and any(seq <= projection.seq for seq in flags),
        "overridden": any(other.kind == "override" for other in about),
    }


# The table.


def decisions_csv(ledger: Ledger, desk: str, settings: DeskSettings) -> Iterator[str]:
    """The table in pieces of text, the first with the header line."""
    names = list(settings.features or [f"feature {i + 1}" for i in range(settings.n_features)])
    yield _text([[*COLUMNS, *names]])
    found = decisions_with_events(ledger, desk, range(ledger.head(desk).decisions))
    while some := list(islice(found, CHUNK)):
        yield _text([line for row, about in some for line in _rows(row, about, settings, names)])


def _rows(decision: Row, later: Sequence[Row], settings: DeskSettings, names: Sequence[str]) -> Iterator[list[Any]]:
    """One row per candidate of a decision."""
    event, body = decision.event, decision.event.body
    bodies = [(row.kind, row.event.body) for row in later]
    rewards = {name: reward for kind, one in bodies if kind == "outcome" for name, reward in one["rewards"].items()}
    reviews = [one for kind, one in bodies if kind == "review" and subject_of(one) == "desk"]
    overrides = [one["chosen"] for kind, one in bodies if kind == "override"]
    action = action_of(body, later) if body.get("shadow") else None
    overrides += [] if action is None else [action["chosen"]]  # what was really done
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
