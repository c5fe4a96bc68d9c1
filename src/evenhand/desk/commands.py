"""Commands of a desk: frozen, each with an actor and an idempotency key that makes sending it twice harmless."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from evenhand.schema.encoded_rows import OnInvalid

ChosenPairs = Sequence[Sequence[str]]
"""Pairs of candidates' ids."""

Bounds = float | Mapping[str, float] | Sequence[float] | None
"""Floors or ceilings: one for all, by candidate's id, in the order of the candidates, or none."""

Origin = dict[str, str]
"""An event of another ledger that something was imported from: {"desk", "line"}, where "line" is the id of the event,
and "decision" if it is about one."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A request to a desk. The same `idempotency_key` with the same command of an actor gives the same event again."""

    actor: str = "desk"
    idempotency_key: str | None = None
    """The actor's own: others may use the same."""
    key_lifetime: float | None = None
    """Seconds after which the actor may use the key for something else; None for never."""


class CommandFields(TypedDict, total=False):
    """The fields of every command, as the methods of a desk take them."""

    actor: str
    idempotency_key: str | None
    key_lifetime: float | None


@dataclass(frozen=True)
class Decide(Command):
    """Choose among candidates: a (k, d) array, a data frame, or a list of {"id", "context"} or {"id", "features"}.

    on_invalid: what becomes of those who do not fit. "refuse", or None: the command is refused, and the error names
    them; "skip": they are left out, and the decision's event names them; "clip": numbers and dates beyond the range of
    a schema count as its end, and whoever still does not fit is left out. lower, upper: floors and ceilings on
    probabilities: by id, 0 and 1 for others; one number for all; or a list, in the order of the candidates.
    """

    candidates: Any
    on_invalid: OnInvalid | None = None
    lower: Bounds = None
    upper: Bounds = None
    action: Mapping[str, Any] | None = None
    """Of a desk in shadow mode: what was really done, as in `RecordAction`, if it is known yet."""


@dataclass(frozen=True)
class RecordOutcome(Command):
    """Rewards of chosen candidates of a decision, by candidate id: those drawn, or those of the last override."""

    decision: str
    rewards: Mapping[str, float]


@dataclass(frozen=True)
class GiveReview(Command):
    """A reviewer's answer on a decision; pairs are pairs of candidate ids.

    ratings, scale, tolerance: of kind "ratings". comparisons, tolerance: of kind "comparisons", a dict from pairs to
    "alike", "first" or "second", or a list of {"pair", "answer"}. Scale and tolerance default to the desk's.
    circumstances: what the reviewer saw and how, as JSON; see `ReviewMetadata`. {"repeat": true} marks a pair that was
    shown a second time on purpose: the answer is recorded, but not learned from. supersedes: an earlier review that
    this one replaces.
    """

    decision: str
    kind: str = "complete"
    unfair: ChosenPairs = ()
    fair: ChosenPairs = ()
    any_unfair: bool | None = None
    reviewer: str | None = None
    circumstances: Mapping[str, Any] | None = None
    supersedes: str | None = None
    ratings: Mapping[str, float] | None = None
    scale: Sequence[float] | None = None
    comparisons: Mapping[tuple[str, str], str] | Sequence[Mapping[str, Any]] | None = None
    tolerance: float | None = None
    subject: str | None = None
    """Of a decision in shadow mode: whose treatment of the candidates it judges, "desk" (or None) or "system"."""


RATED_FIELDS = {"ratings": ("ratings", "scale", "tolerance"), "comparisons": ("comparisons", "tolerance")}
"""The fields of a review that only these kinds have."""
ANSWER_FIELDS = ("ratings", "scale", "comparisons", "tolerance")
"""All of them, in the order of `GiveReview`."""


@dataclass(frozen=True)
class Withdraw(Command):
    """Withdraw a review, an interview answer or an imported record: as if the desk had never learned from it."""

    review_id: str
    reason: str | None = None


@dataclass(frozen=True)
class Override(Command):
    """Somebody chose other candidates than the draw did: none, or up to the decision's capacity.

    From then on outcomes are accepted for these candidates only. The last override counts. Earlier outcomes stay.
    """

    decision: str
    chosen: Sequence[str]
    reason: str | None = None


@dataclass(frozen=True)
class RecordAction(Command):
    """What the system in force really did, where the desk decided in shadow mode; recorded once for a decision.

    chosen: as many as it chose, whatever the desk's capacity is. probabilities: with which the system chose, by
    candidate, if it drew; without them its treatment is 1 for the chosen and 0 for all others. At a desk in shares they
    are the shares that it gave, and the chosen are all who got one. scores: its own, for the record. Both are dicts by
    id, or lists in the order of the decision's candidates.
    """

    decision: str
    chosen: Sequence[str]
    probabilities: Mapping[str, float] | Sequence[float] | None = None
    scores: Mapping[str, float] | Sequence[float] | None = None


@dataclass(frozen=True)
class Switch(Command):
    """Make a desk "live", or put it into "shadow" mode, from the next decision on.

    reason: stays in the ledger for good, so it should name nobody.
    """

    to: str
    reason: str | None = None


@dataclass(frozen=True)
class ChangeSettings(Command):
    """New values of settings that may change while a desk runs."""

    changes: Mapping[str, Any]


@dataclass(frozen=True)
class AnswerQuestion(Command):
    """A reviewer's answer to an interview question: two contexts, treated with a hypothetical gap.

    unfair: None for "unsure", which is recorded and not learned from.
    """

    x: Sequence[float]
    y: Sequence[float]
    gap: float
    unfair: bool | None
    reviewer: str | None = None
    circumstances: Mapping[str, Any] | None = None
    origins: Sequence[Origin] = ()
    """Events of other ledgers that it was imported from, the oldest first."""
    people: Sequence[str] = ()
    """The ids of the people with these contexts, if they have any: the answer goes when one of them is erased."""


@dataclass(frozen=True)
class ImportPast(Command):
    """A decision made elsewhere before, with its outcomes and reviews: a warm start. See `desk.imports.past`."""

    record: Mapping[str, Any]
    origins: Sequence[Origin] = ()
    """Events of other ledgers that it was imported from, the oldest first."""


@dataclass(frozen=True)
class Erase(Command):
    """Destroy the key to all that events say about a candidate; or about the people of an answer, by the answer's id.

    reason: stays in the ledger for good, so it should name nobody.
    """

    candidate: str
    reason: str | None = None
