"""The metric learner that a desk's settings describe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from evenhand._internal.checks import check_number
from evenhand.errors import InvalidInput
from evenhand.metrics import (
    BayesPoint,
    Ellipsoid,
    Guarded,
    KnownMetric,
    MetricLearner,
    ProjectedVolume,
    Score,
    VersionSpace,
    WithoutIntercept,
    default_learner,
)
from evenhand.metrics.default import structure_for
from evenhand.metrics.from_metric_learn import root_of
from evenhand.metrics.gaussian.prior_mean import check_metric, matrix_in

if TYPE_CHECKING:
    from evenhand.desk.settings import DeskSettings

MetricName = Literal[
    "auto", "BayesPoint", "ProjectedVolume", "Ellipsoid", "Guarded", "VersionSpace", "Score", "KnownMetric"
]

Matrix = tuple[tuple[float, ...], ...]

WITH_PRIOR = ("auto", "BayesPoint", "Guarded", "KnownMetric")
"""Metrics that start from a matrix."""

WITH_CAUTION = ("auto", "BayesPoint", "Guarded", "VersionSpace", "Score")
"""Metrics that play a quantile of what they believe."""

WITH_PLAY = ("auto", "Score")
"""Metrics that model reviewers one by one."""


def read_prior(value: Any, n_features: int, varying: int) -> Matrix | None:
    """A matrix for the metric of the `varying` features that it has unknowns for, checked; None for none.

    It may have a row and a column for the intercept, which do not count.
    """
    if value is None:
        return None
    value = matrix_in("prior", value)
    try:
        table = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.shape == (n_features, n_features):
        table = table[:varying, :varying]
    checked = check_metric("prior", value if table.ndim != 2 else table, varying)
    return tuple(tuple(row) for row in checked.tolist())


def check_metric_settings(settings: DeskSettings) -> None:
    """InvalidInput for settings that the metric does not have."""
    metric = settings.metric
    if settings.caution is not None:
        check_number("caution", settings.caution, above=0, below=1)
        _refuse_unless("caution", metric, WITH_CAUTION)
    if settings.play != "mean":
        _refuse_unless("play", metric, WITH_PLAY)
        if metric == "auto" and settings.reviewer_error is not None:
            raise InvalidInput("play must be left out with a reviewer_error: one metric is learned of all then")
    if settings.prior is not None:
        _refuse_unless("prior", metric, WITH_PRIOR)
    elif metric == "KnownMetric":
        raise InvalidInput("metric 'KnownMetric' needs prior, the matrix of the metric")
    check_number("prior_weight", settings.prior_weight, above=0)
    if settings.prior_weight != 1.0 and (settings.prior is None or metric == "KnownMetric"):
        raise InvalidInput("prior_weight must be left out without a prior that is learned from")


def _refuse_unless(name: str, metric: str, metrics: Sequence[str]) -> None:
    if metric not in metrics:
        raise InvalidInput(f"{name} must be left out with metric {metric!r}; it is a setting of {', '.join(metrics)}")


def learner_of(settings: DeskSettings, rng: np.random.Generator) -> MetricLearner:
    """A new metric learner; the same from the same settings, to the bit."""
    if settings.intercept_in_metric:
        return _learner(settings, settings.n_features, rng)
    return WithoutIntercept(_learner(settings, settings.n_features - 1, rng))


def _learner(settings: DeskSettings, d: int, rng: np.random.Generator) -> MetricLearner:
    structure, metric, rate = structure_for(d, settings.structure), settings.metric, settings.reviewer_error
    common = cast("dict[str, Any]", {"structure": structure, "epsilon": settings.epsilon, "bound": settings.bound})
    # Without "auto" they would change nothing but the state: earlier desks keep theirs.
    blocks = settings.schema.block_labels[:d] if settings.schema is not None and structure == "auto" else None
    quantile: dict[str, Any] = {} if settings.caution is None else {"quantile": settings.caution}
    prior: dict[str, Any] = {"prior": settings.prior, "weight": settings.prior_weight}
    if metric == "KnownMetric":
        return KnownMetric(root_of(np.array(settings.prior, dtype=np.float64)))
    if metric == "Score":
        return Score(d, play=settings.play, **quantile)
    if metric == "Ellipsoid":
        return Ellipsoid(d, **common)
    if metric == "ProjectedVolume":
        return ProjectedVolume(d, seed=rng, **common)
    if metric == "auto":
        return default_learner(
            d, error_rate=rate, play=settings.play, blocks=blocks, seed=rng, **quantile, **prior, **common
        )
    if metric == "VersionSpace":
        return VersionSpace(d, error_rate=rate, seed=rng, **quantile, **common)
    caution: dict[str, Any] = {} if settings.caution is None else {"caution": settings.caution}
    fast = BayesPoint(d, error_rate=rate, blocks=blocks, **caution, **prior, **common)
    if metric == "BayesPoint":
        return fast
    common["epsilon"] = Guarded.tuning.epsilon if settings.epsilon is None else settings.epsilon
    return Guarded(fast, ProjectedVolume(d, seed=rng, **common))
