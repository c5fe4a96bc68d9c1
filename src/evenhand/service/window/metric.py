"""The learned metric for people: what each feature does with its uncertainty, sentences, and the matrix."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.desk.explain.explanation import metric_of
from evenhand.schema.features import Number
from evenhand.schema.words import value_words

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk
    from evenhand.desk.projection.projection import Projection
    from evenhand.desk.settings import DeskSettings
    from evenhand.schema.effects import Comparison, Distance


def metric_told(desk: Desk) -> dict[str, Any]:
    """What the window shows of the metric, as of the published state."""
    state, settings = desk.projection, desk.settings
    metric = metric_of(state, settings)
    # The intercept is the same for everybody: nobody differs in it, and the last row says nothing.
    shown = settings.n_features - (settings.schema is not None and settings.schema.intercept)
    return {
        "state": state.seq,
        "kind": settings.metric,
        "by_range": settings.schema is not None,
        "reviews": state.history.taught,
        "effects": _effects(state, settings) if settings.schema is not None else _coordinates(metric.to_dict()),
        "sentences": list(metric.sentences),
        "coordinates": metric.coordinates[:shown],
        "matrix": [row[:shown] for row in metric.matrix[:shown]],
        "reviews_in_conflict": metric.reviews_in_conflict,
        "misleading_reviewers": metric.misleading_reviewers,
    }


def _effects(state: Projection, settings: DeskSettings) -> list[dict[str, Any]]:
    """What each feature of the schema does alone, in the schema's order, so that bars stay where they are."""
    learner, schema = state.bandit.metric, settings.schema
    assert schema is not None
    told = schema.explain(learner.get_mahalanobis_matrix(), ends=learner.ends_of)
    return [
        {"name": name, "between": _between(told[name].farthest), **_distance(told[name].distance)}
        for name in schema.names
    ]


def _between(comparison: Comparison) -> str:
    """The two values that are the farthest apart."""
    first, second = (value_words(comparison.feature, value) for value in (comparison.first, comparison.second))
    return f"{first} to {second}" if isinstance(comparison.feature, Number) else f"{first} or {second}"


def _distance(distance: Distance) -> dict[str, float | None]:
    return {"value": distance.value, "lower": distance.lower, "upper": _finite(distance.upper)}


def _finite(value: float | None) -> float | None:
    """None stands for no end at all: JSON has no infinity."""
    return None if value is None or math.isinf(value) else value


def _coordinates(metric: dict[str, Any]) -> list[dict[str, Any]]:
    """Without a schema: what a difference of 1 in each coordinate does."""
    rows = zip(metric["coordinates"], metric["distance"], metric["lower"], metric["upper"], strict=True)
    return [
        {"name": name, "between": "a difference of 1", "value": value, "lower": lower, "upper": _finite(upper)}
        for name, value, lower, upper in rows
    ]
