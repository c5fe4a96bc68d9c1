"""DeskSettings: what a desk was opened with, what may change while it runs, and the bandit they make."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from inspect import signature
from typing import Any, cast, get_args

import numpy as np

from evenhand._internal.checks import check_bool, check_one_of, check_share, check_text, check_whole, refusal
from evenhand._internal.checks import check_whole_or_none as whole_or_none
from evenhand.bandit import FairBandit
from evenhand.bandit.parts import check_capacity, check_mode
from evenhand.bandit.safeguards import STEPS, Margin, Safeguards, Target
from evenhand.desk.metric_settings import Matrix, MetricName, check_metric_settings, learner_of, read_prior
from evenhand.desk.projection.projection import QuietBandit
from evenhand.desk.review_rules import ReviewRules, check_attributes
from evenhand.desk.reward_settings import RewardSettings
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.ledger.event import check_name
from evenhand.metrics.features import Structure
from evenhand.metrics.learner_settings import bound_for, check_error_rate
from evenhand.records.decision import Mode
from evenhand.schema import Schema
from evenhand.schema.rows import ID

MOST_EVENTS = 10_000
"""Events in one request."""

MOST_QUEUED = 10_000
"""Pairs of the review queue in one request."""

MOST_CAPACITY = 1_000_000
MOST_ROUNDS = 2**53
MOST_PAIRS_PER_DECISION = 1000
MOST_FEATURES = 200
MOST_FULL = 100
"""Features with structure "full": a learner of d features holds d^4 / 4 numbers, at 100 it takes 200 MB and a second or
two to make, at 200 sixteen times as much. Desks opened before with more keep what they have."""

MOST_SAMPLED = {"full": 15, "diagonal": 120}
"""Features with a metric that samples, by structure: either has 120 unknowns. Time grows with their cube: with that
many the desk opens in two seconds and a review takes one or two; with 46 features and structure "full" neither ends."""

SAMPLING = ("ProjectedVolume", "Guarded", "VersionSpace")
"""The metrics that sample."""

LIBRARY: dict[str, Any] = {name: parameter.default for name, parameter in signature(FairBandit).parameters.items()}
"""The defaults of FairBandit. A desk has the same."""

MAY_CHANGE = (
    "capacity",
    "target_unfair_share",
    "target",
    "max_unfair_rounds",
    "overlap",
    "pairs_per_decision",
    "reviewing",
)
"""Settings that may change while a desk runs; with another value of the rest it would be another bandit."""


@dataclass(frozen=True)
class DeskSettings:
    """Settings of a desk. Make them with `DeskSettings.create(...)`, which checks them."""

    n_features: int
    features: tuple[str, ...] | None = None
    """Names of the features, in order; candidates may then be passed by name."""
    schema: Schema | None = None
    """Kinds and ranges of the features; candidates may then be passed as they are."""
    capacity: float | None = LIBRARY["capacity"]
    mode: Mode = LIBRARY["mode"]
    """Whether candidates are drawn, or each gets a share of what was asked."""
    epsilon: float | None = LIBRARY["epsilon"]
    structure: Structure = LIBRARY["structure"]
    reviewer_error: float | None = LIBRARY["reviewer_error"]
    """Share of wrong answers; None learns it."""
    target_unfair_share: float | None = LIBRARY["target_unfair_share"]
    target: Target = LIBRARY["target"]
    """What the share limits: "flagged" rounds, or "estimated" truly unfair ones."""
    max_unfair_rounds: int | None = LIBRARY["max_unfair_rounds"]
    metric: MetricName = "auto"
    """"auto" is FairBandit's default."""
    bound: float = 1.0
    """The first bound on the metric. A new desk with a schema takes it from there: see `bound_for`."""
    intercept_in_metric: bool = True
    """Whether the metric has unknowns for the last feature. A new desk whose schema has an intercept needs none."""
    play: str = "mean"
    """Whose judgement is played where reviewers are modelled one by one (metric "auto" or "Score"): the "mean" of all,
    their "minimum", as any of them may object, or that of the reviewer with this name."""
    caution: float | None = None
    """The quantile of a distance that is played: lower is flagged less, and earns less. None is the metric's own."""
    prior: Matrix | None = None
    """A metric learned elsewhere, (d, d), without the intercept: with "KnownMetric" the metric itself, with "auto" and
    "BayesPoint" where the belief starts."""
    prior_weight: float = 1.0
    """How much that weighs: variances of the first belief are divided by it."""
    reward: RewardSettings = field(default_factory=RewardSettings)
    """The reward model: RidgeUCB, LogisticUCB for yes/no outcomes, KnownReward, or Predictor with a model of yours."""
    overlap: float = 0.0
    """The share of queued pairs that two reviewers are asked about, to measure agreement."""
    pairs_per_decision: int = 3
    """Maximum number of pairs of a decision in the review queue."""
    reviewing: ReviewRules = field(default_factory=ReviewRules)
    """How pairs are shown to reviewers."""
    shadow: bool = False
    """Whether the desk only says what it would decide, beside a system in force; switched with `Desk.switch`."""
    seed: int = 0
    """The randomness of the metric learner and of signatures; draws of candidates have keys of their own: `lottery`."""

    @classmethod
    def create(cls, **settings: Any) -> DeskSettings:
        """Settings of a new desk, checked: one of n_features, features and schema, and any others."""
        return cls._read(settings, is_new=True)

    @classmethod
    def _read(cls, values: Mapping[str, Any], *, is_new: bool) -> DeskSettings:
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise InvalidInput(f"unknown setting {', '.join(unknown)}; the settings are {', '.join(sorted(known))}")
        schema = _read_schema(values.get("schema"))
        features = _read_names(values.get("features"), schema)
        read: dict[str, Any] = {
            "schema": schema,
            "features": features,
            "n_features": _read_size(values.get("n_features"), features, schema),
            "seed": _read_seed(values.get("seed")),
            "reviewing": ReviewRules.create(values.get("reviewing")),
            "reward": RewardSettings.create(values.get("reward")),
        }
        if is_new and schema is not None:
            varying = schema.n_features - schema.intercept
            chosen = {"intercept_in_metric": not schema.intercept, "bound": bound_for(varying, schema.farthest)}
            values = {**chosen, **values}
        varying = read["n_features"] - (not check_bool("intercept_in_metric", values.get("intercept_in_metric", True)))
        read["prior"] = read_prior(values.get("prior"), read["n_features"], varying)
        settings = cls(**{**values, **read})
        check_mode(settings.mode)
        check_one_of("metric", settings.metric, get_args(MetricName))
        check_one_of("structure", settings.structure, get_args(Structure))
        if is_new and settings.n_features > MOST_FULL and settings.structure == "full":
            raise InvalidInput(
                f"n_features must be at most {MOST_FULL} with structure 'full', or {MOST_FEATURES} with 'auto' or "
                f"'diagonal', got {settings.n_features}"
            )
        check_error_rate(settings.reviewer_error, "reviewer_error")
        check_metric_settings(settings)
        check_bool("shadow", settings.shadow)
        check_text("play", settings.play)
        settings._check_changeable()
        most = MOST_SAMPLED["diagonal" if settings.structure == "diagonal" else "full"]
        if is_new and settings.metric in SAMPLING and settings.n_features > most:
            raise InvalidInput(
                f"n_features must be at most {most} with metric '{settings.metric}' and structure "
                f"'{settings.structure}', got {settings.n_features}"
            )
        try:  # the parts check the rest: epsilon, as all metric learners do
            is_slow = settings.metric in ("auto", "VersionSpace")
            quick = replace(settings, metric="BayesPoint") if is_slow else settings
            (quick if settings.reward.is_complete else replace(quick, reward=RewardSettings())).first_bandit()
        except EvenhandError:
            raise
        except (TypeError, ValueError, MemoryError) as error:
            raise InvalidInput(f"no desk can be made with these settings: {error}") from None
        if is_new:
            settings._check_limits(MAY_CHANGE)
        return settings

    @property
    def attributes(self) -> list[str]:
        """What candidates can be grouped by: what is carried, without ids, and the features."""
        carried = () if self.schema is None else (name for name in self.schema.carry if name != ID)
        return [*carried, *(self.features or coordinates(self.n_features))]

    def _check_changeable(self) -> None:
        check_capacity(self.mode, self.capacity)
        Margin.counting(self.target, self.target_unfair_share)
        whole_or_none("max_unfair_rounds", self.max_unfair_rounds, least=0)
        check_share("overlap", self.overlap)
        check_whole("pairs_per_decision", self.pairs_per_decision, least=0, most=MOST_PAIRS_PER_DECISION)
        if self.features is not None:
            check_attributes(self.reviewing, self.features)

    def _check_limits(self, names: Collection[str]) -> None:
        """InvalidInput for values that are refused today; desks of 0.1 that have them keep them."""
        for name, most in (("capacity", MOST_CAPACITY), ("max_unfair_rounds", MOST_ROUNDS)):
            value = getattr(self, name)
            if name in names and value is not None and value > most:
                raise refusal(name, f"at most {most:,} or None", value)
        if "reviewing" in names:
            check_attributes(self.reviewing, self.features or coordinates(self.n_features))

    def changed(self, changes: Mapping[str, Any]) -> DeskSettings:
        """These settings with changes; InvalidInput for one that may not change while a desk runs."""
        if not isinstance(changes, Mapping) or not changes:
            raise refusal("changes", f"a dict of settings ({', '.join(MAY_CHANGE)})", changes)
        if "shadow" in changes:
            raise InvalidInput("shadow is changed with a switch, an event of its own: Desk.switch, POST .../switches")
        fixed = [str(name) for name in changes if name not in MAY_CHANGE]
        if fixed:
            raise InvalidInput(
                f"{', '.join(fixed)} cannot change while a desk runs, only {', '.join(MAY_CHANGE)}; open another desk "
                "and import the ledger of this one for a warm start"
            )
        settings = replace(self, **{**changes, "reviewing": self.reviewing.changed(changes.get("reviewing"))})
        settings._check_changeable()
        settings._check_limits(changes)
        return settings

    def first_bandit(self) -> QuietBandit:
        """The bandit of a desk without events; the same from the same settings, to the bit."""
        streams = [np.random.Generator(np.random.PCG64(s)) for s in np.random.SeedSequence(self.seed).spawn(2)]
        return QuietBandit(
            self.n_features,
            capacity=self.capacity,
            mode=self.mode,
            metric=learner_of(self, streams[1]),
            reward=self.reward.make(self.n_features),
            seed=streams[0],
            target_unfair_share=self.target_unfair_share,
            target=self.target,
            max_unfair_rounds=self.max_unfair_rounds,
        )

    def apply_to(self, bandit: QuietBandit) -> None:
        """Apply the settings that may change to a running bandit."""
        bandit.capacity = self.capacity
        state = bandit.safeguards.state()
        before = (state["margin"]["target"], state.get("target", "flagged"), state["max_unfair_rounds"])
        if before == (self.target_unfair_share, self.target, self.max_unfair_rounds):
            return
        state["margin"] = {**state["margin"], "target": self.target_unfair_share, "step": STEPS[self.target]}
        state["target"], state["max_unfair_rounds"] = self.target, self.max_unfair_rounds
        if self.max_unfair_rounds is None:
            state["capped_at"] = None
        elif state["capped_at"] is None and len(state["flagged_rounds"]) >= self.max_unfair_rounds:
            state["capped_at"] = state["rounds"]
        bandit.safeguards = Safeguards.from_state(state)

    def to_dict(self, *, with_model: bool = True) -> dict[str, Any]:
        """All settings as JSON, for the ledger; the seed in hexadecimal digits. Without the model, only its digest."""
        return {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "features": None if self.features is None else list(self.features),
            "schema": None if self.schema is None else self.schema.to_dict(),
            "seed": f"{self.seed:x}",
            "reviewing": self.reviewing.to_dict(),
            "prior": None if self.prior is None else [list(row) for row in self.prior],
            "reward": self.reward.to_dict(with_model=with_model),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> DeskSettings:
        """The settings that `to_dict` wrote."""
        return cls._read({**record, "seed": int(record["seed"], 16)}, is_new=False)

    def differences(self, settings: Mapping[str, Any]) -> list[str]:
        """Names of the settings passed that differ from these; without a seed, the seed does not differ."""
        other = DeskSettings.create(**{"seed": self.seed, **settings})
        named = set(settings) - {"n_features", "features", "schema"}
        differ = [name for name in sorted(named) if getattr(other, name) != getattr(self, name)]
        is_same = (other.n_features, other.schema) == (self.n_features, self.schema)
        return differ if is_same and other.features in (None, self.features) else ["features", *differ]


def _read_schema(schema: Any) -> Schema | None:
    if schema is None:
        return None
    if not isinstance(schema, Schema | Mapping):
        raise refusal("schema", "an evenhand.Schema, or the dict of its to_dict()", schema)
    read = schema if isinstance(schema, Schema) else Schema.from_dict(dict(schema))
    if read.is_open:
        raise InvalidInput(
            "schema must have scales that are fitted to a table, with schema.fitted(rows), got open ones"
        )
    return read


def _read_names(names: Any, schema: Schema | None) -> tuple[str, ...] | None:
    if schema is not None:
        return schema.names
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, (list, tuple)) or not names:
        raise refusal("features", "a list of names, one for each feature", names)
    checked = tuple(check_name(name, "the name of a feature") for name in names)
    if len(set(checked)) < len(checked):
        raise refusal("features", "unique names", list(checked))
    return checked


def _read_size(size: Any, names: tuple[str, ...] | None, schema: Schema | None) -> int:
    known = schema.n_features if schema is not None else None if names is None else len(names)
    if size is None and known is None:
        raise InvalidInput("a new desk needs one of n_features, features and schema")
    if size is not None:
        check_whole("n_features", size, least=1, most=MOST_FEATURES)
    if size is not None and known is not None and size != known:
        raise InvalidInput(f"n_features must be {known}, the number of named features, or left out, got {size}")
    return int(size) if size is not None else cast("int", known)


def _read_seed(seed: Any) -> int:
    if seed is None:
        return secrets.randbits(128)
    if not 0 <= check_whole("seed", seed, least=0, also="None") < 2**128:
        raise refusal("seed", "below 2^128 or None", seed)
    return int(seed)


def coordinates(n_features: int) -> tuple[str, ...]:
    """Names for the features of a desk without names.

    >>> coordinates(2)
    ('feature 1', 'feature 2')
    """
    return tuple(f"feature {i + 1}" for i in range(n_features))
