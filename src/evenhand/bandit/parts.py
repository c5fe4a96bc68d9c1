"""Checks of what a bandit is made of."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any, get_args

import numpy as np

from evenhand._internal.checks import check_number, check_one_of, check_whole_or_none, refusal
from evenhand.errors import InvalidInput
from evenhand.metrics import MetricLearner, default_learner
from evenhand.metrics.features import Structure
from evenhand.metrics.learner_settings import check_error_rate
from evenhand.records.decision import Mode
from evenhand.rewards import RewardModel
from evenhand.schema import Schema


def check_capacity(mode: Mode, capacity: Any) -> float | None:
    """The capacity: whole with mode "lottery"; with "shares" any number > 0, as shares add up to it; or None."""
    if mode == "lottery" or capacity is None:
        return check_whole_or_none("capacity", capacity, least=1)
    number = check_number("capacity", capacity, above=0, also="None")
    return int(number) if number.is_integer() else number


def check_mode(mode: Any) -> Mode:
    """The mode; InvalidInput if it is none."""
    check_one_of("mode", mode, get_args(Mode))
    known: Mode = mode
    return known


def check_part(name: str, part: Any, kind: type[MetricLearner] | type[RewardModel], n_features: int) -> None:
    """Refuse a part of another class, or for another number of features."""
    if not isinstance(part, kind):
        raise refusal(name, f"a {kind.__name__}", part)
    if part.n_features != n_features:
        raise InvalidInput(f"{name} must have {n_features} features as the bandit has, got {part.n_features}")


def metric_or_default(
    metric: MetricLearner | None,
    n_features: int,
    *,
    structure: Structure,
    epsilon: float | None,
    reviewer_error: float | None,
    rng: np.random.Generator,
) -> MetricLearner:
    """`metric`, or the default one with these settings, which must not contradict those of another metric."""
    check_error_rate(reviewer_error, "reviewer_error")
    if metric is None:
        (own,) = rng.spawn(1)
        return default_learner(n_features, structure=structure, epsilon=epsilon, error_rate=reviewer_error, seed=own)
    check_part("metric", metric, MetricLearner, n_features)
    its_epsilon = getattr(metric, "epsilon", epsilon)
    if epsilon is not None and epsilon != its_epsilon:
        raise refusal("epsilon", f"None or the metric's, {its_epsilon}", epsilon)
    if reviewer_error is not None and reviewer_error != metric.error_rate:
        raise refusal("reviewer_error", f"None or the metric's, {metric.error_rate}", reviewer_error)
    if structure not in ("auto", metric.space.structure):
        raise refusal("structure", f"'auto' or the metric's, {metric.space.structure!r}", structure)
    return metric


def check_names(features: Schema | Sequence[str] | None, n_features: int) -> None:
    """Refuse names of another number of coordinates; None is fine."""
    if features is not None:
        named = features.coordinates if isinstance(features, Schema) else features
        if isinstance(named, str) or not isinstance(named, Sized) or len(named) != n_features:
            raise refusal("features", f"a Schema, or names, of {n_features} coordinates", features)


def check_learns_in(mode: Mode, reward: RewardModel) -> None:
    """Refuse a reward model that cannot learn from the outcomes of this mode."""
    if mode == "shares" and not reward.learns_shares:
        raise InvalidInput(
            f"reward must be a model that learns from shares for mode 'shares', such as RidgeUCB, got "
            f"{type(reward).__name__}"
        )
