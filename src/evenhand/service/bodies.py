"""What may be sent: the bodies of requests, checked while they are read. The OpenAPI document is made of the same."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from evenhand.desk.settings import MOST_CAPACITY, MOST_FEATURES, MOST_ROUNDS
from evenhand.ledger.names import DESK_NAME, DESK_NAME_IN_WORDS
from evenhand.records.review_metadata import NAMES
from evenhand.rewards import RidgeUCB

Id = Annotated[str, Meta(min_length=1, max_length=200)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Reason = Annotated[str, Meta(max_length=2_000)]
Pair = Annotated[list[Id], Meta(min_length=2, max_length=2, description="Two different candidates of the decision.")]
Value = float | str | bool | None
LARGEST_REWARD = RidgeUCB(1).largest_reward
Attributes = Annotated[list[Name], Meta(max_length=MOST_FEATURES, description="Names of attributes.")]
Moment = Annotated[str, Meta(min_length=10, max_length=40, description="ISO 8601, with its time zone.")]


class Candidate(TypedDict):
    """One person of a decision, under a pseudonym: with a context, or with features by name."""

    id: Id
    context: NotRequired[Annotated[list[float], Meta(min_length=1, description="Numbers, of norm <= 1.")]]
    features: NotRequired[Annotated[dict[str, Value], Meta(description="Values by the names of the desk's features.")]]


Share = Annotated[float, Meta(ge=0, le=0.5)]
Few = Annotated[int, Meta(ge=1, le=100000)]


class Reviewing(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """How people are asked about pairs. What is not said stays as it is."""

    hidden: Annotated[list[Name], Meta(description="Attributes that reviewers do not see.")] | UnsetType = UNSET
    ids: Annotated[bool, Meta(description="Whether reviewers see candidates' ids.")] | UnsetType = UNSET
    controls: Annotated[Share, Meta(description="The share of pairs drawn by lot.")] | UnsetType = UNSET
    repeats: Annotated[Share, Meta(description="The share of pairs asked a second time.")] | UnsetType = UNSET
    repeat_after: Annotated[Few, Meta(description="After so many other answers at the earliest.")] | UnsetType = UNSET
    session: Annotated[Few, Meta(description="Answers after which the page proposes to stop.")] | UnsetType = UNSET
    lease: Annotated[float, Meta(ge=1, le=86400, description="Seconds a pair is kept for.")] | UnsetType = UNSET


class NewDesk(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A desk to be opened. Exactly one of n_features, features and schema says what a candidate is."""

    name: Annotated[str, Meta(pattern=DESK_NAME, description=f"{DESK_NAME_IN_WORDS.capitalize()}.")]
    n_features: Annotated[int, Meta(ge=1, le=MOST_FEATURES)] | UnsetType = UNSET
    features: Annotated[list[Name], Meta(min_length=1, max_length=MOST_FEATURES)] | UnsetType = UNSET
    schema: Annotated[dict[str, Any], Meta(description="As evenhand.Schema.to_dict() writes it.")] | UnsetType = UNSET
    capacity: Annotated[int, Meta(ge=1, le=MOST_CAPACITY)] | UnsetType | None = UNSET
    epsilon: Annotated[float, Meta(gt=0, lt=1)] | UnsetType | None = UNSET
    structure: Literal["full", "diagonal"] | UnsetType = UNSET
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] | UnsetType = UNSET
    reviewer_error: Annotated[float, Meta(ge=0, lt=0.5)] | UnsetType | None = UNSET
    target_unfair_share: Annotated[float, Meta(gt=0, lt=1)] | UnsetType | None = UNSET
    max_unfair_rounds: Annotated[int, Meta(ge=0, le=MOST_ROUNDS)] | UnsetType | None = UNSET
    metric: Literal["BayesPoint", "ProjectedVolume", "Ellipsoid", "Guarded"] | UnsetType = UNSET
    overlap: Annotated[float, Meta(ge=0, le=1, description="The share of pairs two are asked.")] | UnsetType = UNSET
    pairs_per_decision: Annotated[int, Meta(ge=0, le=1000)] | UnsetType = UNSET
    reviewing: Reviewing | UnsetType = UNSET

    def settings(self) -> dict[str, Any]:
        """What was said, without the name."""
        said: dict[str, Any] = msgspec.to_builtins(self)
        return {name: value for name, value in said.items() if name != "name"}


