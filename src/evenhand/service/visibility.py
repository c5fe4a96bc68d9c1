"""Visibility: what a reviewer may see and withdraw.

Reviews are worth something only if they are independent. So a caller with no role but review sees neither the answers
of other reviewers nor what the desk has learned: not the metric, and not which pairs were tight, for the gap of those
is the distance that was used. Probabilities stay in a decision's record: it cannot be reviewed as a whole without them.
Admins see everything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenhand.errors import UnknownRecord
from evenhand.review.display import features_of, shown_and_hidden
from evenhand.service.problems import Problem

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk
    from evenhand.desk.settings import DeskSettings
    from evenhand.ledger.waiting_pairs import WaitingPair
    from evenhand.service.authentication import Caller

WITHDRAWABLE = ("review", "answer", "imported")
PAIR_FIELDS = ("decision", "first", "second", "gap", "copy")
"""What a reviewer sees of a waiting pair: not why it waits, nor how the desk would answer."""
FROM_ALL_ATTRIBUTES = ("contexts", "estimated_rewards", "optimistic_rewards", "left_out", "counted_as")
"""Parts of a decision's record that are computed from all attributes, or quote them, hidden ones too."""
LINE_FIELDS = ("id", "number", "time", "candidates", "chosen", "overridden")
"""What a reviewer sees in the list of decisions: no probabilities, no reviews."""


def only_reviews(caller: Caller) -> bool:
    """Whether a caller has the role review, and neither decide nor admin.

    >>> from evenhand.service.authentication import Caller
    >>> [only_reviews(Caller("Kim", roles)) for roles in (("review",), ("decide", "review"), ("admin",))]
    [True, False, False]
    """
    return set(caller.roles) - {"audit"} == {"review"}


async def check_own(caller: Caller, desk: Desk, review: str) -> None:
    """Refuse to withdraw a review, an answer or an imported event of somebody else, unless an admin asks.

    Whoever must not see the answers of others gets the same problem as for a review that does not exist.
    """
    if "admin" in caller.roles:
        return
    try:
        event = await asyncio.to_thread(desk.event, review)
    except UnknownRecord:
        return  # the command fails with this error
    is_own = _is_own_import if event.kind == "imported" else _is_own
    if event.kind not in WITHDRAWABLE or is_own(caller, event.actor, event.body):
        return
    if only_reviews(caller):
        raise Problem("not-found", f"this desk's ledger has no review {review!r}")
    raise Problem("forbidden", f"review {review!r} is by somebody else; they or an admin may withdraw it")


def _is_own(caller: Caller, actor: str, body: Mapping[str, Any]) -> bool:
    """Whether it was given with this token, or in its name; an event from another ledger, in its name only."""
    return caller.name in (None if "origins" in body else actor, body.get("reviewer"))


def _is_own_import(caller: Caller, actor: str, body: Mapping[str, Any]) -> bool:
    """Whether an imported event has nothing but reviews in this token's name; outcomes would be withdrawn with them."""
    return not body["rewards"] and {review["reviewer"] for review in body["reviews"]} == {caller.name}


def visible_pair(caller: Caller, pair: WaitingPair) -> dict[str, Any]:
    """A waiting pair, as far as the caller may see it."""
    fields = pair.to_dict()
    return {name: fields[name] for name in PAIR_FIELDS} if only_reviews(caller) else fields


def visible_decision(caller: Caller, decision: dict[str, Any], settings: DeskSettings) -> dict[str, Any]:
    """A decision's record and explanation, as far as the caller may see them."""
    if not only_reviews(caller):
        return decision
    record, hides = decision["record"], bool(settings.reviewing.hidden)
    events = _own_events(caller, record["followed_by"])
    visible = {
        **(_without_hashes(record) if hides or "carried" in record["body"] else record),
        "body": {**_without_hidden(record["body"], settings), "tight_pairs": []},
        "followed_by": [_without_hashes(event) for event in events] if hides else events,
    }
    return {**decision, "record": visible, "explanation": _visible_explanation(decision["explanation"], hides=hides)}


def _without_hashes(event: dict[str, Any]) -> dict[str, Any]:
    """An event without hashes: with them a guess at a hidden attribute of few values could be verified."""
    return {name: value for name, value in event.items() if name not in ("previous", "hash")}


def _visible_explanation(explanation: dict[str, Any], *, hides: bool) -> dict[str, Any]:
    """An explanation without what was learned about pairs.

    hides: whether attributes are hidden from reviewers; then without rewards, which were estimated from those as well.
    """
    visible = {**explanation, "binding_pairs": []}
    if hides:
        rows = [{name: row[name] for name in ("id", "probability", "chosen")} for row in explanation["candidates"]]
        return {name: visible[name] for name in visible if name != "price"} | {"candidates": rows, "sentences": []}
    sentences = (text for text in explanation["sentences"] if "distance" not in text and "bound" not in text)
    return {**visible, "sentences": list(sentences)}


def _without_hidden(body: dict[str, Any], settings: DeskSettings) -> dict[str, Any]:
    """A decision without the attributes hidden from reviewers, and without what is computed from all attributes.

    Candidates that came as contexts get their visible attributes by name, so that the decision can be reviewed.
    """
    hidden = settings.reviewing.hidden
    body = {name: value for name, value in body.items() if name != "carried"}  # no reviewer sees what is not used
    if not hidden:
        return body
    rows = features_of(body, body["candidates"], settings)
    shown = [{name: row[name] for name in shown_and_hidden(row, settings, hidden)[0]} for row in rows]
    return {**{name: value for name, value in body.items() if name not in FROM_ALL_ATTRIBUTES}, "features": shown}


def _own_events(caller: Caller, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Outcomes and overrides, the caller's own reviews, and their withdrawals."""
    own = {
        event["id"] for event in events if event["kind"] == "review" and _is_own(caller, event["actor"], event["body"])
    }
    return [
        event
        for event in events
        if event["kind"] not in ("review", "withdrawal")
        or event["id"] in own
        or (event["kind"] == "withdrawal" and event["body"]["review"] in own)
    ]


def visible_overview(overview: dict[str, Any], *, to_reviewers: bool) -> dict[str, Any]:
    """The parts of a dashboard that the caller may see."""
    if not to_reviewers:
        return overview
    parts = {name: part for name, part in overview.items() if name not in ("metric", "reviewers")}
    if "desk" in parts:
        parts["desk"] = {**parts["desk"], "latest": [_visible_line(line) for line in parts["desk"]["latest"]]}
    return parts


def visible_lines(caller: Caller, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Lines of the list of decisions, as far as the caller may see them."""
    return [_visible_line(line) for line in lines] if only_reviews(caller) else lines


def _visible_line(line: dict[str, Any]) -> dict[str, Any]:
    visible = {name: line[name] for name in LINE_FIELDS}
    return {**visible, "chosen": [{"id": one["id"], "reward": one["reward"]} for one in line["chosen"]]}
