"""Predictor: a user's own scikit-learn model, refitted on a schedule, the same again, and saved without pickle."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingRegressor, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from evenhand.bandit import FairBandit
from evenhand.errors import InvalidInput
from evenhand.rewards import Predictor
from evenhand.rewards._conformal import STEP
from evenhand.testing.metric_worlds import random_contexts

RNG = np.random.default_rng


def linear(n: int, seed: int = 0, noise: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Contexts (n, 3) and rewards that grow with the first feature."""
    rng = RNG(seed)
    contexts = random_contexts(rng, n, 3)
    return contexts, 0.8 * contexts[:, 0] + noise * rng.normal(size=n)


def yes_no(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Contexts (n, 3) and outcomes 0 and 1."""
    contexts, rewards = linear(n, seed, noise=0.3)
    return contexts, (rewards > 0.0).astype(np.float64)


def test_a_fitted_model_predicts_from_the_start() -> None:
    """Its estimates are the model's own, for a regressor and a classifier."""
    contexts, rewards = linear(50)
    ridge = Ridge().fit(contexts, rewards)
    np.testing.assert_allclose(Predictor(ridge).estimate(contexts), ridge.predict(contexts), rtol=1e-12)
    contexts, answers = yes_no(50)
    logistic = LogisticRegression().fit(contexts, answers)
    np.testing.assert_allclose(
        Predictor(logistic).estimate(contexts), logistic.predict_proba(contexts)[:, 1], rtol=1e-12
    )


def test_a_fitted_model_is_played_as_it_is_until_the_first_refit() -> None:
    """Before that nothing is known of its errors; from then on widths are the spread of refitted copies."""
    contexts, answers = yes_no(200)
    model = Predictor(HistGradientBoostingClassifier(max_iter=3).fit(contexts, answers), members=2, refit_every=40)
    np.testing.assert_array_equal(model.optimistic(contexts), model.estimate(contexts))
    model.learn(*yes_no(40, seed=1))
    assert np.mean(model.widths(contexts)) > 0.01


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        RandomForestClassifier(n_estimators=5, random_state=0),
        GaussianNB(),
        SGDClassifier(loss="log_loss", random_state=0),
        MLPClassifier(hidden_layer_sizes=(3,), max_iter=20, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_false_and_true_are_0_and_1(model: Any) -> None:
    """A classifier of False and True predicts and refits as one of 0 and 1."""
    contexts, answers = yes_no(60)
    of_bools, of_numbers = (
        Predictor(clone(model).fit(contexts, answers.astype(kind)), refit_every=10, members=2) for kind in (bool, float)
    )
    assert of_bools.classes == (0.0, 1.0)
    for each in (of_bools, of_numbers):
        each.learn(*yes_no(20, seed=1))
        assert each.in_use.refits == 1
    np.testing.assert_allclose(of_bools.estimate(contexts), of_numbers.estimate(contexts), rtol=1e-9)


def test_the_model_passed_is_not_touched() -> None:
    """A copy is refitted, never the user's object."""
    contexts, rewards = linear(50)
    ridge = Ridge().fit(contexts, rewards)
    before = ridge.coef_.copy()
    model = Predictor(ridge, refit_every=10)
    model.learn(*linear(40, seed=1))
    assert model.in_use.refits == 1
    np.testing.assert_array_equal(ridge.coef_, before)


def test_refits_follow_the_schedule() -> None:
    """The first after `refit_every` outcomes, the next that many later, and later ones a tenth further apart."""
    model = Predictor(Ridge(), 3, width=0.1, refit_every=10)
    contexts, rewards = linear(300)
    times = []
    for i in range(300):
        before = model.in_use.refits
        model.learn(contexts[i : i + 1], rewards[i : i + 1])
        times += [i + 1] * (model.in_use.refits - before)
    assert times[:10] == list(range(10, 110, 10))
    assert all(b - a == max(10, a // 10) for a, b in itertools.pairwise(times))


def test_no_outcome_is_lost_to_a_model_that_is_updated() -> None:
    """With `partial_fit` every outcome is learned once, however many came before."""
    model = Predictor(SGDRegressor(random_state=0), 3, width=0.1, refit_every=20, memory=20)
    contexts, rewards = linear(600)
    for i in range(0, 600, 20):
        model.learn(contexts[i : i + 20], rewards[i : i + 20])
    assert model.in_use.refits == 30
    assert model.model.t_ == 601
    assert len(model.state()["rows"]) == 0


def test_never_refitted_if_so_asked() -> None:
    """With refit_every None it stays as it was, and what it keeps does not grow."""
    contexts, rewards = linear(50)
    model = Predictor(Ridge().fit(contexts, rewards), refit_every=None, memory=20)
    before = model.estimate(contexts)
    for seed in range(30):
        model.learn(*linear(10, seed))
    np.testing.assert_array_equal(model.estimate(contexts), before)
    assert len(model.state()["rows"]) <= 40 + 10


def test_a_good_model_is_not_lost_to_a_refit_on_few_outcomes() -> None:
    """A model that was fitted elsewhere stays while refits on a few noisy outcomes predict new ones worse."""
    contexts, answers = yes_no(3000)
    model = Predictor(HistGradientBoostingClassifier(random_state=0).fit(contexts, answers), width=0.1, refit_every=40)
    model.learn(*yes_no(40, seed=5))
    assert (model.in_use.refits, model.in_use.rejected) == (1, 1)
    assert model.in_use.model == model.model_bytes


def test_a_stale_model_is_replaced() -> None:
    """When the world has changed, a refit predicts the newest outcomes better and takes over."""
    contexts, rewards = linear(200)
    model = Predictor(Ridge().fit(contexts, -rewards), refit_every=50)
    model.learn(*linear(50, seed=2))
    assert (model.in_use.refits, model.in_use.rejected) == (1, 0)
    assert model.estimate(np.array([[1.0, 0.0, 0.0]]))[0] > 0.5


def test_two_that_learn_the_same_are_the_same_to_the_bit() -> None:
    """Refits depend on outcomes alone, although neither the model nor its ensemble was given a seed."""
    models = [Predictor(HistGradientBoostingClassifier(max_iter=5), 3, members=2, refit_every=40) for _ in range(2)]
    for model in models:
        model.learn(*yes_no(60))
        model.learn(*yes_no(60, seed=1))
    first, second = (model.state() for model in models)
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_a_refit_that_fails_changes_nothing_and_is_reported() -> None:
    """A classifier that has seen one class only cannot be fitted; it goes on, and says why."""
    model = Predictor(LogisticRegression(), 3, width=0.1, refit_every=10)
    contexts, _ = yes_no(20)
    model.learn(contexts, np.ones(20))
    assert model.in_use.refits == 0
    assert "classes" in str(model.in_use.problem)
    assert model.estimate(contexts).tolist() == [0.5] * 20
    model.learn(contexts, np.tile([0.0, 1.0], 10))
    assert (model.in_use.refits, model.in_use.problem) == (1, None)


@pytest.mark.parametrize("kind", ["forest", "bagging"])
def test_members_of_a_forest_are_the_ensemble(kind: str) -> None:
    """A fitted forest has widths from the start: the spread of its trees, as it predicts itself."""
    contexts, answers = yes_no(200)
    if kind == "forest":
        fitted: Any = RandomForestClassifier(10, max_depth=3, random_state=0).fit(contexts, answers)
        votes = [tree.predict_proba(contexts)[:, 1] for tree in fitted.estimators_]
    else:
        fitted = BaggingRegressor(Ridge(), 10, max_features=2, random_state=0).fit(contexts, answers)
        members = zip(fitted.estimators_, fitted.estimators_features_, strict=True)
        votes = [member.predict(contexts[:, columns]) for member, columns in members]
    model = Predictor(fitted, scale=3.0)
    np.testing.assert_allclose(model.widths(contexts), 3.0 * np.std(votes, axis=0, ddof=1), atol=1e-12)


def test_classifiers_are_not_more_optimistic_than_certain() -> None:
    """The optimistic reward is at most the largest class, and those beyond it keep their order."""
    contexts, answers = yes_no(100)
    model = Predictor(LogisticRegression(C=100).fit(contexts, answers), width=5.0)
    optimistic = model.optimistic(contexts)
    assert np.all(optimistic <= 1.0)
    assert np.array_equal(np.argsort(optimistic), np.argsort(model.estimate(contexts)))


def test_conformal_widths_miss_the_share_asked_for_whatever_happens() -> None:
    """Outcomes that jump between two worlds and a model that is always wrong: the share missed is as promised."""
    rng, missed, n = RNG(0), 0, 2000
    model = Predictor(Ridge(), 3, width="conformal", confidence=0.2, refit_every=200)
    contexts = random_contexts(rng, n, 3)
    for i in range(n):
        reward = float(np.sign(np.sin(i / 100)) * contexts[i, 0] + 0.3 * rng.standard_t(3)) / 3
        estimate, width = model.estimate(contexts[i : i + 1])[0], model.widths(contexts[i : i + 1])[0]
        missed += abs(reward - estimate) > width
        model.learn(contexts[i : i + 1], np.array([reward]))
    largest = 4.0
    assert abs(missed / n - 0.2) <= (largest + STEP) / (STEP * n)


def test_it_is_saved_in_a_bandit(tmp_path: Path) -> None:
    """A bandit with a pipeline is saved and loaded, and both go on the same."""
    pipeline = make_pipeline(StandardScaler(), SGDRegressor(random_state=1))
    bandit = FairBandit(3, reward=Predictor(pipeline.fit(*linear(50)), refit_every=10), seed=0)
    for seed in range(12):
        decision = bandit.decide(random_contexts(RNG(seed), 4, 3))
        bandit.learn(decision, rewards=dict.fromkeys(decision.chosen, 0.3))
    bandit.save(tmp_path / "bandit.eh")
    twin = FairBandit.load(tmp_path / "bandit.eh")
    contexts = random_contexts(RNG(9), 4, 3)
    np.testing.assert_array_equal(bandit.decide(contexts).probabilities, twin.decide(contexts).probabilities)


REFUSED = [
    (lambda: Predictor(Ridge()), "n_features must be passed"),
    (lambda: Predictor(Ridge().fit(*linear(20)), n_features=4), "n_features must be 3"),
    (lambda: Predictor(RidgeClassifier(), 3), "predict_proba"),
    (lambda: Predictor(StandardScaler(), 3), "regressor or classifier"),
    (lambda: Predictor("model", 3), "regressor or classifier, got str"),
    (lambda: Predictor(Ridge, 3), r"must be an estimator, such as Ridge\(\), got the class Ridge"),
    (lambda: Predictor(LogisticRegression(), 3, width="conformal"), "yes or no"),
    (lambda: Predictor(Ridge(), 3, width=cast("Any", "wide")), "'ensemble', 'conformal' or a number"),
    (lambda: Predictor(Ridge(), 3, width=-1), "number >= 0"),
    (lambda: Predictor(Ridge(), 3, way="partial_fit"), "without partial_fit"),
    (lambda: Predictor(Ridge(), 3, refit_every=3), "refit_every must be a whole number >= 10"),
    (lambda: Predictor(Ridge(), 3, refit_every=50, memory=40), "memory must be at least refit_every, 50, got 40"),
    (lambda: Predictor(make_pipeline(StandardScaler(), Ridge(), memory="cache"), 3), "memory must be None"),
    (lambda: Predictor(LogisticRegression().fit(linear(4)[0], ["a", "b", "a", "b"])), "numbers such as 0 and 1"),
]


@pytest.mark.parametrize(("make", "sentence"), REFUSED)
def test_settings_are_checked(make: Any, sentence: str) -> None:
    """Each gets a sentence that says what was wrong."""
    with pytest.raises(InvalidInput, match=sentence):
        make()


def test_a_model_of_a_data_frame_is_refused() -> None:
    """Its columns are not contexts."""
    pandas = pytest.importorskip("pandas")
    contexts, rewards = linear(20)
    frame = pandas.DataFrame(contexts, columns=["income", "age", "debt"])
    with pytest.raises(InvalidInput, match=r"schema\.encode"):
        Predictor(Ridge().fit(frame, rewards))


def test_outcomes_are_checked() -> None:
    """What is no class of a classifier, or far too large, is refused, and nothing has changed."""
    classifier, regressor = Predictor(LogisticRegression(), 3), Predictor(Ridge(), 3)
    for model, reward, sentence in ((classifier, 0.5, "one of 0, 1"), (regressor, 21.0, "from -20.0 to 20.0")):
        with pytest.raises(InvalidInput, match=sentence):
            model.learn(np.zeros((2, 3)), np.array([1.0, reward]))
        assert model.n_outcomes == 0
