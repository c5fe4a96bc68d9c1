"""Models that no learner sees: what candidates are worth, what a person would rate, and the metric nearest to that."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.factorisations import cholesky, inverse_of_lower
from evenhand.lab.people.answers import folds
from evenhand.lab.people.study import TOLERANCE

N_FOLDS = 10
"""Folds of candidates for cross-fitting: nobody's own outcome or rating enters the model that predicts it."""
PENALTY = 0.1
"""Of the squared weights of logistic and linear regressions; the constant is free."""
SMOOTHING = 1e-6  # Under the root of a squared distance, whose slope is infinite at zero.


def expected_rewards(contexts: Floats, outcomes: Floats) -> Floats:
    """The expected reward of each candidate (n,), by cross-fitted logistic regression; outcomes: 1 or -1."""

    def fit_predict(X: Floats, y: Floats, asked: Floats) -> Floats:
        return np.asarray(np.tanh(asked @ _logistic_weights(X, y) / 2.0))  # 2 p - 1

    return _cross_fitted(_with_constant(contexts), outcomes, fit_predict)


def _logistic_weights(X: Floats, y: Floats) -> Floats:
    from scipy.optimize import minimize

    def loss(w: Floats) -> tuple[float, Floats]:
        margins = y * (X @ w)
        slope = -X.T @ (y / (1.0 + np.exp(margins)))
        free = np.append(w[:-1], 0.0)
        return float(np.sum(np.logaddexp(0.0, -margins)) + PENALTY / 2 * free @ free), slope + PENALTY * free

    return np.asarray(minimize(loss, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B").x)


def _cross_fitted(X: Floats, y: Floats, fit_predict: Any) -> Floats:
    found, fold = np.empty(len(y)), folds(len(y), N_FOLDS, np.random.default_rng(0))
    for each in range(N_FOLDS):
        out = fold == each
        found[out] = fit_predict(X[~out], y[~out], X[out])
    return found


def _with_constant(contexts: Floats) -> Floats:
    return np.hstack([contexts, np.ones((len(contexts), 1))])


@dataclass(frozen=True, eq=False)
class PersonModel:
    """A person as a score of each candidate plus a normal residual, rounded to the levels of the scale."""

    scores: Floats
    """(n,), predictions of the ratings, as shares of the scale."""
    residual: float
    """The standard deviation of what the score leaves open."""
    levels: Floats
    """The ratings there are, as shares of the scale, increasing."""

    @classmethod
    def linear(cls, contexts: Floats, ratings: Floats, levels: Floats) -> PersonModel:
        """By cross-fitted ridge regression on the contexts (n, d)."""

        def fit_predict(X: Floats, y: Floats, asked: Floats) -> Floats:
            ridge = np.diag(np.append(np.full(X.shape[1] - 1, PENALTY), 1e-9))
            inverse = inverse_of_lower(cholesky(X.T @ X + ridge))
            return np.asarray(asked @ (inverse.T @ (inverse @ (X.T @ y))))

        return cls._of(_cross_fitted(_with_constant(contexts), ratings, fit_predict), ratings, levels)

    @classmethod
    def boosted(cls, contexts: Floats, ratings: Floats, levels: Floats) -> PersonModel:
        """By cross-fitted gradient boosting; needs scikit-learn."""
        ensemble: Any = importlib.import_module("sklearn.ensemble")

        def fit_predict(X: Floats, y: Floats, asked: Floats) -> Floats:
            small = {"max_iter": 60, "learning_rate": 0.08, "max_leaf_nodes": 6, "min_samples_leaf": 8}
            model = ensemble.HistGradientBoostingRegressor(**small, early_stopping=False, random_state=0)
            return np.asarray(model.fit(X, y).predict(asked))

        return cls._of(_cross_fitted(contexts, ratings, fit_predict), ratings, levels)

    @classmethod
    def _of(cls, scores: Floats, ratings: Floats, levels: Floats) -> PersonModel:
        return cls(scores, float(np.sqrt(np.mean((ratings - scores) ** 2))), levels)

    def drawn(self, rng: np.random.Generator) -> Floats:
        """Ratings of such a person, (n,): one residual for each candidate, then the nearest level."""
        latent = self.scores + self.residual * rng.normal(size=len(self.scores))
        return np.asarray(self.levels[np.argmin(np.abs(latent[:, None] - self.levels[None, :]), axis=1)])

    def chances(self) -> Floats:
        """The probability of each rating of each candidate, (n, n_levels)."""
        from scipy.special import ndtr

        edges = (self.levels[1:] + self.levels[:-1]) / 2
        below = ndtr((edges[None, :] - self.scores[:, None]) / max(self.residual, 1e-9))
        padded = np.hstack([np.zeros((len(below), 1)), below, np.ones((len(below), 1))])
        return np.asarray(np.diff(padded, axis=1))

    def cautious_distances(self, quantile: float) -> Floats:
        """The largest distance of each pair that the person's own falls below with at most this probability, (n, n)."""
        chances = self.chances()
        apart = np.round(np.abs(self.levels[:, None] - self.levels[None, :]), 9)
        steps, below = np.unique(apart), np.zeros((len(chances), len(chances)))
        found = np.zeros_like(below)
        for step in steps:
            found[below <= quantile] = step
            below += chances @ (apart == step) @ chances.T
        found += TOLERANCE
        np.fill_diagonal(found, 0.0)
        return found


def nearest_metric(contexts: Floats, distances: Floats) -> Floats:
    """A (d, d), for which ||A (x - y)|| is nearest to the distances (n, n) of all pairs, in squares."""
    from scipy.optimize import minimize

    first, second = np.triu_indices(len(contexts), 1)
    z, target, d = contexts[first] - contexts[second], distances[first, second], contexts.shape[1]

    def loss(flat: Floats) -> tuple[float, Floats]:
        A = flat.reshape(d, d)
        images = z @ A.T
        lengths = np.sqrt(np.sum(images**2, axis=1) + SMOOTHING)
        off = lengths - target
        return float(off @ off) / len(z), (2.0 * (images * (off / lengths)[:, None]).T @ z / len(z)).ravel()

    start = np.eye(d) * (np.mean(target) / np.mean(np.linalg.norm(z, axis=1)))
    return np.asarray(
        minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x.reshape(d, d)
    )
