"""What requests may contain. FastAPI validates with these models and documents them in OpenAPI."""

from __future__ import annotations

from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,  # pydantic needs these before Python 3.12
)

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from evenhand.bandit.safeguards import Target
from evenhand.desk.commands import ANSWER_FIELDS
from evenhand.desk.metric_settings import MetricName
from evenhand.desk.review_rules import LEASE_SECONDS, MOST_ANSWERS, MOST_RATINGS, MOST_SHARE, Ask, Order
from evenhand.desk.reward_settings import RewardName
from evenhand.desk.settings import MOST_CAPACITY, MOST_FEATURES, MOST_PAIRS_PER_DECISION, MOST_ROUNDS
from evenhand.desk.shadow import Mode
from evenhand.ledger.event import DESK_NAME, DESK_NAME_IN_WORDS, LONGEST
from evenhand.ledger.waiting_pairs import Subject
from evenhand.metrics.features import Structure
from evenhand.metrics.learner_settings import FINEST, HIGHEST_ERROR_RATE
from evenhand.records.decision import Mode as DecisionMode
from evenhand.records.decision import ReviewKind
from evenhand.records.ratings import Preference
from evenhand.records.review_metadata import LONGEST_TEXT, MOST_PLACES, NAMES, times
from evenhand.rewards import RidgeUCB
from evenhand.rewards.estimator_files import MOST_BYTES
from evenhand.schema.encoded_rows import OnInvalid

MAX_REWARD = RidgeUCB(1).largest_reward
MAX_ITEM = 20_000
"""Characters of the item that a page sends back."""
OMITTED: Any = Field(default_factory=lambda: None)
"""The default of fields that may be left out, but not be null; the OpenAPI document shows no default for them."""


Id = Annotated[str, Field(min_length=1, max_length=LONGEST)]
Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Pair = Annotated[list[Id], Field(min_length=2, max_length=2, description="Two different candidates of the decision.")]
Moment = Annotated[str, Field(min_length=10, max_length=40, description="ISO 8601, with a time zone.")]
Attributes = Annotated[list[Id], Field(max_length=MOST_FEATURES, description="Names of attributes.")]
Number = Annotated[float, Field(allow_inf_nan=False)]
PairAnswer = Literal["unfair", "acceptable", "unsure", "skip", "conflict", "rated", "alike", "left", "right"]
"""Answers on a pair, however the desk asks."""
Scale = Annotated[list[int], Field(min_length=2, max_length=2)]
Tolerance = Annotated[float, Field(ge=0, lt=1)]
Share = Annotated[float, Field(ge=0, le=MOST_SHARE)]
Probability = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1, le=MOST_ANSWERS)]


class RequestModel(BaseModel):
    """Types are not converted, and unknown fields are refused."""

    model_config = ConfigDict(strict=True, extra="forbid")


class CandidateInput(TypedDict):
    """One person of a decision, under a pseudonym: with a context, or with features by name."""

    __pydantic_config__ = ConfigDict(  # type: ignore[misc]  # pydantic's documented way to configure a TypedDict
        strict=True,
        extra="forbid",
        json_schema_extra={"oneOf": [{"required": ["context"]}, {"required": ["features"]}]},
    )

    id: Id
    context: NotRequired[Annotated[list[Number], Field(min_length=1, description="Numbers, of norm <= 1.")]]
    features: NotRequired[
        Annotated[
            dict[str, Number | str | bool | None], Field(description="Values by the names of the desk's features.")
        ]
    ]


class ActionRequest(RequestModel):
    """What the system in force really did, where the desk decided in shadow mode."""

    chosen: Annotated[list[Id], Field(description="As many as it chose; empty for nobody.")]
    probabilities: Annotated[
        dict[Id, Annotated[Number, Field(ge=0, le=1)]],
        Field(description="With which it chose each candidate, if it drew, or the shares; else 1 for the chosen, 0."),
    ] = OMITTED
    scores: Annotated[dict[Id, Number], Field(description="Its own scores of each candidate, for the record.")] = (
        OMITTED
    )

    def fields(self) -> dict[str, Any]:
        """The fields that the request names."""
        return self.model_dump(exclude_unset=True)


