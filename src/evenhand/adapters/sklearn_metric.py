"""A learned metric as a scikit-learn transformer: Euclidean distances of what it returns are those of the metric."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_whole_or_none
from evenhand._internal.factorisations import eigh
from evenhand.errors import MissingExtra
from evenhand.metrics.gaussian.prior_mean import check_metric, matrix_in

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ModuleNotFoundError as error:
    raise MissingExtra(f"{error.name} is missing: this adapter needs pip install 'evenhand[models]'") from error


class MetricTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Maps contexts so that ||transform(x) - transform(y)|| is the distance d(x, y) of a learned metric.

    metric: a bandit's `metric`, any metric learner, a fitted metric-learn estimator, or a matrix G (d, d); None is the
    Euclidean metric. n_components: keep this many directions, those in which people differ most; None keeps all.
    `fit` learns nothing: it checks that the table has the metric's features.

    >>> from evenhand.metrics import KnownMetric
    >>> people = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> transformer = MetricTransformer(KnownMetric([[0.5, 0.0]])).fit(people)
    >>> float(np.linalg.norm(np.subtract(*transformer.transform(people))))
    0.5
    """

    def __init__(self, metric: Any = None, *, n_components: int | None = None) -> None:
        self.metric = metric
        self.n_components = n_components

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Take the metric for tables of this many columns; y is ignored."""
        table = validate_data(self, X, dtype=np.float64)
        d = table.shape[1]
        kept = check_whole_or_none("n_components", self.n_components, least=1, most=d)
        matrix = np.eye(d) if self.metric is None else check_metric("metric", matrix_in("metric", self.metric), d)
        values, vectors = eigh(matrix)
        order = np.argsort(values, kind="stable")[::-1][:kept]
        self.components_ = (vectors[:, order] * np.sqrt(np.maximum(values[order], 0.0))).T
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """X times the root of the metric, (n, d) -> (n, n_components)."""
        check_is_fitted(self)
        table = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(table @ self.components_.T)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    # As metric-learn's estimators have it.

    def get_mahalanobis_matrix(self) -> Floats:
        """G, (d, d), of the directions that are kept."""
        check_is_fitted(self)
        return np.asarray(self.components_.T @ self.components_)

    def pair_distance(self, pairs: ArrayLike) -> Floats:
        """The distance of each of n pairs, (n, 2, d) -> (n,)."""
        check_is_fitted(self)
        both = np.asarray(pairs, dtype=np.float64)
        return np.asarray(np.linalg.norm((both[:, 0] - both[:, 1]) @ self.components_.T, axis=1))
