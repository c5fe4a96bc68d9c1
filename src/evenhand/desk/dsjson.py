"""A ledger as Vowpal Wabbit's DSJSON lines: outcomes are labels, reviews and overrides ride along."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from evenhand.desk.opening import settings_in
from evenhand.desk.settings import DeskSettings
from evenhand.ledger.ledger import Ledger, Row
from evenhand.ledger.verify import verify

CHUNK = 500


def to_dsjson(ledger: Ledger, desk: str) -> Iterator[str]:
    """DSJSON lines of all decisions: cost = -reward, odds as they were played.

    "a" lists the candidates from 1, the chosen one first, "p" their odds in that order. A decision that chose several
    makes a line for each of them; one without an outcome has no label, and Vowpal Wabbit learns nothing from it; one
    that chose nobody is marked to be skipped. Outcomes that came after an override are no labels: their odds are not
    known. Under the extra key "evenhand" ride the ids, the reviews that were not taken back, the overrides, and the
    pairs that bound the odds. DamagedLedger, before the first line, if the ledger is not what was written.
    """
    verify(ledger, desk)
    with ledger.reading(desk) as view:
        head, gone, settings = view.head, {review for _, review in view.withdrawals()}, settings_in(view)[1]
    names = names_of(settings)
    for at in range(0, head.decisions, CHUNK):
        with ledger.reading(desk) as view:
            decisions = view.by_number(range(at, min(at + CHUNK, head.decisions)))
            about = view.about([row.id for row in decisions.values()])
        later: dict[str, list[Row]] = defaultdict(list)
        for row in about:
            if row.seq not in gone:
                later[row.target or ""].append(row)
        for number in sorted(decisions):
            yield from _lines(decisions[number], later[decisions[number].id], names)


def names_of(settings: DeskSettings) -> list[str]:
    """The names of a context's coordinates; without any, their places.

    Vowpal Wabbit passes over names that begin with an underscore, so those get a word before them.

    >>> names_of(DeskSettings.create(features=["income", "_debt"])), names_of(DeskSettings.create(n_features=2))
    (['income', 'feature _debt'], ['0', '1'])
    """
    if settings.schema is not None:
        names = list(settings.schema.coordinates)
    else:
        names = list(settings.features or map(str, range(settings.n_features)))
    return [f"feature {name}" if name.startswith("_") else name for name in names]


def _lines(decision: Row, later: Sequence[Row], names: list[str]) -> Iterator[str]:
    body, event = decision.event.body, decision.event
    overrides = [row for row in later if row.kind == "override"]
    first = overrides[0].seq if overrides else None
    outcomes = [row for row in later if row.kind == "outcome" and (first is None or row.seq < first)]
    told = {
        "Timestamp": f"{event.time[:26]}Z",
        "Version": "1",
        "c": {"_multi": [{"x": dict(zip(names, context, strict=True))} for context in body["contexts"]]},
        "VWState": {"m": f"evenhand {body['code']} {body['state']}"},
        "evenhand": {
            "desk": event.desk,
            "decision": event.id,
            "candidates": body["candidates"],
            "tight_pairs": body["tight_pairs"],
            "reviews": [{"id": row.id, **row.event.body} for row in later if row.kind == "review"],
            "overrides": [{"id": row.id, **row.event.body} for row in overrides],
        },
    }
    for name in body["chosen"]:
        yield orjson.dumps({**_drawn(event.id, body, name, outcomes), **told}).decode()
    if not body["chosen"]:
        every = [i + 1 for i in range(len(body["candidates"]))]
        skipped = {"_skipLearn": True, "EventId": event.id, "a": every, "p": body["probabilities"]}
        yield orjson.dumps({**skipped, **told}).decode()


def _drawn(event: str, body: dict[str, Any], name: str, outcomes: Sequence[Row]) -> dict[str, Any]:
    """What a line says of the candidate who was drawn."""
    chosen, odds = body["candidates"].index(name), body["probabilities"]
    order = [chosen, *(i for i in range(len(odds)) if i != chosen)]
    rewards = [(row.id, row.event.body["rewards"]) for row in outcomes]
    seen = [(outcome, told[name]) for outcome, told in rewards if name in told]
    label: dict[str, Any] = {}
    if seen:
        label = {
            "_label_cost": -seen[0][1],
            "_label_probability": odds[chosen],
            "_label_Action": chosen + 1,
            "_labelIndex": chosen,
            "o": [{"EventId": outcome, "v": reward} for outcome, reward in seen],
        }
    several = len(body["chosen"]) > 1
    named = {"EventId": f"{event}/{chosen}" if several else event}
    return {**label, **named, "a": [i + 1 for i in order], "p": [odds[i] for i in order]}
