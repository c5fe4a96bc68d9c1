"""Decisions of a desk in a line each: who was chosen, at what odds, what came of it, what was said of it.

The newest are part of the window; a page of older ones, or of those that were called unfair, is asked for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk
    from evenhand.desk.projection.projection import Projection
    from evenhand.ledger.ledger import Head, Row

SHOWN = 12
PAGE = 25
"""Decisions on a page that is asked for."""


def latest_of(desk: Desk, head: Head, state: Projection) -> list[dict[str, Any]]:
    """The newest first; what counts as called unfair is what `state` counts."""
    return lines_of(desk, range(max(0, head.decisions - SHOWN), head.decisions), state)


def page_of(desk: Desk, *, before: int | None, flagged: bool) -> dict[str, Any]:
    """Decisions with numbers below `before`, the newest without it; of all, or of those called unfair.

    lines: the newest first. older, newer: what to ask for as `before` to go on; newer is None where the page after it
    is the first. is_first: there is none newer. of: how many there are in all. Only the decisions on the page are read,
    by their numbers, however many there are.
    """
    state = desk.projection
    numbers: Sequence[int] = _called_unfair(state) if flagged else range(desk.head.decisions)
    end = len(numbers) if before is None else bisect_left(numbers, before)
    start, later = max(0, end - PAGE), end + PAGE
    return {
        "lines": lines_of(desk, numbers[start:end], state),
        "older": numbers[start] if start else None,
        "newer": numbers[later] if later < len(numbers) else None,
        "is_first": end == len(numbers),
        "of": len(numbers),
    }


def _called_unfair(state: Projection) -> list[int]:
    """The numbers of the decisions that count as called unfair, in order."""
    return sorted(state.bandit.safeguards.flagged_rounds)


def lines_of(desk: Desk, numbers: Sequence[int], state: Projection) -> list[dict[str, Any]]:
    """The decisions with these numbers, the newest first."""
    with desk.ledger.reading(desk.name) as view:
        decisions = view.by_number(numbers)
        about = view.about([row.id for row in decisions.values()])
        later = view.about([row.id for row in about if row.kind == "review"])
    gone = {row.undoes for row in (*about, *later) if row.undoes is not None}
    of: dict[str, list[Row]] = {}
    for row in about:
        if row.seq not in gone:
            of.setdefault(row.target or "", []).append(row)
    newest = [decisions[number] for number in sorted(decisions, reverse=True)]
    return [line_of(row, of.get(row.id, []), state) for row in newest]


def line_of(row: Row, about: list[Row], state: Projection) -> dict[str, Any]:
    """One decision, given what was recorded about it and not taken back."""
    event, body = row.event, row.event.body
    odds = dict(zip(body["candidates"], body["probabilities"], strict=True))
    reviews = [other for other in about if other.kind == "review"]
    flagged = body["number"] in state.bandit.safeguards.flagged_rounds
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
        "flagged": flagged,
        # Somebody called it unfair, and the bandit, which has heard of it, does not count that.
        "uncounted": not flagged and any(_is_flag(review) and review.seq <= state.seq for review in reviews),
        "overridden": any(other.kind == "override" for other in about),
    }


def _is_flag(review: Row) -> bool:
    said = review.event.body
    return bool(said["unfair"] or said["any_unfair"])
