"""Visibility: what a reviewer may see and withdraw.

Reviews are worth something only if they are independent. So a caller with no role but review sees neither the answers
of other reviewers, nor how many of them were flags, nor what the desk has learned: not the metric, and not which pairs
were tight, for the gap of those is the distance that was used. Probabilities stay in a decision's record: it cannot be
reviewed as a whole without them. Nor does she get a digest of anything that contains hidden attributes: a guess at one
of few values could be verified with it. As every hash of a ledger covers all events before, she gets none. Admins see
everything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.errors import UnknownRecord
from evenhand.review.display import features_of, shown_and_hidden
from evenhand.schema import Schema
from evenhand.service.problems import Problem

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk
    from evenhand.desk.settings import DeskSettings
    from evenhand.ledger.waiting_pairs import WaitingPair
    from evenhand.service.authentication import Caller

WITHDRAWABLE = ("review", "answer", "imported")
PAIR_FIELDS = ("decision", "first", "second", "gap", "copy", "subject")
"""What a reviewer sees of a waiting pair: not why it waits, nor how the desk would answer."""
FROM_ALL_ATTRIBUTES = (
    "contexts",
    "estimated_rewards",
    "optimistic_rewards",
    "scores",
    "left_out",
    "counted_as",
    "worst_residual",
    "seal",
    "schema",
)
"""Parts of a decision's record that are computed from all attributes, or quote them, hidden ones too."""
OF_THE_METRIC = ("distance", "bound", "limited the")
"""Words of the sentences of an explanation that say what was learned, or of how many pairs."""
DIGESTS = ("previous", "hash", "request")
"""Digests of an event, of those before it, and of the command that made it."""
FROM_ALL_FEATURES = ("seed", "n_features", "bound", "prior", "reward")
"""Settings that count features, hidden ones too; and the seed."""
LINE_FIELDS = ("id", "number", "time", "candidates", "chosen", "overridden", "shadow", "told")
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
        **_without_digests(record),
        "body": {**_without_hidden(record["body"], settings), "tight_pairs": []},
        "followed_by": [_visible_event(event, hides=hides) for event in events],
    }
    return {**decision, "record": visible, "explanation": _visible_explanation(decision["explanation"], hides=hides)}


def visible_settings(caller: Caller, settings: DeskSettings) -> dict[str, Any]:
    """The settings of a desk without the seed; for a reviewer as if it had no hidden attributes or carried columns."""
    content, hidden, schema = settings.to_dict(with_model=False), settings.reviewing.hidden, settings.schema
    content["reward"] = settings.reward.shown()
    left_out: tuple[str, ...] = ("seed",)
    if only_reviews(caller):
        left_out = FROM_ALL_FEATURES if hidden else ("seed", "prior")  # she must not see the metric
        content["reviewing"] = _visible_rules(content["reviewing"], hidden)
        if settings.features is not None:
            content["features"] = [name for name in settings.features if name not in hidden]
        if schema is not None:
            shown = [feature for feature in schema.features if feature.name not in hidden]
            content["schema"] = Schema(shown, intercept=schema.intercept).to_dict() if shown else None
    return {name: value for name, value in content.items() if name not in left_out}


def _visible_rules(rules: dict[str, Any], hidden: Sequence[str]) -> dict[str, Any]:
    """The rules of reviewing without the names of hidden attributes."""
    groups = {title: [name for name in names if name not in hidden] for title, names in rules["groups"].items()}
    far_apart = {name: most for name, most in rules["far_apart"].items() if name not in hidden}
    visible = {**rules, "groups": {title: names for title, names in groups.items() if names}, "far_apart": far_apart}
    return {name: value for name, value in visible.items() if name != "hidden"}


def visible_head(caller: Caller, head: str) -> str | None:
    """The hash of a ledger's last event; None for a reviewer."""
    return None if only_reviews(caller) else head


def check_sees_all_attributes(caller: Caller, settings: DeskSettings) -> None:
    """Refuse a reviewer of a desk that hides attributes: an error would name those that are missing, or count them."""
    if only_reviews(caller) and settings.reviewing.hidden:
        raise Problem(
            "forbidden", "this needs all attributes, and reviewers of this desk do not see all; an admin can do it"
        )


def _without_digests(event: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name not in DIGESTS}


def _visible_event(event: dict[str, Any], *, hides: bool) -> dict[str, Any]:
    """An event about a decision. hides: then without the scores of another system and what deciders wrote.

    Scores are computed from all attributes, and a reason may quote any.
    """
    visible = _without_metadata(_without_digests(event))
    if not hides or event["kind"] not in ("action", "override"):
        return visible
    body = {name: value for name, value in visible["body"].items() if name not in ("scores", "reason")}
    return {**visible, "body": body}


def _without_metadata(event: dict[str, Any]) -> dict[str, Any]:
    """A review without what was recorded beside it for others: what was hidden, and why the desk asked."""
    metadata = event["body"].get("circumstances")
    if not isinstance(metadata, dict):
        return event
    visible = {name: value for name, value in metadata.items() if name != "hidden"}
    if isinstance(metadata.get("queue"), dict):
        visible["queue"] = {name: metadata["queue"][name] for name in ("reason", "place") if name in metadata["queue"]}
    return {**event, "body": {**event["body"], "circumstances": visible}}


def _visible_explanation(explanation: dict[str, Any], *, hides: bool) -> dict[str, Any]:
    """An explanation without what was learned about pairs.

    hides: whether attributes are hidden from reviewers; then without rewards, which were estimated from those as well.
    """
    visible = {**explanation, "binding_pairs": []}
    if hides:
        rows = [{name: row[name] for name in ("id", "probability", "chosen")} for row in explanation["candidates"]]
        action = explanation["action"]
        if action is not None:
            action = {name: value for name, value in action.items() if name not in FROM_ALL_ATTRIBUTES}
        shown = {name: visible[name] for name in visible if name not in ("price", *FROM_ALL_ATTRIBUTES)}
        return {**shown, "candidates": rows, "sentences": [], "action": action}
    sentences = [text for text in explanation["sentences"] if not any(words in text for words in OF_THE_METRIC)]
    return {**visible, "sentences": sentences}


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
        latest = [_visible_line(line) for line in parts["desk"]["latest"]]
        rounds = {name: part for name, part in parts["desk"]["rounds"].items() if name != "flagged"}
        parts["desk"] = {**parts["desk"], "hash": None, "latest": latest, "rounds": rounds}
    return parts


def visible_lines(caller: Caller, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Lines of the list of decisions, as far as the caller may see them."""
    return [_visible_line(line) for line in lines] if only_reviews(caller) else lines


def _visible_line(line: dict[str, Any]) -> dict[str, Any]:
    visible = {name: line[name] for name in LINE_FIELDS}
    return {**visible, "chosen": [{"id": one["id"], "reward": one["reward"]} for one in line["chosen"]]}
