"""Sealing: what in a new event is about people, and so is kept beside its text, where it can be erased.

Ids, probabilities, who was chosen, rewards and verdicts stay in the text: the record of what was decided, under
pseudonyms. Free text may name anybody whom the event is about: it is theirs together, and goes when one of them does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.ledger.contents import ToSeal
from evenhand.records.review_metadata import FIELDS

Body = dict[str, Any]
Sealed = tuple[Sequence[str], Sequence[ToSeal]]
"""The columns and the contents of an event."""

COLUMNS = ("contexts", "features", "carried", "estimated_rewards", "optimistic_rewards", "scores")
"""Fields with a value for each candidate. Estimates are functions of a context: a few of them would reveal it; so are
the scores of another system."""
LISTS = ("counted_as", "left_out")
"""Fields with entries that are each about the candidate of their id."""
JOINT = ("seal", "source")
"""Fields that are about all candidates: a signature of their contexts, and whatever a record came with."""
FREE_TEXT = ("reason", "note")
"""Fields of review metadata, besides all that have no meaning here, that people write into."""


def sealed(kind: str, body: Body, about: Sequence[str], name: str) -> tuple[Body, Sealed | None]:
    """The body of an event's text, and what is kept beside it, if anything.

    about: the people whom free text may be about. name: the event's id, which an answer about nobody known belongs to.
    """
    if kind in ("decision", "imported"):
        return _of_candidates(body)
    if kind == "answer":
        fields = {field: body[field] for field in ("x", "y", "circumstances")}
        plain = {field: value for field, value in body.items() if field not in ("x", "y")}
        return {**plain, "circumstances": None}, _joint(about or (name,), fields)
    if kind == "review" and body["circumstances"]:
        text, metadata = _split(body["circumstances"])
        if text:
            return {**body, "circumstances": metadata}, _joint(about, {"circumstances": text})
    if kind == "action" and "scores" in body:
        return {name: value for name, value in body.items() if name != "scores"}, _joint(
            about, {"scores": body["scores"]}
        )
    if kind in ("override", "withdrawal") and body["reason"] is not None:
        return {**body, "reason": None}, _joint(about, {"reason": body["reason"]})
    return body, None


def _joint(people: Sequence[str], fields: Body) -> Sealed:
    """One content of several people."""
    return (), [ToSeal(tuple(people), {"fields": fields})]


def _split(metadata: Mapping[str, Any]) -> tuple[Body, Body]:
    """The free text in the metadata of a review, and the rest."""
    text = {
        name: value
        for name, value in metadata.items()
        if value is not None and (name in FREE_TEXT or name not in FIELDS)
    }
    return text, {name: value for name, value in metadata.items() if name not in text}


def _of_candidates(body: Body) -> tuple[Body, Sealed]:
    """A content for each candidate, for each person left out, and one of all of them."""
    columns, lists = [name for name in COLUMNS if name in body], [name for name in LISTS if name in body]
    parts: dict[str, dict[str, Any]] = {
        person: {"each": {name: body[name][place] for name in columns}}
        for place, person in enumerate(body["candidates"])
    }
    for name in lists:
        for entry in body[name]:
            parts.setdefault(entry["id"], {}).setdefault("lists", {}).setdefault(name, []).append(entry)
    joint = {"fields": {name: body[name] for name in JOINT if name in body}}
    drafts = [*(ToSeal((person,), part) for person, part in parts.items()), ToSeal((), joint)]
    hidden = {*columns, *lists, *JOINT}
    return {name: value for name, value in body.items() if name not in hidden}, (columns, drafts)


def people_in(review: Mapping[str, Any], candidates: Sequence[str]) -> list[str]:
    """Whom the free text of a review may be about: the pair that it was given on, or all candidates."""
    pair = (review["circumstances"] or {}).get("pair")
    return list(candidates) if pair is None else list(pair)
