"""A reviewer's own: in whose name she answers, what she may take back, and what others said that she must not see.

Judgements are worth something only if they are independent. So whoever has the role review and no other is shown
neither what other reviewers answered nor what the desk has learned about a pair: not the metric, and not which pairs
bound the odds, for the gap between those is the distance that was played. The odds of a decision stay in its record,
since nobody could review it as a whole without them. Admins see everything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenhand.errors import UnknownRecord
from evenhand.review.display import features_of, shown_and_hidden
from evenhand.service.problems import Problem

if TYPE_CHECKING:
    from evenhand.desk.settings import DeskSettings
    from evenhand.ledger.event import Event
    from evenhand.ledger.waiting_pairs import WaitingPair
    from evenhand.service.asked import Caller
    from evenhand.service.call import Call

JUDGED = ("review", "answer", "imported")
SHOWN_OF_A_PAIR = ("decision", "first", "second", "gap", "copy")
"""What a reviewer is told of a pair that waits: not why it waits, nor how the desk would answer."""
MADE_OF_ALL = ("contexts", "estimated_rewards", "optimistic_rewards")
"""What in a decision's record is made of all attributes, the hidden ones too."""
SHOWN_OF_A_LINE = ("id", "number", "time", "candidates", "chosen", "overridden")
"""What a reviewer is told of the latest decisions: neither odds nor what was said of them."""


def only_reviews(caller: Caller) -> bool:
    """Whether somebody has the role review and no other.

    >>> from evenhand.service.asked import Caller
    >>> [only_reviews(Caller("Kim", roles)) for roles in (("review",), ("decide", "review"), ("admin",))]
    [True, False, False]
    """
    return set(caller.roles) == {"review"}


def name_of(caller: Caller, given: str | None) -> str:
    """In whose name something is said: the caller's own; an admin may name somebody else."""
    if given is None or given == caller.name or "admin" in caller.roles:
        return caller.name if given is None else given
    raise Problem(
        "forbidden",
        f"reviewer is {given!r}; a token speaks in its own name, {caller.name!r}: leave reviewer out",
    )


async def check_own(call: Call, review: str) -> None:
    """A Problem if a review, an answer or an imported line is not the caller's own, unless an admin asks.

    Whoever must not see what others answered is told the same as of a review that was never given.
    """
    if "admin" in call.caller.roles:
        return
    desk = (await call.service.desks.get(call.desk)).desk
    try:
        event: Event = await asyncio.to_thread(desk.event, review)
    except UnknownRecord:
        return  # whoever records it says so
    is_own = _is_own_import if event.kind == "imported" else _is_own
    if event.kind not in JUDGED or is_own(call.caller, event.actor, event.body):
        return
    if only_reviews(call.caller):
        raise Problem("not-found", f"this desk's ledger holds no review {review!r}")
    raise Problem("forbidden", f"review {review!r} was given by somebody else; they or an admin may take it back")


def _is_own(caller: Caller, actor: str, body: Mapping[str, Any]) -> bool:
    """Whether it was given by this token, or in its name; what came from another ledger, in its name alone."""
    return caller.name in (None if "origins" in body else actor, body.get("reviewer"))


def _is_own_import(caller: Caller, actor: str, body: Mapping[str, Any]) -> bool:
    """Whether an imported line says nothing but what was reviewed in this token's name: no outcome would go with it."""
    return not body["rewards"] and {review["reviewer"] for review in body["reviews"]} == {caller.name}


def pair_for(caller: Caller, pair: WaitingPair) -> dict[str, Any]:
    """A pair that waits, as far as the caller may know it."""
    told = pair.to_dict()
    return {name: told[name] for name in SHOWN_OF_A_PAIR} if only_reviews(caller) else told


def decision_for(caller: Caller, told: dict[str, Any], settings: DeskSettings) -> dict[str, Any]:
    """A decision's record and explanation, as far as the caller may know them."""
    if not only_reviews(caller):
        return told
    record, hides = told["record"], bool(settings.reviewing.hidden)
    lines = _own_lines(caller, record["followed_by"])
    seen = {
        **(_without_hashes(record) if hides else record),
        "body": {**_without_hidden(record["body"], settings), "tight_pairs": []},
        "followed_by": [_without_hashes(line) for line in lines] if hides else lines,
    }
    return {**told, "record": seen, "explanation": _explained(told["explanation"], hides=hides)}


def _without_hashes(line: dict[str, Any]) -> dict[str, Any]:
    """A line without its own hash and the one before: of an attribute with few values they would tell a guess from
    the truth."""
    return {name: value for name, value in line.items() if name not in ("previous", "hash")}


def _explained(explanation: dict[str, Any], *, hides: bool) -> dict[str, Any]:
    """Why these odds, without what was learned of pairs.

    hides: whether attributes are kept from reviewers; then without rewards, which were estimated from those as well.
    """
    told = {**explanation, "binding_pairs": []}
    if hides:
        shares = [{name: one[name] for name in ("id", "probability", "chosen")} for one in explanation["candidates"]]
        return {name: told[name] for name in told if name != "price"} | {"candidates": shares, "sentences": []}
    sentences = (text for text in explanation["sentences"] if "distance" not in text and "bound" not in text)
    return {**told, "sentences": list(sentences)}


def _without_hidden(body: dict[str, Any], settings: DeskSettings) -> dict[str, Any]:
    """A decision without the attributes hidden from reviewers, and without what is made of all attributes.

    What contexts alone were given for is told by name instead, so that the decision can still be reviewed.
    """
    hidden = settings.reviewing.hidden
    if not hidden:
        return body
    rows = features_of(body, body["candidates"], settings)
    shown = [{name: row[name] for name in shown_and_hidden(row, settings, hidden)[0]} for row in rows]
    return {**{name: value for name, value in body.items() if name not in MADE_OF_ALL}, "features": shown}


def _own_lines(caller: Caller, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Outcomes and overrides, the caller's own reviews, and what became of those."""
    own = {line["id"] for line in lines if line["kind"] == "review" and _is_own(caller, line["actor"], line["body"])}
    return [
        line
        for line in lines
        if line["kind"] not in ("review", "withdrawal")
        or line["id"] in own
        or (line["kind"] == "withdrawal" and line["body"]["review"] in own)
    ]


def window_for(caller: Caller, told: dict[str, Any]) -> dict[str, Any]:
    """What the window shows of a desk, as far as the caller may know it."""
    if not only_reviews(caller):
        return told
    parts = {name: part for name, part in told.items() if name not in ("metric", "reviewers")}
    if "desk" in parts:
        parts["desk"] = {**parts["desk"], "latest": lines_for(caller, parts["desk"]["latest"])}
    return parts


def lines_for(caller: Caller, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Decisions in a line each, as far as the caller may know them."""
    return [_without_odds(line) for line in lines] if only_reviews(caller) else lines


def check_may_ask_for_flagged(caller: Caller) -> None:
    """A Problem for whoever only reviews: which decisions others called unfair is not for them."""
    if only_reviews(caller):
        raise Problem("forbidden", "which decisions others called unfair is not shown to reviewers")


def _without_odds(line: dict[str, Any]) -> dict[str, Any]:
    shown = {name: line[name] for name in SHOWN_OF_A_LINE}
    return {**shown, "chosen": [{"id": one["id"], "reward": one["reward"]} for one in line["chosen"]]}