class NewDecision(Struct, forbid_unknown_fields=True):
    """Candidates to choose among."""

    candidates: Annotated[list[Candidate], Meta(min_length=1)]


class NewOutcomes(Struct, forbid_unknown_fields=True):
    """What came of chosen candidates: a reward for each, by candidate id."""

    rewards: Annotated[dict[Id, Annotated[float, Meta(ge=-LARGEST_REWARD, le=LARGEST_REWARD)]], Meta(min_length=1)]


class SidesSeen(Struct, forbid_unknown_fields=True):
    """Who of the two was shown where."""

    left: Id
    right: Id


class QueuedFor(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Why a pair was put before the reviewer."""

    reason: Reason
    detail: Reason | None = None
    score: float | None = None
    place: Annotated[int, Meta(ge=0, le=1_000_000)] = 0


class NewReview(Struct, forbid_unknown_fields=True):
    """What a reviewer says of a decision.

    complete: every pair was looked at, those named were unfair and all others fine. partial: only the pairs named were
    looked at. one_bit: only whether anything was unfair. All that is known of how it came about may be said beside, and
    is kept in the record's circumstances under the same names, as the review page does.
    """

    kind: Literal["complete", "partial", "one_bit"]
    unfair: list[Pair] = []
    fair: list[Pair] = []
    any_unfair: bool | None = None
    reviewer: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    circumstances: (
        Annotated[dict[str, Any], Meta(description="Whatever else of what the reviewer saw is to be kept.")] | None
    ) = None
    supersedes: Id | None = None
    pair: Pair | UnsetType = UNSET
    sides: SidesSeen | UnsetType = UNSET
    shown: Attributes | UnsetType = UNSET
    hidden: Attributes | UnsetType = UNSET
    ids_shown: bool | UnsetType = UNSET
    probabilities: dict[Id, Annotated[float, Meta(ge=0, le=1)]] | UnsetType = UNSET
    queue: QueuedFor | UnsetType = UNSET
    answer: Literal["unfair", "acceptable", "unsure", "skip", "conflict"] | UnsetType = UNSET
    reason: Reason | UnsetType = UNSET
    note: Reason | UnsetType = UNSET
    started: Moment | UnsetType = UNSET
    ended: Moment | UnsetType = UNSET
    instruction: Name | UnsetType = UNSET

    def seen(self) -> dict[str, Any]:
        """What was said of the circumstances by name."""
        said = {name: getattr(self, name) for name in NAMES}
        return {name: msgspec.to_builtins(value) for name, value in said.items() if value is not UNSET}


class NewOverride(Struct, forbid_unknown_fields=True):
    """Somebody chose otherwise than the lottery did: these candidates, or nobody."""

    chosen: list[Id]
    reason: Reason | None = None


class NewAnswer(Struct, forbid_unknown_fields=True):
    """What a reviewer says of two contexts treated with this gap."""

    x: Annotated[list[float], Meta(min_length=1)]
    y: Annotated[list[float], Meta(min_length=1)]
    gap: Annotated[float, Meta(ge=0, le=1)]
    unfair: Annotated[bool | None, Meta(description="null: unsure, which is kept and teaches nothing.")]
    reviewer: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    circumstances: dict[str, Any] | None = None


class NewSettings(Struct, forbid_unknown_fields=True):
    """Settings that may change while a desk runs."""

    changes: Annotated[dict[str, Any], Meta(min_length=1)]


EXACTLY_ONE = {"Candidate": ("context", "features"), "NewDesk": ("n_features", "features", "schema")}
"""Of these parts of a body one must be there, and no other: what the types cannot say, the document does."""
