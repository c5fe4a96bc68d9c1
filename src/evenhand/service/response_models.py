"""The shapes of responses, for the OpenAPI document. Responses themselves are built from ledger events."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


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
    head: str
    state: int
    """The last event that decisions are based on."""
    ledger: str


class DeskPage(BaseModel):
    """Desks the token is for, by name."""

    desks: list[str]
    next: str | None


class MadeDecision(BaseModel):
    """A decision: the probabilities of the candidates, in their order, and which of them were drawn."""

    id: str
    desk: str
    seq: int
    time: str
    number: int
    state: int
    candidates: list[str]
    probabilities: list[float]
    chosen: list[str]


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


class QueuePage(BaseModel):
    """Pairs that wait for a review, the most informative first."""

    pairs: list[dict[str, Any]]
    next: str | None


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


class Health(BaseModel):
    """Whether the service runs."""

    status: str
    version: str
