"""Score: a learner for reviewers who follow no metric."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand.errors import InvalidInput, SolverFailed, UnsupportedReview
from evenhand.metrics import MetricLearner, Pairs, Score, Verdicts
from evenhand.metrics.score_model import member
from evenhand.metrics.score_model.tuning import DEFAULT
from evenhand.testing import MetricLearnerContract
from tests.support.score_people import MadeUpPerson, area_under_curve, log_loss, random_people

WEIGHTS = np.array([4.0, -2.5, 0.0])


@lru_cache
def learned(n: int, *, seed: int = 0, at_once: int = 20) -> Score:
    """A learner with n answers of one made-up person, not to be changed."""
    rng, person, learner = np.random.default_rng(seed), MadeUpPerson(WEIGHTS, seed=seed), Score(3)
    for _ in range(0, n, at_once):
        learner.learn(person.verdicts(at_once, rng))
    return learner


def taught(n: int, *, seed: int = 0, at_once: int = 20, quantile: float = 0.1) -> Score:
    """The same, with a quantile of its own, to be changed."""
    learner = copy.deepcopy(learned(n, seed=seed, at_once=at_once))
    learner.quantile = quantile
    return learner


def same(a: Any, b: Any) -> bool:
    """Whether two states are equal to the bit."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else bool(a == b)


class BriefScore(Score):
    """Score with short chains: what it does is the same, and the contract asks for many rounds."""

    tuning = replace(DEFAULT, chains=8, steps=6, first_steps=12, thinning=2, max_answers=600, starts=2, restarts=1)


class TestScore(MetricLearnerContract):
    """The contract, but for what needs a full-rank metric or a bound."""

    def make(self, n_features: int, **settings: Any) -> MetricLearner:  # noqa: D102
        return BriefScore(n_features)

    @pytest.mark.skip(reason="a score is a metric of rank one, with a residual: it fits no metric to hundredths")
    def test_learns_the_distances(self) -> None:  # type: ignore[override]
        """Left out."""

    @pytest.mark.skip(reason="the metric has full rank, and Score has no bound to double")
    def test_a_metric_larger_than_the_bound_is_found(self) -> None:
        """Left out."""

    @pytest.mark.skip(reason="residuals and lapses explain every answer: there are no conflicts")
    def test_an_inconsistent_reviewer_is_reported_and_harms_nothing(self) -> None:
        """Left out."""

    @pytest.mark.skip(reason="Score has neither bound nor epsilon")
    def test_the_first_bound_need_not_be_right(self) -> None:  # type: ignore[override]
        """Left out."""

    @pytest.mark.skip(reason="Score has no epsilon, and the metric has full rank")
    def test_sharpening_accuracy(self) -> None:
        """Left out."""

    @pytest.mark.skip(reason="an exact reviewer at fixed gaps; see test_one_feature_is_learned")
    def test_one_feature(self) -> None:
        """Left out."""

    def test_bad_settings_are_refused(self) -> None:
        """Settings out of range raise an error that quotes them."""
        for bad in ({"quantile": 0.0}, {"quantile": 1.5}, {"seed": -1}, {"play": ""}):
            with pytest.raises(InvalidInput, match=next(iter(bad))):
                Score(3, **bad)
        with pytest.raises(InvalidInput, match="n_features"):
            Score(0)
        with pytest.raises(InvalidInput, match="panel must have 3 features, got 2"):
            Score(3, panel=Score(2).panel())
        with pytest.raises(InvalidInput, match="panel must be a Panel"):
            Score(3, panel=[1.0])  # type: ignore[arg-type]


@pytest.mark.statistical
def test_one_feature_is_learned() -> None:
    """With one feature and a sharp reviewer the estimate comes near the distance, also past the switch to a mode."""
    rng, learner = np.random.default_rng(1), Score(1)
    x = np.array([[0.5], [-0.5]])
    for n in range(150):
        gaps = rng.uniform(0.05, 0.95, 3)
        learner.learn(Verdicts(Pairs(np.tile([0, 1], (3, 1)), np.ones((3, 1))), gaps, gaps > 0.4, np.ones(3, np.bool_)))
        if n in (40, 149):
            assert learner.distances(x).estimate[0, 1] == pytest.approx(0.4, abs=0.06)