class DecisionRequest(RequestModel):
    """Candidates to choose among."""

    candidates: Annotated[list[CandidateInput], Field(min_length=1)]
    on_invalid: Annotated[
        Literal["refuse", "skip", "clip"],
        Field(description="Whether candidates who do not fit are refused with the request, left out, or clipped."),
    ] = "refuse"
    lower: Annotated[
        dict[Id, Probability], Field(description="Floors on probabilities by candidate id, 0 for others.")
    ] = OMITTED
    upper: Annotated[
        dict[Id, Probability], Field(description="Ceilings on probabilities by candidate id, 1 for others.")
    ] = OMITTED
    action: Annotated[
        ActionRequest, Field(description="Of a desk in shadow mode: what was really done, if it is known yet.")
    ] = OMITTED

    @property
    def mode(self) -> OnInvalid | None:
        """How the desk treats candidates who do not fit; None for its default."""
        return None if self.on_invalid == "refuse" else self.on_invalid


class RulesInput(RequestModel):
    """How reviewers are asked about pairs. Omitted rules keep their values."""

    ask: Annotated[
        Ask,
        Field(description="Whether a gap is unfair, a rating of both candidates, or which of them comes first."),
    ] = OMITTED
    scale: Annotated[
        Scale, Field(description=f"The lowest and the highest rating: whole numbers, 1 to {MOST_RATINGS - 1} apart.")
    ] = OMITTED
    tolerance: Annotated[Tolerance, Field(description="Acceptable gap between two who are rated the same.")] = OMITTED
    hidden: Annotated[list[Id], Field(description="Attributes that reviewers do not see.")] = OMITTED
    ids: Annotated[bool, Field(description="Whether reviewers see the ids of candidates.")] = OMITTED
    controls: Annotated[Share, Field(description="The share of pairs drawn at random.")] = OMITTED
    repeats: Annotated[Share, Field(description="The share of pairs asked a second time.")] = OMITTED
    repeat_after: Annotated[Count, Field(description="Other answers before a pair is repeated.")] = OMITTED
    session: Annotated[Count, Field(description="Answers after which the page proposes a break.")] = OMITTED
    lease: Annotated[
        float, Field(ge=LEASE_SECONDS[0], le=LEASE_SECONDS[1], description="Seconds a pair is reserved for.")
    ] = OMITTED
    mark_above: Annotated[float, Field(ge=0, le=1, description="Differences above this share are marked.")] = OMITTED
    order: Annotated[Order, Field(description="Which differences come first, by range or as learned.")] = OMITTED
    groups: Annotated[dict[Id, list[Id]], Field(description="Features under headings, by group.")] = OMITTED
    far_apart: Annotated[
        dict[Id, Number], Field(description="Pairs that differ by more in one of these numbers are not asked about.")
    ] = OMITTED
    certain: Annotated[float, Field(gt=0.5, le=1, description="Pairs predicted so are not asked about.")] = OMITTED
    differ_in: Annotated[
        Annotated[int, Field(ge=0)] | None,
        Field(description="Features in which two people of an interview differ at most; 0: real people, null: usual."),
    ] = OMITTED


