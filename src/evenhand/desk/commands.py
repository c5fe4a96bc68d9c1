"""What can be asked of a desk: frozen commands, each with who asks and a key that makes asking twice harmless."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.desk.imports.provenance import Origin

ChosenPairs = Sequence[Sequence[str]]
"""Pairs of candidates' ids."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """One wish. The same `idempotency_key` with the same command gives the same event, however often it is sent."""

    actor: str = "desk"
    idempotency_key: str | None = None


@dataclass(frozen=True)
class Decide(Command):
    """Choose among candidates: a (k, d) array, a data frame, or a list of {"id", "context"} or {"id", "features"}."""

    candidates: Any


@dataclass(frozen=True)
class RecordOutcome(Command):
    """What came of chosen candidates of a decision, by candidate id: those drawn, or those of the last override."""

    decision: str
    rewards: Mapping[str, float]


@dataclass(frozen=True)
class GiveReview(Command):
    """What a reviewer says of a decision; pairs are pairs of candidate ids.

    circumstances: what the reviewer saw and how, as JSON, under the names of `review_metadata`. {"repeat": true}
    marks an answer asked for a second time on purpose: it is recorded and not learned from again. supersedes: an
    earlier review that this one replaces.
    """

    decision: str
    kind: str = "complete"
    unfair: ChosenPairs = ()
    fair: ChosenPairs = ()
    any_unfair: bool | None = None
    reviewer: str | None = None
    circumstances: Mapping[str, Any] | None = None
    supersedes: str | None = None


@dataclass(frozen=True)
class Withdraw(Command):
    """Take back a review, an answer or an imported line: everything becomes as if it had never been given.

    Of an imported line that is all that it taught, outcomes and reviews.
    """

    review_id: str
    reason: str | None = None


@dataclass(frozen=True)
class Override(Command):
    """Somebody chose otherwise than the lottery did: nobody, or up to the decision's capacity.

    From then on outcomes are taken of those who are named here, and of nobody else. Overridden again, the last override
    stands. Outcomes recorded before stay.
    """

    decision: str
    chosen: Sequence[str]
    reason: str | None = None


@dataclass(frozen=True)
class ChangeSettings(Command):
    """New values of settings that may change while a desk runs."""

    changes: Mapping[str, Any]


@dataclass(frozen=True)
class AnswerQuestion(Command):
    """What a reviewer says of two contexts treated with a made-up gap, as in an interview.

    unfair: None for "unsure", which is recorded and teaches nothing.
    """

    x: Sequence[float]
    y: Sequence[float]
    gap: float
    unfair: bool | None
    reviewer: str | None = None
    circumstances: Mapping[str, Any] | None = None
    origins: Sequence[Origin] = ()
    """Lines of other ledgers that it was imported from, the first one first."""


@dataclass(frozen=True)
class ImportPast(Command):
    """A decision that was made elsewhere before, with what came of it: a warm start. See `desk.imports.past`."""

    record: Mapping[str, Any]
    origins: Sequence[Origin] = ()
    """Lines of other ledgers that it was imported from, the first one first."""
