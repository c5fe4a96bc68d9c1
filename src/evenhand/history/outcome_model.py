"""What outcome to expect of each candidate, were they chosen: a regression on those who were, cross-fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats, Mask
from evenhand._internal.randomness import Seed
from evenhand.errors import InvalidInput
from evenhand.history._cross_fitting import FOLDS, check_model, cross_fitted, fitted_model, scikit_learn
from evenhand.history.past_log import PastLog

FEWEST_OUTCOMES = 10


@dataclass(frozen=True, eq=False)
class ExpectedOutcomes:
    """The expected outcome of each of N candidates, were they chosen."""

    values: Floats
    """(N,)."""
    model: str
    """What they are, in a sentence."""


def expected_outcomes(log: PastLog, *, model: Any = None, folds: int = FOLDS, seed: Seed = 0) -> ExpectedOutcomes:
    """Outcomes by a model of those who were chosen; none of a round is predicted by a model that saw it.

    model: None for ridge regression on standardised coordinates, or logistic regression where all outcomes are 0 or 1;
    or any scikit-learn regressor, or classifier of two outcomes.
    """
    scikit_learn()
    from sklearn.base import clone, is_classifier
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    seen = log.is_observed
    if seen.sum() < FEWEST_OUTCOMES:
        raise InvalidInput(f"a model of outcomes needs at least {FEWEST_OUTCOMES} of them, got {int(seen.sum())}")
    levels = np.unique(log.outcomes[seen])
    if model is None:
        is_binary = set(levels.tolist()) <= {0.0, 1.0}
        words = "logistic regression" if is_binary else "ridge regression"
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000) if is_binary else Ridge())
    else:
        check_model("outcome_model", model, ("fit", "predict"))
        words = type(model).__name__
    if is_classifier(model) and len(levels) > 2:
        raise InvalidInput(f"a classifier can model 2 different outcomes at most, got {len(levels)}; pass a regressor")

    def fit(learn: Mask) -> Any:
        rows = learn & seen
        outcomes = log.outcomes[rows]
        if len(outcomes) == 0 or np.all(outcomes == outcomes[0]):
            constant = outcomes[0] if len(outcomes) else float(np.mean(log.outcomes[seen]))
            return lambda contexts: np.full(len(contexts), constant)
        if not is_classifier(model):
            return fitted_model("outcomes", clone(model), log.contexts[rows], outcomes).predict
        low, high = levels
        fitted = fitted_model("outcomes", clone(model), log.contexts[rows], outcomes == high)
        return lambda contexts: low + (high - low) * fitted.predict_proba(contexts)[:, 1]

    values = cross_fitted(log, fit, folds, seed)
    return ExpectedOutcomes(values, f"{words} on {int(seen.sum())} outcomes; cross-fitted in {folds} folds of rounds")
