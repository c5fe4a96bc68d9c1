"""The bandit that fits a schema: the metric has no unknowns for the intercept, and knows how far people are apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.bandit import FairBandit
from evenhand.metrics import BayesPoint, MetricLearner, VersionSpace, WithoutIntercept, default_learner
from evenhand.metrics.default import structure_for
from evenhand.metrics.features import Structure
from evenhand.metrics.learner_settings import bound_for
from evenhand.schema import Schema


def bandit_of_schema(
    schema: Schema,
    *,
    capacity: int | None,
    epsilon: float,
    structure: Structure = "auto",
    metric: str | None = None,
    reviewer_error: float | None = None,
    seed: int | None = None,
    **safeguards: Any,
) -> FairBandit:
    """A bandit for the contexts of a schema; metric: "BayesPoint", "VersionSpace", or the default learner.

    >>> from evenhand.schema import Number
    >>> bandit_of_schema(Schema([Number("age", low=18, high=90)]), capacity=1, epsilon=0.05).n_features
    2
    """
    varying = schema.n_features - schema.intercept
    structure = structure_for(varying, structure)
    settings: dict[str, Any] = {"structure": structure, "epsilon": epsilon, "error_rate": reviewer_error}
    settings["bound"] = bound_for(varying, schema.farthest)
    blocks = schema.block_labels[:varying] if structure == "auto" else None
    (own,) = np.random.default_rng(seed).spawn(1)
    learner: MetricLearner
    if metric == "BayesPoint":
        learner = BayesPoint(varying, blocks=blocks, **settings)
    elif metric == "VersionSpace":
        learner = VersionSpace(varying, seed=own, **settings)
    else:
        learner = default_learner(varying, blocks=blocks, seed=own, **settings)
    learner = WithoutIntercept(learner) if schema.intercept else learner
    return FairBandit(schema.n_features, capacity=capacity, metric=learner, seed=seed, **safeguards)
