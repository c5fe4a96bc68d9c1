"""Settings of a desk: what it was opened with, what may change while it runs, and the bandit they make."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

import numpy as np

from evenhand._internal.checks import is_number, is_whole
from evenhand.bandit.margin import Margin
from evenhand.bandit.safeguards import Safeguards
from evenhand.desk.projection.quiet_bandit import QuietBandit
from evenhand.desk.review_rules import ReviewRules, check_hidden
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.ledger.names import check_name
from evenhand.metrics import BayesPoint, Ellipsoid, Guarded, MetricLearner, ProjectedVolume
from evenhand.metrics.features import Structure
from evenhand.schema import Schema

METRICS = ("BayesPoint", "ProjectedVolume", "Ellipsoid", "Guarded")

MAY_CHANGE = ("capacity", "target_unfair_share", "max_unfair_rounds", "overlap", "pairs_per_decision", "reviewing")
"""DeskSettings that may change while a desk runs; the others would make another bandit of it."""


@dataclass(frozen=True)
class DeskSettings:
    """What a desk is made with. Make it with `DeskSettings.create(...)`, which checks."""

    n_features: int
    features: tuple[str, ...] | None = None
    """Names of the features, in order; candidates may then be given by name."""
    schema: Schema | None = None
    """Kinds and ranges of the features; candidates may then be given as they are."""
    capacity: int | None = 1
    epsilon: float | None = None
    structure: Structure = "full"
    reviewer_error: float | None = None
    """How often an answer is wrong; None learns it. People review at desks, and one wrong answer in ten taken at its
    word ends with equal odds; learning the rate costs next to nothing if nobody errs (docs/findings.md)."""
    target_unfair_share: float | None = None
    max_unfair_rounds: int | None = None
    metric: str = "BayesPoint"
    overlap: float = 0.0
    """The share of waiting pairs that two reviewers are asked about, to see how far they agree."""
    pairs_per_decision: int = 3
    """How many pairs of a decision wait for a reviewer, at most."""
    reviewing: ReviewRules = field(default_factory=ReviewRules)
    """How people are asked about pairs."""
    seed: int = 0
    """All randomness of the desk comes from it: whoever knows it can foresee the draws."""

    @classmethod
    def create(cls, **given: Any) -> DeskSettings:
        """DeskSettings as a user gives them: one of n_features, features and schema, and any others; all checked."""
        return cls._read(given, is_new=True)

    @classmethod
    def _read(cls, given: Mapping[str, Any], *, is_new: bool) -> DeskSettings:
        known = {field.name for field in fields(cls)}
        wrong = sorted(set(given) - known)
        if wrong:
            raise InvalidInput(f"there is no setting {', '.join(wrong)}; the settings are {', '.join(sorted(known))}")
        wanted = dict(given)
        wanted["schema"] = _read_schema(given.get("schema"))
        wanted["features"] = _read_names(given.get("features"), wanted["schema"])
        wanted["n_features"] = _read_size(given.get("n_features"), wanted["features"], wanted["schema"])
        wanted["seed"] = _read_seed(given.get("seed"))
        wanted["reviewing"] = ReviewRules.create(given.get("reviewing"))
        settings = cls(**wanted)
        if is_new:
            settings._check_fits_memory()
        settings._check()
        if is_new:
            settings._check_limits(MAY_CHANGE)
        return settings

    def _check_fits_memory(self) -> None:
        """InvalidInput for a new desk whose metric learner would hold more than a machine should be asked for."""
        most = MOST_FEATURES if self.structure == "diagonal" else MOST_FULL
        if self.n_features > most:
            raise InvalidInput(
                f"n_features is {self.n_features}; allowed are up to {MOST_FULL} with structure 'full' and up to "
                f"{MOST_FEATURES} with structure 'diagonal'"
            )

    def _check(self) -> None:
        if self.metric not in METRICS:
            raise InvalidInput(f"metric is {self.metric!r}; allowed are {', '.join(METRICS)}")
        if self.structure not in ("full", "diagonal"):
            raise InvalidInput(f"structure is {self.structure!r}; allowed are 'full' and 'diagonal'")
        error = self.reviewer_error
        if error is not None and (not is_number(error) or not 0 <= error < 0.5):
            raise InvalidInput(
                f"reviewer_error is {error!r}; allowed is a number from 0 to below 0.5, or None to learn it"
            )
        self._check_changeable()
        try:
            self.first_bandit()  # whatever else is wrong, its parts say
        except EvenhandError:
            raise
        except (TypeError, ValueError, MemoryError) as error:
            raise InvalidInput(f"no desk can be made of these settings: {error}") from None

    def _check_changeable(self) -> None:
        if self.capacity is not None and (not is_whole(self.capacity) or self.capacity < 1):
            raise InvalidInput(f"capacity is {self.capacity!r}; allowed is a whole number >= 1, or None for everybody")
        Margin(self.target_unfair_share)
        most = self.max_unfair_rounds
        if most is not None and (not is_whole(most) or most < 0):
            raise InvalidInput(f"max_unfair_rounds is {most!r}; allowed is a whole number >= 0, or None")
        if not is_number(self.overlap) or not 0 <= self.overlap <= 1:
            raise InvalidInput(f"overlap is {self.overlap!r}; allowed is a share of pairs, from 0 to 1")
        if self.features is not None:
            check_hidden(self.reviewing.hidden, self.features)
        if not is_whole(self.pairs_per_decision) or not 0 <= self.pairs_per_decision <= 1000:
            raise InvalidInput(f"pairs_per_decision is {self.pairs_per_decision!r}; allowed is a whole number to 1000")

    def changed(self, changes: Mapping[str, Any]) -> DeskSettings:
        """These settings with changes; InvalidInput for one that may not change while a desk runs."""
        if not isinstance(changes, Mapping) or not changes:
            raise InvalidInput(f"changes is {changes!r}; allowed is a dict of settings: {', '.join(MAY_CHANGE)}")
        wrong = [str(name) for name in changes if name not in MAY_CHANGE]
        if wrong:
            raise InvalidInput(
                f"{', '.join(wrong)} cannot change while a desk runs, only {', '.join(MAY_CHANGE)}; "
                "open another desk and import this one's ledger for a warm start"
            )
        settings = replace(self, **{**changes, "reviewing": self.reviewing.changed(changes.get("reviewing"))})
        settings._check_changeable()
        settings._check_limits(changes)
        return settings

    def _check_limits(self, named: Collection[str]) -> None:
        """InvalidInput for what no desk may be given any more, of the settings named; desks that have it keep it."""
        for name, most in (("capacity", MOST_CAPACITY), ("max_unfair_rounds", MOST_ROUNDS)):
            value = getattr(self, name)
            if name in named and value is not None and value > most:
                raise InvalidInput(f"{name} is {value}; allowed are up to {most:,}, or None")
        if "reviewing" in named:
            check_hidden(self.reviewing.hidden, self.features or coordinates(self.n_features))

    def first_bandit(self) -> QuietBandit:
        """The bandit of a desk that has seen nothing yet; the same from the same settings, to the bit."""
        streams = [np.random.Generator(np.random.PCG64(s)) for s in np.random.SeedSequence(self.seed).spawn(2)]
        return QuietBandit(
            self.n_features,
            capacity=self.capacity,
            metric=self._metric(streams[1]),
            seed=streams[0],
            target_unfair_share=self.target_unfair_share,
            max_unfair_rounds=self.max_unfair_rounds,
        )

    def _metric(self, rng: np.random.Generator) -> MetricLearner:
        d, common = self.n_features, {"structure": self.structure, "epsilon": self.epsilon}
        if self.metric == "Ellipsoid":
            return Ellipsoid(d, **cast("dict[str, Any]", common))
        if self.metric == "ProjectedVolume":
            return ProjectedVolume(d, seed=rng, **cast("dict[str, Any]", common))
        fast = BayesPoint(d, error_rate=self.reviewer_error, **cast("dict[str, Any]", common))
        if self.metric == "BayesPoint":
            return fast
        epsilon = 0.01 if self.epsilon is None else self.epsilon
        return Guarded(fast, ProjectedVolume(d, structure=self.structure, epsilon=epsilon, seed=rng))

    def apply_to(self, bandit: QuietBandit) -> None:
        """Make a running bandit keep to these settings, as far as they may change."""
        bandit.capacity = self.capacity
        state = bandit.safeguards.state()
        before = (state["margin"]["target"], state["max_unfair_rounds"])
        if before == (self.target_unfair_share, self.max_unfair_rounds):
            return
        state["margin"] = {**state["margin"], "target": self.target_unfair_share}
        state["max_unfair_rounds"] = self.max_unfair_rounds
        if self.max_unfair_rounds is None:
            state["capped_at"] = None
        elif state["capped_at"] is None and len(state["flagged_rounds"]) >= self.max_unfair_rounds:
            state["capped_at"] = state["rounds"]
        bandit.safeguards = Safeguards.from_state(state)

    def to_dict(self) -> dict[str, Any]:
        """All settings in JSON's own types, for the ledger; the seed in hexadecimal digits."""
        return {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "features": None if self.features is None else list(self.features),
            "schema": None if self.schema is None else self.schema.to_dict(),
            "seed": f"{self.seed:x}",
            "reviewing": self.reviewing.to_dict(),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> DeskSettings:
        """The settings that `to_dict` wrote down."""
        return cls._read({**record, "seed": int(record["seed"], 16)}, is_new=False)

    def differences(self, given: Mapping[str, Any]) -> list[str]:
        """Names of given settings that are not as they are here; a seed that was not given is no difference."""
        wanted = DeskSettings.create(**{"seed": self.seed, **given})
        named = set(given) - {"n_features", "features", "schema"}
        differ = [name for name in sorted(named) if getattr(wanted, name) != getattr(self, name)]
        same = (wanted.n_features, wanted.schema) == (self.n_features, self.schema)
        return differ if same and wanted.features in (None, self.features) else ["features", *differ]


def _read_schema(schema: Any) -> Schema | None:
    if schema is None or isinstance(schema, Schema):
        return schema
    if not isinstance(schema, Mapping):
        raise InvalidInput(f"schema is {schema!r}; allowed is an evenhand.Schema, or what its to_dict() gave")
    return Schema.from_dict(dict(schema))


def _read_names(names: Any, schema: Schema | None) -> tuple[str, ...] | None:
    if schema is not None:
        return schema.names
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, (list, tuple)) or not names:
        raise InvalidInput(f"features is {names!r}; allowed is a list of names, one for each feature")
    checked = tuple(check_name(name, "the name of a feature") for name in names)
    if len(set(checked)) < len(checked):
        raise InvalidInput("two features have the same name; names must be unique")
    return checked


