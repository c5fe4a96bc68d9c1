"""A ledger as DSJSON, the format of Vowpal Wabbit: outcomes are labels; reviews and overrides are extra fields."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from evenhand.adapters.dsjson_lines import DsjsonRound, Form, checked_names, lines_of
from evenhand.desk.event_records import decisions_with_events
from evenhand.desk.opening import settings_in
from evenhand.desk.settings import DeskSettings
from evenhand.desk.shadow import action_of, treatment_of
from evenhand.errors import InvalidInput
from evenhand.ledger.event import Row
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.verify import verify


def to_dsjson(ledger: Ledger, desk: str, form: Form = "cb") -> Iterator[str]:
    """DSJSON lines of all decisions: cost = -reward, with the probabilities they were drawn with.

    form: see `dsjson_lines.lines_of`. In "cb", "a" lists the candidates from 1, the chosen one first, "p" their
    probabilities in that order. A decision that chose several has a line for each of them; one without an outcome has
    no label, and Vowpal Wabbit learns nothing from it; one that chose nobody is marked to be skipped. Outcomes after an
    override are no labels, since their probabilities are unknown, nor are those of a decision with somebody who was
    erased. The extra key "evenhand" has the ids, the standing reviews, the overrides, and the tight pairs. Of a
    decision in shadow mode the line has what was really done, with the system's probabilities; it is skipped if those
    are not known. What the desk would have played is in the extra key.
    DamagedLedger, before the first line, if the ledger is not what was written.
    """
    verify(ledger, desk)
    with ledger.reading(desk) as view:
        head, settings = view.head, settings_in(view)
    if settings.mode == "shares":
        raise InvalidInput(f"desk {desk!r} has mode 'shares': it draws nobody, and DSJSON has draws")
    if form == "slates" and settings.capacity is not None:
        raise InvalidInput(f"slates need a desk without a capacity, got capacity {settings.capacity}: use ccb")
    for row, later in decisions_with_events(ledger, desk, range(head.decisions)):
        model = {"m": f"evenhand {row.event.body['code']} {row.event.body['state']}"}
        for line in lines_of(_round(row, later, settings), form):
            yield orjson.dumps({**line, "VWState": model}).decode()


def names_of(settings: DeskSettings) -> list[str]:
    """The names of a context's coordinates, or their indices, as Vowpal Wabbit uses them.

    >>> names_of(DeskSettings.create(features=["income", "_debt"])), names_of(DeskSettings.create(n_features=2))
    (['income', 'feature _debt'], ['0', '1'])
    """
    if settings.schema is not None:
        return checked_names(settings.schema.coordinates)
    return checked_names(settings.features or list(map(str, range(settings.n_features))))


def _round(decision: Row, later: Sequence[Row], settings: DeskSettings) -> DsjsonRound:
    """A decision with its outcomes up to an override; none if somebody was erased."""
    proposed, event, names = decision.event.body, decision.event, names_of(settings)
    body, shadow = (proposed, {}) if not proposed.get("shadow") else _really_done(proposed, later)
    overrides = [row for row in later if row.kind == "override"]
    first = overrides[0].seq if overrides else None
    is_whole = "erased" not in body
    outcomes = [row for row in later if row.kind == "outcome" and is_whole and (first is None or row.seq < first)]
    places = {name: at for at, name in enumerate(body["candidates"])}
    observed: dict[int, list[tuple[str, float]]] = defaultdict(list)
    for row in outcomes:
        for name, reward in row.event.body["rewards"].items():
            if name in body["chosen"]:
                observed[places[name]].append((row.id, reward))
    extra = {
        "desk": event.desk,
        "decision": event.id,
        "candidates": body["candidates"],
        "tight_pairs": body["tight_pairs"],
        "reviews": [{"id": row.id, **row.event.body} for row in later if row.kind == "review"],
        "overrides": [{"id": row.id, **row.event.body} for row in overrides],
        **shadow,
    }
    return DsjsonRound(
        event.id,
        tuple(dict(zip(names, context or (), strict=bool(context))) for context in body["contexts"]),
        tuple(places[name] for name in body["chosen"]),
        tuple(body["probabilities"]),
        {place: events[0][1] for place, events in observed.items()},
        body["capacity"],
        tuple(body["candidates"]),
        time=f"{event.time[:26]}Z",
        is_known=is_whole and not overrides and (not shadow or "probabilities" in (shadow["action"] or ())),
        extra=extra,
        observed=observed,
    )


def _really_done(proposed: dict[str, Any], later: Sequence[Row]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The body of a shadow decision with what the system in force did, and what the desk would have done."""
    action = action_of(proposed, later)
    extra = {"shadow": True, "probabilities": proposed["probabilities"], "action": action}
    extra["would_choose"] = proposed["would_choose"]
    if action is None:
        return proposed, extra
    chosen = action["chosen"] if "probabilities" in action else []
    return {**proposed, "chosen": chosen, "probabilities": treatment_of(action, proposed["candidates"])}, extra
