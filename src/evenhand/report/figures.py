"""ReportFigures: everything that a report says in numbers, as plain frozen records. Sections turn them into words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from evenhand._internal.intervals import MeanInterval
from evenhand.report.period import Period
from evenhand.review.agreement import Agreement, Consistency

NO_MEAN = MeanInterval()


@dataclass(frozen=True)
class Integrity:
    """What verifying the whole ledger found right; a ledger with an error gives no report."""

    events: int
    """In the whole ledger."""
    last_hash: str
    first: int | None
    """The first and the last event of the period; None if it has none."""
    last: int | None
    last_hash_of_period: str | None
    heads: int
    """Signed heads that fit, kept elsewhere or in the database."""
    heads_in_period: int
    """Those signed in the period."""
    covered: int
    """Events that the largest signed head covers."""
    covered_at: str | None
    """When that was signed."""
    keys: tuple[str, ...]
    """The public keys that signed."""
    erased: int
    """Contents that are gone since their people were erased."""
    without_token: dict[str, int]
    """Events of each actor for whom the service has no token, in the whole ledger, since it records tokens."""


@dataclass(frozen=True)
class SettingsChange:
    """A change of settings, or a switch between live and shadow mode."""

    seq: int
    time: str
    actor: str
    kind: str
    changes: dict[str, Any]
    reason: str | None = None


@dataclass(frozen=True)
class OverrideRecord:
    """Somebody chose otherwise than the draw."""

    seq: int
    time: str
    actor: str
    number: int
    """Of the decision."""
    drawn: tuple[str, ...]
    chosen: tuple[str, ...]
    reason: str | None
    """None if none was recorded, or somebody of the decision was erased."""


@dataclass(frozen=True)
class UnderSettings:
    """Decisions made under one event's settings, by one version of the code."""

    settings: int
    """The event of the settings."""
    code: str
    shadow: bool
    decisions: int


@dataclass(frozen=True)
class ModeFigures:
    """The decisions of the period in one mode: live, or in shadow mode."""

    decisions: int = 0
    candidates: int = 0
    chosen: int = 0
    """Candidates who were really chosen: by the draw, by the last override, or by the system in force."""
    nobody: int = 0
    """Decisions in which nobody was chosen, as far as is known."""
    untold: int = 0
    """Decisions in shadow mode for which it is not known what was done."""
    left_out: int = 0
    """People who did not fit the features and took no part."""
    counted_as: int = 0
    """Values that were counted as another."""
    tight_pairs: int = 0
    """Pairs whose probabilities could not differ more."""
    unproved_pairs: int = 0
    """Pairs that got equal probabilities because the search for proofs is limited."""
    worst_residual: float | None = None
    erased: int = 0
    """Decisions with a candidate who was erased."""
    overridden: int = 0
    outcomes: int = 0
    reward: MeanInterval = NO_MEAN
    priced: int = 0
    """Decisions whose price of fairness can be computed: those without erased candidates."""
    costly: int = 0
    """Those in which fairness cost more than a negligible amount of the optimistic reward."""
    price_optimistic: MeanInterval = NO_MEAN
    price_expected: MeanInterval = NO_MEAN
    best_optimistic: float | None = None
    """The mean of the best optimistic reward without fairness, which the price is a part of."""


@dataclass(frozen=True)
class FlagRecord:
    """A review that called something unfair."""

    review: str
    seq: int
    time: str
    reviewer: str | None
    decision: str
    number: int
    subject: str
    pairs: tuple[tuple[str, str], ...]
    """Empty if it said only that something was unfair."""
    became: str
    """"stands", "withdrawn", "superseded", or "repeat", which is recorded and not learned from."""


@dataclass(frozen=True)
class FlagFigures:
    """Flags given in the period, whenever the decision was made, and what had become of them by its end."""

    reviews: int = 0
    """Reviews given in the period."""
    reviewed: int = 0
    """Decisions with a review of the desk's own probabilities that stands, of those made in the period."""
    flagged: int = 0
    """Of these, decisions with a flag that stands."""
    flags: tuple[FlagRecord, ...] = ()
    answers: int = 0
    """Interview answers given in the period."""
    answers_unfair: int = 0
    by_decision: tuple[tuple[int, int], ...] = ()
    """Of up to 60 numbers of decisions: so many flagged decisions of the period by then."""
    first_left: int | None = None
    """Flags left, as recorded in the period's first decision that has it, and its last."""
    last_left: int | None = None

    def became(self, what: str, subject: str | None = None) -> int:
        """How many flags became this."""
        return sum(one.became == what and subject in (None, one.subject) for one in self.flags)


@dataclass(frozen=True)
class ReviewerFigures:
    """One reviewer's answers in the period."""

    name: str | None
    reviews: int
    unfair: int
    acceptable: int
    passed: int
    """Unsure, skipped or left to others because of a conflict."""
    withdrawn: int
    median_seconds: float | None
    consistency: Consistency


@dataclass(frozen=True)
class GroupFigures:
    """One group of candidates."""

    name: str
    candidates: int
    chosen: int
    outcomes: int
    chance: MeanInterval
    rate: MeanInterval
    """The share chosen."""
    impact_ratio: float | None
    """The share chosen divided by that of the group with the highest one; None for people who are not known."""
    reward: MeanInterval


@dataclass(frozen=True)
class GroupTable:
    """The groups of one attribute, in one mode."""

    attribute: str
    shadow: bool
    learned_from: bool
    """Whether it is a feature; else it is only carried, and the learner never sees it."""
    groups: tuple[GroupFigures, ...]


@dataclass(frozen=True)
class ReportFigures:
    """All figures of the ledger alone."""

    desk: str
    period: Period
    integrity: Integrity
    kinds: dict[str, int]
    """Events of the period by kind."""
    settings: dict[str, Any]
    """In force at the end of the period."""
    changes: tuple[SettingsChange, ...]
    overrides: tuple[OverrideRecord, ...]
    under: tuple[UnderSettings, ...]
    live: ModeFigures
    shadow: ModeFigures
    flags: FlagFigures
    reviewers: tuple[ReviewerFigures, ...]
    agreement: Agreement
    consistency: Consistency
    groups: tuple[GroupTable, ...]
    erasures: int
    """People erased in the period."""

    @property
    def decisions(self) -> int:
        """Decisions made in the period."""
        return self.live.decisions + self.shadow.decisions

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers."""
        return asdict(self)