def _read_size(size: Any, names: tuple[str, ...] | None, schema: Schema | None) -> int:
    known = schema.n_features if schema is not None else None if names is None else len(names)
    if size is None and known is None:
        raise InvalidInput("a new desk needs one of n_features, features and schema")
    if size is not None and (not is_whole(size) or not 1 <= size <= MOST_FEATURES):
        raise InvalidInput(f"n_features is {size!r}; allowed is a whole number from 1 to {MOST_FEATURES}")
    if size is not None and known is not None and size != known:
        raise InvalidInput(f"n_features is {size}, but {known} are named; leave n_features out")
    return int(size) if size is not None else cast("int", known)


MOST_CAPACITY = 1_000_000
MOST_ROUNDS = 2**53
MOST_FEATURES = 200
MOST_FULL = 100
"""With the structure full a learner of d features holds a table of d^4 / 4 numbers: at 100 it takes 200 megabytes and
a second or two to make, at 200 sixteen times as much. Desks that were opened before with more stay as they are."""


def coordinates(n_features: int) -> tuple[str, ...]:
    """What the features of a desk are called that has no names for them.

    >>> coordinates(2)
    ('feature 1', 'feature 2')
    """
    return tuple(f"feature {i + 1}" for i in range(n_features))


def _read_seed(seed: Any) -> int:
    if seed is None:
        return secrets.randbits(128)
    if not is_whole(seed) or not 0 <= seed < 2**128:
        raise InvalidInput(f"seed is {seed!r}; allowed is a whole number from 0 to 2^128 - 1, or None")
    return int(seed)
