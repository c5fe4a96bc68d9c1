"""A ledger as Vowpal Wabbit's DSJSON lines: one a decision, with outcomes as labels and reviews riding along."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from evenhand.desk.ledger import Ledger, Row
from evenhand.desk.verify import verify

CHUNK = 500


def to_dsjson(ledger: Ledger, desk: str) -> Iterator[str]:
    """DSJSON lines of all decisions that chose somebody: cost = -reward, odds as they were played.

    "a" lists the candidates from 1, the chosen one first, "p" their odds in that order. A decision that chose several
    makes a line for each of them; one without an outcome has no label, and Vowpal Wabbit learns nothing from it.
    Under the extra key "evenhand" ride the ids, the reviews that were not taken back, and the pairs that bound the
    odds. DamagedLedger, before the first line, if the ledger is not what was written.
    """
    verify(ledger, desk)
    with ledger.reading(desk) as view:
        head, gone = view.head, {review for _, review in view.undone()}
    for at in range(0, head.decisions, CHUNK):
        with ledger.reading(desk) as view:
            decisions = view.by_number(range(at, min(at + CHUNK, head.decisions)))
            about = view.about([row.id for row in decisions.values()])
        later: dict[str, list[Row]] = defaultdict(list)
        for row in about:
            if row.seq not in gone:
                later[row.target or ""].append(row)
        for number in sorted(decisions):
            yield from _lines(decisions[number], later[decisions[number].id])


def _lines(decision: Row, later: Sequence[Row]) -> Iterator[str]:
    body, event = decision.event.body, decision.event
    outcomes = [(row, row.event.body["rewards"]) for row in later if row.kind == "outcome"]
    riding = {
        "desk": event.desk,
        "decision": event.id,
        "candidates": body["candidates"],
        "tight_pairs": body["tight_pairs"],
        "reviews": [{"id": row.id, **row.event.body} for row in later if row.kind == "review"],
    }
    for name in body["chosen"]:
        seen = [(row.id, rewards[name]) for row, rewards in outcomes if name in rewards]
        yield orjson.dumps(_line(event.id, event.time, body, name, seen, riding)).decode()


def _line(
    event: str, time: str, body: dict[str, Any], name: str, seen: list[tuple[str, float]], riding: dict[str, Any]
) -> dict[str, Any]:
    chosen, odds = body["candidates"].index(name), body["probabilities"]
    order = [chosen, *(i for i in range(len(odds)) if i != chosen)]
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
    return {
        **label,
        "Timestamp": f"{time[:26]}Z",
        "Version": "1",
        "EventId": f"{event}/{chosen}" if several else event,
        "a": [i + 1 for i in order],
        "c": {"_multi": [{"x": {str(at): value for at, value in enumerate(row)}} for row in body["contexts"]]},
        "p": [odds[i] for i in order],
        "VWState": {"m": f"evenhand {body['code']} {body['state']}"},
        "evenhand": riding,
    }
