"""The trial of an uploaded model: in a process of its own, with limits of time and memory."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from evenhand.errors import InvalidInput
from evenhand.rewards import Predictor, model_trial
from evenhand.rewards.model_trial import check_in_child, trial


def test_a_trial_times_predicting_and_fitting() -> None:
    """The seconds of both, in this process."""
    found = trial(Predictor(LogisticRegression(), 3).recipe(), 3)
    assert set(found) == {"predicting", "fitting"}
    assert trial(Predictor(Ridge().fit(np.eye(3), np.ones(3)), refit_every=None).recipe(), 3)["fitting"] < 0.01


@pytest.mark.process
def test_a_good_model_passes_in_a_child() -> None:
    """Nothing is raised, nothing returned."""
    check_in_child(Predictor(Ridge(), 3).recipe(), 3)


@pytest.mark.process
def test_a_model_that_takes_too_long_is_refused() -> None:
    """One that would fit for hours is stopped."""
    endless = Predictor(GradientBoostingRegressor(n_estimators=10**8), 3).recipe()
    with pytest.raises(InvalidInput, match="within 8 s"):
        check_in_child(endless, 3, seconds=8.0)


@pytest.mark.process
def test_a_slow_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence has the limit and the time."""
    contexts = np.random.default_rng(0).normal(size=(50, 3))
    forest = RandomForestRegressor(100).fit(contexts, contexts[:, 0])
    monkeypatch.setattr(model_trial, "PREDICTING_SECONDS", 1e-6)
    with pytest.raises(InvalidInput, match=r"predict for 50 candidates within 1e-06 s, got \d"):
        check_in_child(Predictor(forest, refit_every=None).recipe(), 3)


@pytest.mark.process
def test_a_model_that_needs_too_much_memory_is_refused() -> None:
    """Features of features of features: the child runs out of memory, the caller does not."""
    hungry = Predictor(make_pipeline(PolynomialFeatures(7), Ridge()), 40, refit_every=1000).recipe()
    with pytest.raises(InvalidInput, match=r"MemoryError|memory|crash"):
        check_in_child(hungry, 40)
