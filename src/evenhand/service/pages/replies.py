"""What the pages are told."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class SessionTold(Struct):
    """Who is signed in. `csrf` goes into the header X-CSRF-Token of whatever changes something."""

    name: str
    roles: list[str]
    desks: list[str] | None
    csrf: str | None
    session: bool


class ItemTold(Struct):
    """The pair before a reviewer, or none; and how far the session has come."""

    item: str | None
    progress: dict[str, Any]
    draft: str | None = None
    """By what the page knows a note that was begun."""
    again_of: str | None = None
    """The answer, taken back, that is asked for once more."""
    last: dict[str, Any] | None = None
    """The reviewer's last answer of today, with its remarks; told with the first pair, not after answers."""
    names: list[str] | None = None
    rows: list[dict[str, Any]] | None = None
    withheld: bool = False
    """Whether there are attributes that reviewers do not see; which, and what they are, is not told."""
    probabilities: list[float] | None = None
    gap: float | None = None
    digits: int | None = None
    instruction: str | None = None


class AheadTold(Struct):
    """Pairs to go on with while the service cannot be reached; and how many wait on the desk."""

    ahead: list[dict[str, Any]]
    waiting: int


class AnswerTold(Struct):
    """An answer that is in the ledger now, why it was asked for, and the next pair."""

    review: str
    why: str
    next: dict[str, Any]


class ReviewersTold(Struct):
    """What reviewers have done, how steady each is, and how far they agree."""

    reviewers: list[dict[str, Any]]
    agreement: dict[str, Any]
    consistency: dict[str, Any]


class QuestionTold(Struct):
    """An interview's question, or why it is over; and its meter."""

    item: str | None
    meter: dict[str, Any] | None
    people: int
    ended: str | None
    is_live: bool
    """Whether the desk has decided about anybody yet."""
    always_alone: bool = False
    """Whether each decision that the people come from was about one person: then there are no pairs."""
    draft: str | None = None
    again_of: str | None = None
    """The answer, taken back, that is asked for once more."""
    last: dict[str, Any] | None = None
    """The reviewer's last answer, with its remarks; told when a page asks, not after answers."""
    rows: list[dict[str, Any]] | None = None
    withheld: bool = False
    """Whether there are attributes that reviewers do not see; which, and what they are, is not told."""
    probabilities: list[float] | None = None
    gap: float | None = None
    digits: int | None = None
    instruction: str | None = None


class QuestionAnswered(Struct):
    """An interview's answer that is in the ledger now, and the next question."""

    review: str
    why: str
    next: dict[str, Any]


class PeopleTold(Struct):
    """How many people the interview can ask about."""

    people: int
