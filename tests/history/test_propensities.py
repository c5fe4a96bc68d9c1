"""Chances of past decisions: recorded, or estimated by models that never saw the round."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from evenhand._internal.arrays import Floats
from evenhand.errors import InvalidInput
from evenhand.history import (
    PastLog,
    estimate_propensities,
    expected_outcomes,
    overlap_of,
    recorded_propensities,
)
from evenhand.history._padded import round_sums
from evenhand.schema import Number, Schema, YesNo
from tests.support.simulated_log import CANDIDATES, simulated_log


class Memory(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Remembers everybody it has seen: says 1 of those, and the share of chosen of others."""

    def fit(self, X: Floats, y: Any) -> Memory:
        """Remember."""
        self.classes_, self.share_ = np.array([False, True]), float(np.mean(y))
        self.seen_ = {row.tobytes() for row in X}
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """1 for those seen."""
        p = np.array([1.0 if row.tobytes() in self.seen_ else self.share_ for row in X])
        return np.column_stack([1 - p, p])

    def predict(self, X: Floats) -> Any:
        """Whether seen."""
        return self.predict_proba(X)[:, 1] > 0.5


def _separate(n: int, seed: int) -> tuple[PastLog, Floats]:
    """A log in which each candidate was decided on their own, and the true chances."""
    rng = np.random.default_rng(seed)
    log = simulated_log(n, 1, rng)
    true = 1 / (1 + np.exp(-(log.contexts @ [2.0, -1.0, 0.0, 0.5] + 0.3)))
    chosen = rng.random(len(true)) < true
    outcomes = np.where(chosen, rng.random(len(true)), np.nan)
    return replace(log, chosen=chosen, outcomes=outcomes, probabilities=None, capacities=log.sizes), true


def test_nobody_is_predicted_by_a_model_that_saw_their_round() -> None:
    """A classifier that remembers whom it saw would give itself away by chances of 1."""
    log = replace(simulated_log(50, 3, np.random.default_rng(0)), probabilities=None)
    found = estimate_propensities(log, model=Memory(), choice="separate", calibrate=False)
    assert found.values.max() < 0.5
    log = replace(log, outcomes=np.where(log.chosen, (np.arange(500) % 2).astype(float), np.nan))
    assert expected_outcomes(log, model=Memory()).values.max() < 0.9


@pytest.mark.parametrize("capacity", [1, 5])
def test_competing_candidates(capacity: int) -> None:
    """Where all rounds fill the same number of places, chances add up to it, and are close to the true ones."""
    log = simulated_log(400, capacity, np.random.default_rng(1))
    true, unknown = log.probabilities, replace(log, probabilities=None)
    found = estimate_propensities(unknown)
    assert found.choice == "competing"
    assert "conditional logistic regression, given the number of places" in found.model
    np.testing.assert_allclose(round_sums(found.values, log.starts), capacity)
    assert true is not None
    assert np.abs(found.values - true).max() < 0.12
    boosted = estimate_propensities(unknown, model=HistGradientBoostingClassifier(max_iter=20))
    np.testing.assert_allclose(round_sums(boosted.values, log.starts), capacity)
    assert "HistGradientBoostingClassifier, calibrated by a sigmoid" in boosted.model
    assert np.abs(boosted.values - true).mean() < 0.1


def test_separate_decisions_and_their_calibration() -> None:
    """Chances of people decided one by one are close to the truth; of each tenth, as many were chosen as predicted."""
    log, true = _separate(400, 2)
    found = estimate_propensities(log)
    assert found.choice == "separate"
    assert np.abs(found.values - true).max() < 0.08
    overlap = overlap_of(log, found)
    assert max(abs(each.mean - each.share) for each in overlap.calibration) < 0.07
    assert sum(each.candidates for each in overlap.calibration) == 4000
    assert "the table cannot show whether that is so" in overlap.statements[-1]


def test_a_rule_leaves_no_overlap() -> None:
    """Where features determine decisions, the statement says so, and whom nothing is known of."""
    log, _ = _separate(200, 3)
    chosen = log.contexts[:, 0] > 0.2
    log = replace(log, chosen=chosen, outcomes=np.where(chosen, 1.0, np.nan))
    overlap = overlap_of(log, estimate_propensities(log))
    assert overlap.ranked > 0.99
    assert overlap.without_chance > 500
    assert any("nothing can be estimated" in text for text in overlap.statements)
    assert any("nearly determine past decisions" in text for text in overlap.statements)


