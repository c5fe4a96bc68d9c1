"""The newest decisions of a desk in a line each: who was chosen, at what odds, what came of it, what was said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk
    from evenhand.desk.ledger import Head, Row

SHOWN = 12


def latest_of(desk: Desk, head: Head) -> list[dict[str, Any]]:
    """The newest first."""
    with desk.ledger.reading(desk.name) as view:
        decisions = view.by_number(range(max(0, head.decisions - SHOWN), head.decisions))
        about = view.about([row.id for row in decisions.values()])
        later = view.about([row.id for row in about if row.kind == "review"])
    gone = {row.undoes for row in (*about, *later) if row.undoes is not None}
    of: dict[str, list[Row]] = {}
    for row in about:
        if row.seq not in gone:
            of.setdefault(row.target or "", []).append(row)
    return [line_of(decisions[number], of.get(decisions[number].id, [])) for number in sorted(decisions, reverse=True)]


def line_of(row: Row, about: list[Row]) -> dict[str, Any]:
    """One decision, given what was recorded about it and not taken back."""
    event, body = row.event, row.event.body
    odds = dict(zip(body["candidates"], body["probabilities"], strict=True))
    reviews = [other.event.body for other in about if other.kind == "review"]
    rewards: dict[str, float] = {}
    for other in about:
        if other.kind == "outcome":
            rewards |= other.event.body["rewards"]
    return {
        "id": event.id,
        "number": body["number"],
        "time": event.time,
        "candidates": len(odds),
        "chosen": [{"id": name, "odds": odds[name], "reward": rewards.get(name)} for name in body["chosen"]],
        "binding": len(body["tight_pairs"]),
        "reviews": len(reviews),
        "flagged": any(said["unfair"] or said["any_unfair"] for said in reviews),
        "overridden": any(other.kind == "override" for other in about),
    }
