"""The learned metric on the dashboard: the effect of each feature with its uncertainty, sentences, and the matrix."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.desk.explain.explanation import metric_of
from evenhand.schema.features import Number
from evenhand.schema.words import value_words

if TYPE_CHECKING:
    from evenhand.desk.projection.projection import Projection
    from evenhand.desk.settings import DeskSettings
    from evenhand.schema.effects import Comparison


def metric_part(projection: Projection, settings: DeskSettings) -> dict[str, Any]:
    """What the dashboard shows of the metric."""
    metric = metric_of(projection, settings)
    # Nobody differs in the intercept: its row, the last, says nothing.
    shown = settings.n_features - (settings.schema is not None and settings.schema.intercept)
    effects = _coordinates(metric.to_dict()) if settings.schema is None else _effects(projection, settings)
    return {
        "state": projection.seq,
        "kind": settings.metric,
        "by_range": settings.schema is not None,
        "reviews": projection.history.taught,
        "effects": effects,
        "sentences": list(metric.sentences),
        "coordinates": metric.coordinates[:shown],
        "matrix": [row[:shown] for row in metric.matrix[:shown]],
        "reviews_in_conflict": metric.reviews_in_conflict,
        "misleading_reviewers": metric.misleading_reviewers,
    }


def _effects(projection: Projection, settings: DeskSettings) -> list[dict[str, Any]]:
    """The effect of each feature of the schema alone, in the schema's order, so that bars keep their places."""
    learner, schema = projection.bandit.metric, settings.schema
    assert schema is not None
    explained = schema.explain(learner.get_mahalanobis_matrix(), ends=learner.ends_of)
    effects = []
    for name in schema.names:
        distance = explained[name].distance
        ends = {"value": distance.value, "lower": distance.lower, "upper": _finite(distance.upper)}
        effects.append({"name": name, "between": _between(explained[name].farthest), **ends})
    return effects


def _between(comparison: Comparison) -> str:
    """The two values that are farthest apart."""
    first, second = (value_words(comparison.feature, value) for value in (comparison.first, comparison.second))
    return f"{first} to {second}" if isinstance(comparison.feature, Number) else f"{first} or {second}"


def _finite(value: float | None) -> float | None:
    """None for no end at all: JSON has no infinity."""
    return None if value is None or math.isinf(value) else value


def _coordinates(metric: dict[str, Any]) -> list[dict[str, Any]]:
    """Without a schema: the effect of a difference of 1 in each coordinate."""
    rows = zip(metric["coordinates"], metric["distance"], metric["lower"], metric["upper"], strict=True)
    return [
        {"name": name, "between": "a difference of 1", "value": value, "lower": lower, "upper": _finite(upper)}
        for name, value, lower, upper in rows
    ]