@pytest.mark.statistical
@pytest.mark.parametrize("n", [150, 600])
def test_predictions_are_calibrated(n: int) -> None:
    """Of new pairs with similar chances of a flag, about that share is flagged; log-loss beats a constant's by far."""
    chances, flags = [], []
    for seed in range(3):
        learner = taught(n, seed=seed, at_once=n // 2)
        new = MadeUpPerson(WEIGHTS, seed=100 + seed).verdicts(800, np.random.default_rng(200 + seed))
        chances.append(learner.chance_flagged(new.pairs, new.gaps))
        flags.append(new.unfair)
    chance, flag = np.concatenate(chances), np.concatenate(flags)
    for low, high in ((0.0, 0.1), (0.1, 0.3), (0.3, 0.7), (0.7, 1.0)):
        rows = (chance >= low) & (chance < high)
        assert flag[rows].mean() == pytest.approx(chance[rows].mean(), abs=0.07)
    base = flag.mean()
    assert log_loss(chance, flag) < -(base * np.log(base) + (1 - base) * np.log(1 - base)) - 0.15


def test_binding_pairs_are_flagged_as_often_as_the_quantile() -> None:
    """Pairs played at their distance are flagged with about the probability that was set."""
    learner = taught(600, at_once=300, quantile=0.15)
    person, contexts = MadeUpPerson(WEIGHTS, seed=0), random_people(np.random.default_rng(8), 2000, 3)
    pairs = Pairs.named(contexts, np.arange(2000).reshape(-1, 2))
    gaps, scores = np.sqrt(learner.guess(pairs)), person.ratings(contexts)
    flags = gaps > np.abs(scores[::2] - scores[1::2]) + 0.05
    assert flags[gaps < 1.0].mean() == pytest.approx(0.15, abs=0.05)
    assert np.all(learner.chance_unfair(pairs, gaps)[gaps < 1.0] <= 0.15)


def test_weights_are_recovered() -> None:
    """The matrix of 600 answers has the direction of the person's weights."""
    G = taught(600, at_once=300).matrix()
    assert WEIGHTS @ G @ WEIGHTS / (WEIGHTS @ WEIGHTS * np.trace(G)) > 0.97


@pytest.mark.statistical
def test_few_answers_are_no_worse_than_none() -> None:
    """At no number of answers is the mean log-loss worse than a constant's, and ranking improves."""
    ns, losses, areas = (0, 5, 20, 80), [], []
    for n in ns:
        rows = []
        for seed in range(3):
            new = MadeUpPerson(WEIGHTS, seed=50 + seed).verdicts(400, np.random.default_rng(60 + seed))
            chance = taught(n, seed=seed, at_once=5).chance_flagged(new.pairs, new.gaps)
            rows.append((log_loss(chance, new.unfair), area_under_curve(chance, new.unfair)))
        loss, area = np.mean(rows, axis=0)
        losses.append(loss)
        areas.append(area)
    assert max(losses) < 0.69
    assert losses[-1] < losses[0]
    assert areas[-1] > areas[0]


def test_saved_learner_goes_on_to_the_bit() -> None:
    """Across draws, the switch to a mode, and several reviewers: save, load and go on equals never stopped."""
    rng, learner = np.random.default_rng(0), Score(3, play="minimum", seed=3)
    people = {name: MadeUpPerson(WEIGHTS, seed=row) for row, name in enumerate(("Ada", "Bob"))}
    for n in range(7):
        twin = MetricLearner.restored(learner.saved())
        assert isinstance(twin, Score)
        for name, person in people.items():
            verdicts = person.verdicts(10 if n < 4 else 80, rng, name)
            learner.learn(verdicts)
            twin.learn(verdicts)
            ratings = person.rated(2, rng, name)
            learner.learn_ratings(ratings)
            twin.learn_ratings(ratings)
        assert same(learner.state(), twin.state())
    pairs = Pairs.of(random_people(rng, 6, 3))
    assert np.array_equal(learner.guess(pairs), MetricLearner.restored(learner.saved()).guess(pairs))


def test_failed_fit_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a fit that fails, the learner is as before, and the same verdicts can be learned again."""
    learner = taught(60)
    verdicts = MadeUpPerson(WEIGHTS).verdicts(30, np.random.default_rng(5))
    before = learner.state()

    def fails(*args: Any) -> None:
        raise SolverFailed("no mode")

    with monkeypatch.context() as patch:
        patch.setattr(member, "fit", fails)
        with pytest.raises(SolverFailed):
            learner.learn(verdicts)
    assert same(learner.state(), before)
    other = taught(60)
    learner.learn(verdicts)
    other.learn(verdicts)
    assert same(learner.state(), other.state())


@pytest.mark.parametrize("unfair", [True, False])
@pytest.mark.parametrize("n", [1, 30, 260])
def test_all_answers_equal(n: int, unfair: bool) -> None:
    """One answer, or only flags, or none: distances are finite, and go the right way."""
    rng, learner = np.random.default_rng(2), Score(3)
    pairs = Pairs.of(random_people(rng, 5, 3))
    before = learner.estimate(pairs)
    differences = random_people(rng, n, 3)
    indices, tight = np.tile([0, 1], (n, 1)), np.ones(n, np.bool_)
    learner.learn(Verdicts(Pairs(indices, differences), np.full(n, 0.4), np.full(n, unfair), tight))
    after, guess = learner.estimate(pairs), learner.guess(pairs)
    assert np.all((after <= 1.0) & (guess > 0.0) & (guess <= after))
    assert (after.mean() < before.mean()) == unfair


def test_twins_near_duplicates_and_constant_columns() -> None:
    """Twins have one distance, near-duplicates nearly that of twins; columns that never differ keep their prior."""
    rng, learner = np.random.default_rng(3), Score(5)
    person = MadeUpPerson(WEIGHTS)
    for _ in range(15):
        verdicts = person.verdicts(20, rng)
        wide = np.hstack([verdicts.pairs.differences, np.zeros((20, 2))])  # an intercept, and an unused column
        learner.learn(Verdicts(Pairs(verdicts.pairs.indices, wide), verdicts.gaps, verdicts.unfair, verdicts.tight))
    z = np.zeros((3, 5))
    z[1, 0], z[2, 0] = 1e-12, 0.8
    twins, near, far = learner.guess(Pairs(np.tile([0, 1], (3, 1)), z))
    assert 0.0 < twins == pytest.approx(near, abs=1e-3)
    assert far > twins
    assert np.all(np.isfinite(learner.matrix()))


def test_one_hot_columns() -> None:
    """Columns that always add up to the same do no harm."""
    rng, learner = np.random.default_rng(4), Score(4)
    levels = np.eye(4)[rng.integers(0, 4, 400)] / np.sqrt(2.0)
    scores = levels @ np.array([0.0, 0.0, 5.0, 5.0]) + rng.normal(0.0, 0.3, 400)
    gaps = rng.uniform(0.1, 0.9, 200)
    pairs = Pairs.named(levels, np.arange(400).reshape(-1, 2))
    learner.learn(Verdicts(pairs, gaps, np.abs(scores[::2] - scores[1::2]) < 3.0 * gaps, np.ones(200, np.bool_)))
    table = learner.distances(np.eye(4) / np.sqrt(2.0)).estimate
    assert max(table[0, 1], table[2, 3]) < min(table[0, 2], table[1, 3])


@pytest.mark.parametrize("size", [1e-9, 1e3, 1e6])
def test_sizes_far_from_one(size: float) -> None:
    """Differences of any size are survived."""
    rng, learner = np.random.default_rng(5), Score(2)
    for n in (10, 300):
        pairs = Pairs(np.tile([0, 1], (n, 1)), size * rng.normal(size=(n, 2)))
        learner.learn(Verdicts(pairs, rng.uniform(0.1, 1.0, n), rng.random(n) < 0.5, np.ones(n, np.bool_)))
        assert np.all(np.isfinite(learner.guess(pairs)))


@given(seed=st.integers(0, 10**6), q=st.floats(0.02, 0.5))
@settings(max_examples=15, deadline=None)
def test_more_caution_plays_less(seed: int, q: float) -> None:
    """The guess grows with the quantile, lies within the ends at 0.025 and 0.975, and does not depend on the order."""
    low, high = taught(40, seed=seed % 3, quantile=q / 2), taught(40, seed=seed % 3, quantile=q)
    pairs = Pairs.of(random_people(np.random.default_rng(seed), 5, 3))
    assert np.all(low.guess(pairs) <= high.guess(pairs))
    swapped = Pairs(pairs.indices, -pairs.differences)
    np.testing.assert_allclose(high.guess(swapped), high.guess(pairs), atol=0.01)
    lower, upper = high.ends(pairs)
    assert np.all((lower <= high.estimate(pairs)) & (high.estimate(pairs) <= upper))


def test_one_bit_reviews_with_flags_are_refused() -> None:
    """A bit that something was unfair cannot be learned; that nothing was can."""
    learner, verdicts = Score(3), MadeUpPerson(WEIGHTS).verdicts(4, np.random.default_rng(6))
    with pytest.raises(UnsupportedReview, match="one-bit"):
        learner.learn_bit(verdicts, any_unfair=True)
    assert learner.learn_bit(verdicts, any_unfair=False).used == 4


def test_bandit_with_score_is_saved_and_goes_on(tmp_path: Any) -> None:
    """FairBandit plays Score, names its reviewers, and goes on after a save as if it had not stopped."""
    rng, bandit = np.random.default_rng(7), eh.FairBandit(n_features=3, metric=Score(3), seed=0)
    for _ in range(12):
        decision = bandit.decide(random_people(rng, 5, 3))
        bandit.learn(decision, review=eh.Review.complete(unfair=[(0, 1)], reviewer="Ada"))
    bandit.save(tmp_path / "bandit")
    twin, contexts = eh.FairBandit.load(tmp_path / "bandit"), random_people(rng, 5, 3)
    assert np.array_equal(bandit.decide(contexts).probabilities, twin.decide(contexts).probabilities)
    assert bandit.reviewers()["Ada"].softness > 0.0