def test_groups_who_were_never_chosen_are_named() -> None:
    """A yes or no with which nobody was chosen is named by its feature."""
    rng = np.random.default_rng(0)
    schema = Schema([Number("age", low=0, high=100), YesNo("guarantor")])
    rows = [{"age": float(rng.integers(0, 100)), "guarantor": bool(i % 3)} for i in range(120)]
    contexts = schema.encode(rows)
    chosen = [[i for i in range(6) if rows[6 * t + i]["guarantor"] and i < 3] for t in range(20)]
    log = PastLog.of([contexts[6 * t : 6 * t + 6] for t in range(20)], chosen, [dict.fromkeys(c, 1.0) for c in chosen])
    overlap = overlap_of(replace(log, schema=schema), estimate_propensities(log))
    assert overlap.never == ("not guarantor (40 candidates)",)


def test_recorded_chances_are_taken_as_they_are() -> None:
    """They count as the real ones, however small; somebody chosen with probability 0 is an error."""
    log = simulated_log(10, 1, np.random.default_rng(0))
    assert log.probabilities is not None
    tiny = np.where(log.chosen, 1e-6, log.probabilities)
    found = recorded_propensities(replace(log, probabilities=tiny))
    assert found.is_supported.all()
    with pytest.raises(InvalidInput, match="probabilities of chosen candidates must be > 0, got 0 for"):
        recorded_propensities(replace(log, probabilities=np.where(log.chosen, 0.0, 0.1)))
    with pytest.raises(InvalidInput, match="the log must have probabilities, got none"):
        recorded_propensities(replace(log, probabilities=None))


def test_what_cannot_be_modelled_is_refused() -> None:
    """Too few rounds, too few chosen, models of another kind, classifiers of many outcomes."""
    log = replace(simulated_log(30, 1, np.random.default_rng(0)), probabilities=None)
    for wrong, message in (
        ({"model": Memory}, "model must be a scikit-learn estimator with fit and predict_proba"),
        ({"choice": "random"}, "choice must be 'auto', 'separate' or 'competing'"),
        ({"folds": 1}, "folds must be a whole number >= 2"),
        ({"folds": 31}, "a log must have at least 31 rounds"),
    ):
        with pytest.raises(InvalidInput, match=message):
            estimate_propensities(log, **wrong)
    few = replace(log, chosen=np.arange(300) < 2)
    with pytest.raises(InvalidInput, match="the model of past decisions cannot be fitted to"):
        estimate_propensities(few, model=HistGradientBoostingClassifier(), choice="separate")
    everybody = replace(log, chosen=np.ones(30 * CANDIDATES, dtype=np.bool_))
    with pytest.raises(InvalidInput, match="got 300 chosen of 300"):
        estimate_propensities(everybody)
    with pytest.raises(InvalidInput, match="needs at least 10 of them, got 5"):
        expected_outcomes(log.take(range(5)))
    varied = replace(log, outcomes=np.where(log.chosen, np.arange(300.0), np.nan))
    with pytest.raises(InvalidInput, match="can model 2 different outcomes at most, got 30"):
        expected_outcomes(varied, model=Memory())


def test_chances_of_people_decided_one_at_a_time() -> None:
    """A chance far below that of others counts as none in rounds of one candidate, too: round sizes change nothing."""
    rng = np.random.default_rng(4)
    log = replace(simulated_log(200, 1, rng), probabilities=None)
    n = log.n_candidates
    chosen = rng.random(n) < 1 / (1 + np.exp(-12 * log.contexts[:, 0]))
    together = replace(log, chosen=chosen, capacities=log.sizes)
    names = tuple(map(str, range(n)))
    alone = replace(together, starts=np.arange(n + 1), capacities=np.ones(n, dtype=np.int64), names=names)
    model = LogisticRegression(C=100)
    found = [estimate_propensities(one, model=model, choice="separate", calibrate=False) for one in (together, alone)]
    assert found[1].floors[0] == pytest.approx(0.05 * chosen.mean(), rel=0.05)
    without = [int((~one.is_supported).sum()) for one in found]
    assert without[0] > 50
    assert without[1] == pytest.approx(without[0], rel=0.1)
