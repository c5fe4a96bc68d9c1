"""What comes back: the shapes of answers, for the OpenAPI document. Answers themselves are made of ledger events."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class DeskTold(Struct):
    """A desk: what it was opened with and how far it is."""

    name: str
    settings: dict[str, Any]
    opened: str
    """UTC."""


class DeskState(Struct):
    """A desk as it stands now."""

    name: str
    settings: dict[str, Any]
    events: int
    decisions: int
    head: str
    state: int
    ledger: str


class DeskPage(Struct):
    """Desks the token is for, by name."""

    desks: list[str]
    next: str | None


class DecisionTold(Struct):
    """A decision that was made: the odds of the candidates, in their order, and who was drawn."""

    id: str
    desk: str
    seq: int
    time: str
    number: int
    state: int
    candidates: list[str]
    probabilities: list[float]
    chosen: list[str]


class Recorded(Struct):
    """An event that is in the ledger now."""

    id: str
    desk: str
    seq: int
    time: str
    kind: str
    decision: str | None = None


class EventPage(Struct):
    """Events of a ledger in their order."""

    events: list[dict[str, Any]]
    next: int | None


class DecisionRecord(Struct):
    """All that is known of a decision, with its explanation."""

    id: str
    record: dict[str, Any]
    explanation: dict[str, Any]


class Queue(Struct):
    """Pairs that wait for a review, the most telling first."""

    pairs: list[dict[str, Any]]
    next: str | None


class MetricTold(Struct):
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


class Standing(Struct):
    """Whether the service runs."""

    status: str
    version: str


class ProblemDocument(Struct):
    """What went wrong, as RFC 9457 has it."""

    type: str
    title: str
    status: int
    detail: str