class RewardInput(RequestModel):
    """A reward model with its options; see evenhand.rewards for what each of them has."""

    kind: RewardName
    model: Annotated[
        str,
        Field(
            min_length=1,
            max_length=4 * (MOST_BYTES // 3 + 1),
            description="Of Predictor: the file of a scikit-learn model, written by skops, in base64.",
        ),
    ] = OMITTED
    width: Annotated[float | str, Field(description="Predictor: ensemble, conformal or a number.")] = OMITTED
    scale: Annotated[float, Field(ge=0)] = OMITTED
    confidence: Annotated[float, Field(gt=0, lt=1)] = OMITTED
    members: Annotated[int, Field(ge=2)] = OMITTED
    refit_every: Annotated[int | None, Field(ge=1, description="Outcomes between refits; null: never.")] = OMITTED
    memory: Annotated[int, Field(ge=1, description="Outcomes that a refit uses.")] = OMITTED
    way: Literal["fit", "partial_fit"] | None = OMITTED
    seed: Annotated[int, Field(ge=0)] = OMITTED
    noise: Annotated[float | None, Field(gt=0, description="RidgeUCB: the scale of the noise, if known.")] = OMITTED
    regularisation: Annotated[float, Field(gt=0)] = OMITTED
    norm_bound: Annotated[float, Field(gt=0)] = OMITTED
    theta: Annotated[list[Number], Field(min_length=1, description="KnownReward: expected rewards are <theta, x>.")] = (
        OMITTED
    )


class DeskRequest(RequestModel):
    """A new desk. Exactly one of n_features, features and schema describes a candidate."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": [name]} for name in ("n_features", "features", "schema")]}
    )

    name: Annotated[str, Field(pattern=DESK_NAME, description=f"{DESK_NAME_IN_WORDS.capitalize()}.")]
    n_features: Annotated[int, Field(ge=1, le=MOST_FEATURES)] = OMITTED
    features: Annotated[list[Id], Field(min_length=1, max_length=MOST_FEATURES)] = OMITTED
    schema_: Annotated[dict[str, Any], Field(alias="schema", description="From evenhand.Schema.to_dict().")] = OMITTED
    capacity: Annotated[
        float | None,
        Field(gt=0, le=MOST_CAPACITY, description="A whole number >= 1; with mode shares any number > 0."),
    ] = OMITTED
    mode: Annotated[
        DecisionMode, Field(description="Whether candidates are drawn, or each gets a share of what was asked.")
    ] = OMITTED
    epsilon: Annotated[float | None, Field(ge=FINEST, le=1)] = OMITTED
    structure: Structure = OMITTED
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = OMITTED
    reviewer_error: Annotated[float | None, Field(ge=0, lt=HIGHEST_ERROR_RATE)] = OMITTED
    target_unfair_share: Annotated[float | None, Field(gt=0, lt=1)] = OMITTED
    target: Annotated[
        Target,
        Field(description="Whether a flagged decision counts in full, or by the probability that its flags are right."),
    ] = OMITTED
    max_unfair_rounds: Annotated[int | None, Field(ge=0, le=MOST_ROUNDS)] = OMITTED
    metric: MetricName = OMITTED
    bound: Annotated[float, Field(gt=0, description="The first bound on the metric; from the schema if left out.")] = (
        OMITTED
    )
    play: Annotated[
        Id,
        Field(description="With auto and Score: the reviewers' 'mean', their 'minimum' (any may object), or a name."),
    ] = OMITTED
    caution: Annotated[
        float | None, Field(gt=0, lt=1, description="The quantile of a distance that is played; lower is flagged less.")
    ] = OMITTED
    prior: Annotated[
        list[list[Number]] | None,
        Field(
            min_length=1,
            max_length=MOST_FEATURES,
            description="A metric learned elsewhere, a matrix: of KnownMetric the metric, else the mean to start from.",
        ),
    ] = OMITTED
    prior_weight: Annotated[float, Field(gt=0, description="The prior's variances are divided by it.")] = OMITTED
    reward: Annotated[
        RewardName | RewardInput,
        Field(description="The reward model: RidgeUCB, LogisticUCB for yes/no outcomes, KnownReward, or Predictor."),
    ] = OMITTED
    overlap: Annotated[float, Field(ge=0, le=1, description="The share of pairs for two reviewers.")] = OMITTED
    pairs_per_decision: Annotated[int, Field(ge=0, le=MOST_PAIRS_PER_DECISION)] = OMITTED
    reviewing: RulesInput = OMITTED
    shadow: Annotated[
        bool, Field(description="Whether the desk only says what it would decide, beside a system in force.")
    ] = OMITTED

    def settings(self) -> dict[str, Any]:
        """The settings that the request names; defaults are the desk's own."""
        named = self.model_dump(by_alias=True, exclude_unset=True, exclude={"name"})
        if named.get("capacity") is not None and named["capacity"].is_integer():
            named["capacity"] = int(named["capacity"])
        return named


class OutcomesRequest(RequestModel):
    """Outcomes of chosen candidates: a reward for each, by candidate id."""

    rewards: Annotated[dict[Id, Annotated[Number, Field(ge=-MAX_REWARD, le=MAX_REWARD)]], Field(min_length=1)]


class SidesInput(RequestModel):
    """Which candidate was shown on which side."""

    left: Id
    right: Id


class QueuedInput(RequestModel):
    """Why a pair was shown to the reviewer."""

    reason: Text
    detail: Text | None = None
    score: Number | None = None
    place: Annotated[int, Field(ge=0, le=MOST_PLACES)] = 0


class ComparisonInput(RequestModel):
    """What a reviewer said of two candidates: to be treated alike, or which of them comes first."""

    pair: Pair
    answer: Preference


class ReviewRequest(RequestModel):
    """A reviewer's answer on a decision.

    complete: every pair was examined, those named were unfair and all others fine. partial: only the pairs named were
    examined. one_bit: only whether anything was unfair. ratings: candidates were rated on a scale. comparisons: two who
    should be treated alike, or one of them first. Metadata of the review goes beside, under the names of
    `evenhand.records.review_metadata`; other metadata goes into circumstances.
    """

    kind: ReviewKind
    unfair: list[Pair] = []
    fair: list[Pair] = []
    any_unfair: bool | None = None
    reviewer: Id | None = None
    circumstances: Annotated[dict[str, Any] | None, Field(description="Other metadata to keep.")] = None
    supersedes: Id | None = None
    subject: Annotated[
        Subject,
        Field(description="Of a decision in shadow mode: the desk's proposal, or what the system in force did."),
    ] = OMITTED
    ratings: Annotated[dict[Id, Number], Field(min_length=1, description="A score by candidate.")] = OMITTED
    scale: Annotated[
        list[Number], Field(min_length=2, max_length=2, description="Lowest and highest rating; else the desk's.")
    ] = OMITTED
    comparisons: Annotated[list[ComparisonInput], Field(min_length=1)] = OMITTED
    tolerance: Annotated[
        Tolerance, Field(description="Acceptable gap between two who are rated the same or alike; else the desk's.")
    ] = OMITTED
    pair: Pair = OMITTED
    sides: SidesInput = OMITTED
    shown: Attributes = OMITTED
    hidden: Attributes = OMITTED
    ids_shown: bool = OMITTED
    probabilities: dict[Id, Annotated[Number, Field(ge=0, le=1)]] = OMITTED
    queue: QueuedInput = OMITTED
    answer: PairAnswer = OMITTED
    reason: Text = OMITTED
    note: Text = OMITTED
    started: Moment = OMITTED
    ended: Moment = OMITTED
    instruction: Id = OMITTED

    def metadata(self) -> dict[str, Any]:
        """The metadata that the request names."""
        return self.model_dump(include=set(NAMES), exclude_unset=True)

    def answers(self) -> dict[str, Any]:
        """The fields of ratings and comparisons that the request names."""
        return self.model_dump(include=set(ANSWER_FIELDS), exclude_unset=True)


class OverrideRequest(RequestModel):
    """Somebody chose other candidates than the lottery did, or nobody."""

    chosen: list[Id]
    reason: Text | None = None


class SwitchRequest(RequestModel):
    """Make a desk live, or put it into shadow mode."""

    to: Mode
    reason: Annotated[Text | None, Field(description="Stays in the ledger for good: name nobody.")] = None


class ErasureRequest(RequestModel):
    """A person to be erased: a candidate's id, or the id of an interview answer about somebody without one."""

    candidate: Id
    reason: Annotated[Text | None, Field(description="Stays in the ledger for good: name nobody.")] = None


class AnswerRequest(RequestModel):
    """A reviewer's answer on two contexts treated with this gap."""

    x: Annotated[list[Number], Field(min_length=1)]
    y: Annotated[list[Number], Field(min_length=1)]
    gap: Annotated[float, Field(ge=0, le=1)]
    unfair: Annotated[bool | None, Field(description="null: unsure, which is recorded and not learned from.")]
    reviewer: Id | None = None
    circumstances: dict[str, Any] | None = None
    people: Annotated[
        list[Id], Field(max_length=2, description="The ids of the people with these contexts, if they have any.")
    ] = []


class SettingsRequest(RequestModel):
    """Settings that may change while a desk runs."""

    changes: Annotated[dict[str, Any], Field(min_length=1)]


# What the pages send.


class SignInRequest(RequestModel):
    """A token to exchange for a session cookie."""

    token: Annotated[str, Field(min_length=1, max_length=400)]
    replace: bool = False
    """Whether a running session of somebody else is to be ended."""


class PageAnswer(RequestModel):
    """A reviewer's answer on the pair or the question that the page shows."""

    item: Annotated[str, Field(min_length=1, max_length=MAX_ITEM, description="As it came with the pair.")]
    answer: PairAnswer
    ratings: Annotated[list[Number], Field(description="With answer rated: of the left and the right.")] | None = None
    started: Moment
    ended: Moment
    reason: Annotated[str, Field(max_length=LONGEST)] | None = None
    note: Text | None = None

    def remarks(self) -> dict[str, Any]:
        """What is recorded beside the answer."""
        return {"reason": self.reason, "note": self.note, **times(self.started, self.ended)}


class PeopleRequest(RequestModel):
    """People for an interview to ask about, as comma-separated values with a header line."""

    csv: Annotated[str, Field(min_length=1, max_length=1_000_000)]
