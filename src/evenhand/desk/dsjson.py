"""A ledger as DSJSON, the format of Vowpal Wabbit: outcomes are labels; reviews and overrides are extra fields."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from evenhand.desk.opening import settings_in
from evenhand.desk.settings import DeskSettings
from evenhand.desk.shadow import action_of, treatment_of
from evenhand.ledger.event import Row
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.verify import verify

CHUNK = 500


def to_dsjson(ledger: Ledger, desk: str) -> Iterator[str]:
    """DSJSON lines of all decisions: cost = -reward, with the probabilities they were drawn with.

    "a" lists the candidates from 1, the chosen one first, "p" their probabilities in that order. A decision that chose
    several has a line for each of them; one without an outcome has no label, and Vowpal Wabbit learns nothing from it;
    one that chose nobody is marked to be skipped. Outcomes after an override are no labels, since their probabilities
    are unknown, nor are those of a decision with somebody who was erased. The extra key "evenhand" has the ids, the
    standing reviews, the overrides, and the tight pairs. Of a decision in shadow mode the line has what was really
    done, with the system's probabilities; it is skipped if those are not known. What the desk would have played is in
    the extra key.
    DamagedLedger, before the first line, if the ledger is not what was written.
    """
    verify(ledger, desk)
    with ledger.reading(desk) as view:
        head, withdrawn = view.head, {review for _, review in view.withdrawals()}
        names = names_of(settings_in(view))
    for at in range(0, head.decisions, CHUNK):
        with ledger.reading(desk) as view:
            decisions = view.by_number(range(at, min(at + CHUNK, head.decisions)))
            about = view.about([row.id for row in decisions.values()])
        later: dict[str, list[Row]] = defaultdict(list)
        for row in about:
            if row.seq not in withdrawn:
                later[row.target or ""].append(row)
        for number in sorted(decisions):
            yield from _lines(decisions[number], later[decisions[number].id], names)


def names_of(settings: DeskSettings) -> list[str]:
    """The names of a context's coordinates, or their indices.

    Vowpal Wabbit skips names that begin with an underscore, so those get a prefix.

    >>> names_of(DeskSettings.create(features=["income", "_debt"])), names_of(DeskSettings.create(n_features=2))
    (['income', 'feature _debt'], ['0', '1'])
    """
    if settings.schema is not None:
        names = list(settings.schema.coordinates)
    else:
        names = list(settings.features or map(str, range(settings.n_features)))
    return [f"feature {name}" if name.startswith("_") else name for name in names]


def _lines(decision: Row, later: Sequence[Row], names: list[str]) -> Iterator[str]:
    proposed, event = decision.event.body, decision.event
    body, extra = (proposed, {}) if not proposed.get("shadow") else _really_done(proposed, later)
    overrides = [row for row in later if row.kind == "override"]
    first = overrides[0].seq if overrides else None
    is_whole = "erased" not in body
    outcomes = [row for row in later if row.kind == "outcome" and is_whole and (first is None or row.seq < first)]
    common = {
        "Timestamp": f"{event.time[:26]}Z",
        "Version": "1",
        "c": {"_multi": [{"x": dict(zip(names, context or (), strict=bool(context)))} for context in body["contexts"]]},
        "VWState": {"m": f"evenhand {body['code']} {body['state']}"},
        "evenhand": {
            "desk": event.desk,
            "decision": event.id,
            "candidates": body["candidates"],
            "tight_pairs": body["tight_pairs"],
            "reviews": [{"id": row.id, **row.event.body} for row in later if row.kind == "review"],
            "overrides": [{"id": row.id, **row.event.body} for row in overrides],
            **extra,
        },
    }
    for name in body["chosen"]:
        yield orjson.dumps({**_drawn(event.id, body, name, outcomes), **common}).decode()
    if not body["chosen"]:
        actions = [i + 1 for i in range(len(body["candidates"]))]
        skipped = {"_skipLearn": True, "EventId": event.id, "a": actions, "p": body["probabilities"]}
        yield orjson.dumps({**skipped, **common}).decode()


def _really_done(proposed: dict[str, Any], later: Sequence[Row]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The body of a shadow decision with what the system in force did, and what the desk would have done."""
    action = action_of(proposed, later)
    extra = {"shadow": True, "probabilities": proposed["probabilities"], "action": action}
    extra["would_choose"] = proposed["would_choose"]
    if action is None:
        return proposed, extra
    chosen = action["chosen"] if "probabilities" in action else []
    return {**proposed, "chosen": chosen, "probabilities": treatment_of(action, proposed["candidates"])}, extra


def _drawn(event: str, body: dict[str, Any], name: str, outcomes: Sequence[Row]) -> dict[str, Any]:
    """The fields of a line that are about the candidate drawn."""
    chosen, probabilities = body["candidates"].index(name), body["probabilities"]
    order = [chosen, *(i for i in range(len(probabilities)) if i != chosen)]
    rewards = [(row.id, row.event.body["rewards"]) for row in outcomes]
    observed = [(outcome, values[name]) for outcome, values in rewards if name in values]
    label: dict[str, Any] = {}
    if observed:
        label = {
            "_label_cost": -observed[0][1],
            "_label_probability": probabilities[chosen],
            "_label_Action": chosen + 1,
            "_labelIndex": chosen,
            "o": [{"EventId": outcome, "v": reward} for outcome, reward in observed],
        }
    event_id = {"EventId": f"{event}/{chosen}" if len(body["chosen"]) > 1 else event}
    return {**label, **event_id, "a": [i + 1 for i in order], "p": [probabilities[i] for i in order]}
