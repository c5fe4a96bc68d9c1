"""Metrics of other libraries: anything with `get_mahalanobis_matrix()`, as metric-learn's estimators have it."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.factorisations import eigh
from evenhand.errors import InvalidInput
from evenhand.metrics.gaussian.prior_mean import check_metric, matrix_in
from evenhand.metrics.known_metric import KnownMetric


def from_metric_learn(estimator: Any) -> KnownMetric:
    """The metric of a fitted estimator as a learner that plays it and learns nothing.

    estimator: of metric-learn, another of our learners, or anything else with get_mahalanobis_matrix() -> (d, d). To
    learn on from it, pass it to `BayesPoint(d, prior=estimator)`.

    >>> from evenhand.metrics import BayesPoint
    >>> from_metric_learn(BayesPoint(2)).matrix().round(3).tolist()
    [[0.354, 0.0], [0.0, 0.354]]
    """
    if not hasattr(estimator, "get_mahalanobis_matrix"):
        raise InvalidInput(f"estimator must have get_mahalanobis_matrix(), got {estimator!r}")
    matrix = np.asarray(matrix_in("estimator", estimator), dtype=np.float64)
    return KnownMetric(root_of(check_metric("the matrix of estimator", matrix, len(matrix))))


def root_of(matrix: Floats) -> Floats:
    """A (d, d) with A'A = G, for a positive semidefinite G (d, d).

    >>> root_of(np.diag([4.0, 9.0])).round(12).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    values, vectors = eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
