"""Responses: the headers that all have, and, for the OpenAPI document, their shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import orjson
from pydantic import BaseModel
from starlette.responses import Response

if TYPE_CHECKING:
    from evenhand.ledger.event import Event

PRIVATE = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
"""Responses are about people: no cache keeps them and no browser guesses their type."""


def json_response(
    content: Any, status: int = 200, headers: Mapping[str, str] | None = None, media_type: str = "application/json"
) -> Response:
    """Plain data as JSON; floats keep every bit."""
    return Response(orjson.dumps(content), status, PRIVATE | dict(headers or {}), media_type)


def event_response(event: Event, status: int = 201, model: type[BaseModel] | None = None) -> Response:
    """The response to a command: depends on its event alone, so a repeated request gets the same one.

    model: which fields of the event it has, and their defaults; `Recorded` unless another is named.
    """
    content, shape = event.content, model or Recorded
    fields = shape.model_fields.items()
    defaults = {name: field.default for name, field in fields if not (field.is_required() or field.default is None)}
    known = {**defaults, **content["body"], **content, "hash": event.hash}
    return json_response({name: known[name] for name in shape.model_fields if name in known}, status)


def attachment(name: str) -> dict[str, str]:
    """The header that makes a browser save the response under a name.

    >>> attachment('loans "2"-decisions.csv')
    {'content-disposition': 'attachment; filename="loans__2_-decisions.csv"'}
    """
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)
    return {"content-disposition": f'attachment; filename="{safe}"'}


# The shapes of responses. Responses themselves are built from ledger events.


class OpenedDesk(BaseModel):
    """A new desk and the settings it was opened with."""

    name: str
    settings: dict[str, Any]
    opened: str
    """UTC."""


class DeskStatus(BaseModel):
    """A desk as it is now."""

    name: str
    settings: dict[str, Any]
    events: int
    decisions: int
    head: str | None
    """The hash of the last event; null for reviewers."""
    state: int
    """The last event that decisions are based on."""
    flags_left: int | None
    """A proved number of decisions that can still be flagged at most; null without a theorem."""
    promise: str | None
    no_metric_fits: bool
    """Whether the reviewers' answers were found to follow no metric; then no number of flags is promised."""
    ledger: str


class DeskPage(BaseModel):
    """Desks the token is for, by name."""

    desks: list[str]
    next: str | None


class LeftOutCandidate(BaseModel):
    """A candidate who does not fit the desk's features, and why."""

    id: str
    reasons: list[str]


class CountedValue(BaseModel):
    """A value that counts as another: clipped, not listed, or missing."""

    id: str
    feature: str
    value: float | str | bool


class MadeDecision(BaseModel):
    """A decision: the probabilities of the candidates, in their order, and which of them were drawn."""

    id: str
    desk: str
    seq: int
    hash: str
    """The hash of its event: keep it with seq, and the ledger cannot be rewritten unnoticed up to here."""
    time: str
    number: int
    state: int
    candidates: list[str]
    probabilities: list[float]
    chosen: list[str]
    """Nobody in shadow mode."""
    shadow: bool = False
    """Whether it was made in shadow mode: the system in force decides."""
    would_choose: list[str] = []
    """In shadow mode: the candidates drawn. Nobody acts on it."""
    left_out: list[LeftOutCandidate] = []
    """Candidates who do not fit: they took no part."""
    counted_as: list[CountedValue] = []
    """Values that the decision counted as another, as the schema or on_invalid says."""
    unproved_pairs: int = 0
    """Under max_unfair_rounds: pairs with equal probabilities because the search for proofs is limited."""
    mode: Literal["lottery", "shares"] = "lottery"
    """With shares nobody is drawn: probabilities are shares of what was asked, and chosen are all who get one."""
    lower: list[float] | None = None
    """Floors, in the order of the candidates, if floors or ceilings were given."""
    upper: list[float] | None = None
    """Ceilings, in the order of the candidates, if floors or ceilings were given."""


class Recorded(BaseModel):
    """An event that is in the ledger now."""

    id: str
    desk: str
    seq: int
    time: str
    kind: str
    decision: str | None = None


class EventPage(BaseModel):
    """Events of a ledger in their order."""

    events: list[dict[str, Any]]
    next: int | None


class DecisionRecord(BaseModel):
    """The record of a decision, with its explanation."""

    id: str
    record: dict[str, Any]
    explanation: dict[str, Any]


class DifferencesReport(BaseModel):
    """Where the desk in shadow mode and the system in force differ; see `evenhand.desk.Differences`."""

    desk_name: str
    state: int
    reviews: int
    compared: int
    untold: int
    erased: int
    same_choice: int
    agreement: float | None
    reward_difference: float | None
    reward_uncertainty: float | None
    outcomes: int
    mean_outcome: float | None
    mean_estimate: float | None
    desk: dict[str, Any]
    system: dict[str, Any]
    decisions: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    sentences: list[str]


class QueuePage(BaseModel):
    """Pairs that wait for a review, the most informative first, and how the desk asks about them."""

    pairs: list[dict[str, Any]]
    next: str | None
    ask: Literal["verdicts", "ratings", "comparisons"]
    scale: list[int]
    tolerance: float


class LearnedMetric(BaseModel):
    """The learned matrix, with its uncertainty, and in words where features have names."""

    desk: str
    state: int
    matrix: list[list[float]]
    coordinates: list[str]
    distance: list[float]
    lower: list[float | None]
    upper: list[float | None]
    sentences: list[str]
    reviews_in_conflict: int
    misleading_reviewers: list[str]
    flags_left: int | None
    promise: str | None
    no_metric_fits: bool
    fit: list[str]
    """How well a metric explains the reviewers' answers, in sentences."""


class Health(BaseModel):
    """Whether the service runs."""

    status: str
    version: str
