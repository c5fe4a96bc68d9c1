"""BayesPoint(softness=...): thresholds that move, known or learned for each reviewer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm

from evenhand.errors import InvalidInput
from evenhand.metrics import BayesPoint, Guarded, Pairs, Verdicts
from evenhand.metrics.gaussian.belief import Belief
from evenhand.metrics.gaussian.caution import Caution, cautious_squares
from evenhand.metrics.gaussian.error_rates import ErrorRates
from evenhand.metrics.gaussian.reviewer_grid import ReviewerGrid
from evenhand.metrics.gaussian.soft_threshold import chance_exceeded
from evenhand.metrics.gaussian.truncated_normal import truncated_mean
from evenhand.metrics.gaussian.tuning import DEFAULT
from evenhand.metrics.verdicts import HalfSpaces
from evenhand.testing.metric_worlds import random_A, random_contexts, true_squares
from tests.support.simulation import same

Floats = NDArray[np.float64]


def _said(
    learner: BayesPoint, A: Floats, rng: np.random.Generator, *, soft: float, wrong: float, reviewer: str | None = None
) -> Verdicts:
    """Verdicts on six pairs at 0.6 to 1.1 times what the learner plays, by a reviewer who wobbles and errs."""
    pairs = Pairs.of(random_contexts(rng, 4, A.shape[1]))
    gaps = np.minimum(np.sqrt(learner.guess(pairs)) * rng.uniform(0.6, 1.1, len(pairs)), 1.0)
    unfair = gaps > np.sqrt(true_squares(pairs, A)) + soft * rng.normal(size=len(pairs))
    unfair ^= rng.random(len(pairs)) < wrong
    verdicts = Verdicts(pairs, gaps, unfair, np.ones(len(pairs), np.bool_), reviewer)
    return verdicts.take(gaps > 1e-6)


def _learned(soft: float, wrong: float, *, seed: int, rounds: int = 250, **given: Any) -> tuple[BayesPoint, Floats]:
    rng = np.random.default_rng(seed)
    A, learner = random_A(rng, 3), BayesPoint(3, epsilon=0.02, **{"error_rate": None, "softness": None, **given})
    for _ in range(rounds):
        learner.learn(_said(learner, A, rng, soft=soft, wrong=wrong))
    return learner, A


# One number.


@settings(max_examples=60, deadline=None)
@given(
    mean=st.floats(-0.1, 1.0),
    sd=st.floats(1e-4, 0.5),
    gap=st.floats(0.01, 1.0),
    softness=st.sampled_from([0.01, 0.1, 0.4]),
)
def test_the_chance_of_a_flag_is_an_integral(mean: float, sd: float, gap: float, softness: float) -> None:
    """P(D + s e < g) as a sum over a fine grid of D >= 0, to 1e-4."""
    found = float(chance_exceeded(np.array([mean]), np.array([sd]), np.array([gap]), softness)[0])
    roots = np.linspace(np.sqrt(max(mean - 9 * sd, 0.0)), np.sqrt(max(mean, 0.0) + 9 * sd), 200_001)
    logs = norm.logpdf(roots**2, mean, sd)
    weights = np.exp(logs - np.max(logs)) * roots
    below = np.sum(weights * norm.cdf((gap - roots) / softness)) / np.sum(weights)
    assert found == pytest.approx(below, abs=1e-4)


def test_a_sharp_threshold_is_the_limit_of_soft_ones() -> None:
    """The chance of a flag and what is played are continuous at softness zero."""
    mean, sd, gaps = np.array([0.2, 0.01, -0.05]), np.array([0.05, 0.02, 0.1]), np.array([0.4, 0.1, 0.05])
    hard, soft = (chance_exceeded(mean, sd, gaps, softness) for softness in (0.0, 1e-7))
    assert np.allclose(soft, hard, atol=1e-5)
    squares = [cautious_squares(mean, sd, Caution.at(0.01, 0.1, 3.0, 0.5, 0.1, softness)) for softness in (0.0, 1e-7)]
    assert np.allclose(squares[1], squares[0], atol=1e-5)


@settings(max_examples=100, deadline=None)
@given(
    mean=st.floats(-0.5, 1.0),
    sd=st.floats(0, 0.5),
    caution=st.sampled_from([0.01, 0.1, 0.4, 0.6]),
    softness=st.floats(0, 0.5),
)
def test_softness_only_lowers_what_is_played(mean: float, sd: float, caution: float, softness: float) -> None:
    """What is played is never negative, and no more than under a sharp threshold."""
    hard, soft = (
        float(cautious_squares(np.array([mean]), np.array([sd]), Caution.at(0.01, caution, 3.0, 0.5, 0.1, s))[0])
        for s in (0.0, softness)
    )
    assert 0.0 <= soft <= hard


@pytest.mark.parametrize("softness", [0.02, 0.05, 0.1])
def test_what_is_played_is_flagged_with_the_probability_asked_for(softness: float) -> None:
    """Distances above three times the softness, known or not: flagged with a probability within 0.03 of `caution`."""
    for distance in (3.2 * softness, 0.4, 0.7):
        for share in (0.0, 0.05, 0.3):  # of the squared distance
            mean, sd = np.array([distance**2]), np.array([share * distance**2])
            squares = cautious_squares(mean, sd, Caution.at(0.001, 0.1, 3.0, 0.5, 0.1, softness))
            assert chance_exceeded(mean, sd, np.sqrt(squares), softness)[0] == pytest.approx(0.1, abs=0.03)


def test_copies_are_still_played_alike() -> None:
    """Two candidates who do not differ have the distance zero, however soft the threshold."""
    contexts = np.array([[0.5, 0.1], [0.5, 0.1], [0.1, 0.3]])
    assert BayesPoint(2, softness=0.3).playable_distances(contexts)[0, 1] == 0.0


@pytest.mark.parametrize("mean", [-1e6, -30.0, -4.0, 0.0, 2.0, 50.0])
def test_the_mean_above_zero(mean: float) -> None:
    """That of a truncated normal, also far below zero."""
    expected = mean + 1 / _mills(mean)
    assert truncated_mean(mean, 1.0) == pytest.approx(expected if mean > -1e5 else 1 / -mean, rel=1e-6)


def _mills(z: float) -> float:
    from scipy.special import erfcx

    return float(np.sqrt(np.pi / 2) * erfcx(-z / np.sqrt(2)))


# Updating.


@settings(max_examples=60, deadline=None)
@given(
    mean=st.floats(0.02, 0.6),
    sd=st.floats(0.001, 0.05),
    gap=st.floats(0.05, 0.8),
    side=st.sampled_from([-1.0, 1.0]),
    rate=st.sampled_from([0.01, 0.1]),
    softness=st.sampled_from([0.02, 0.1]),
)
def test_an_update_follows_the_slope_of_the_evidence(
    mean: float, sd: float, gap: float, side: float, rate: float, softness: float
) -> None:
    """The step of the mean is the variance times the derivative of log evidence, by finite differences.

    The width of the threshold is held fixed, at the mean before the update.
    """
    width = softness * (gap + np.sqrt(mean))

    def log_evidence(at: float) -> float:
        z = side * (at - gap**2) / np.sqrt(sd**2 + width**2)
        return float(np.log(rate + (1 - 2 * rate) * norm.cdf(z)))

    half_space = HalfSpaces(np.ones((1, 1)), np.array([gap**2]), np.array([side]))
    update = Belief(np.array([mean]), np.array([[sd**2]])).update(
        half_space, np.array([rate]), blur=0.0, softness=np.array([softness])
    )
    h = 1e-6
    slope = (log_evidence(mean + h) - log_evidence(mean - h)) / (2 * h)
    assert update.belief.mean[0] - mean == pytest.approx(sd**2 * slope, rel=1e-4, abs=1e-9)
    assert update.score[0] == pytest.approx(side * (mean - gap**2) / np.sqrt(sd**2 + width**2), rel=1e-9)


def test_many_soft_answers_find_the_threshold() -> None:
    """4,000 answers around one distance with softness 0.1: it is found to within 0.02, and not believed too surely."""
    rng = np.random.default_rng(0)
    belief, true, s = Belief(np.array([0.2]), np.array([[0.3]])), 0.35, np.array([0.1])
    gaps = rng.uniform(0.1, 0.6, 4000)
    sides = np.where(gaps > true + 0.1 * rng.normal(size=4000), -1.0, 1.0)
    belief = belief.update(
        HalfSpaces(np.ones((4000, 1)), gaps**2, sides), np.array([1e-3]), blur=0.0, softness=s
    ).belief
    assert np.sqrt(belief.mean[0]) == pytest.approx(true, abs=0.02)
    assert abs(belief.mean[0] - true**2) < 4 * np.sqrt(belief.cov[0, 0])


# Reviewers.


def test_the_grid_has_every_pair_of_values_once() -> None:
    """Honest rates with every softness, the others once; what is a setting takes one value."""
    grid = ReviewerGrid.of(None, None, 6)
    points = set(zip(grid.rates, grid.softness, strict=True))
    assert len(points) == len(grid.rates) == 16 * len(grid.widths) + 12
    assert {softness for rate, softness in points if rate >= 0.5} == {0.0}
    fixed = ReviewerGrid.of(0.05, None, 6)
    assert set(fixed.rates) == {0.05}
    assert ReviewerGrid.of(None, 0.2, 6).widths.tolist() == [0.2]


def test_errors_far_away_are_lapses_and_errors_nearby_softness() -> None:
    """Bayes on the grid: the same number of wrong answers, far from the threshold or near it."""
    grid, rng = ReviewerGrid.of(None, None, 3), np.random.default_rng(1)
    distances = rng.uniform(0.05, 0.6, 600)  # of the gap from the threshold
    far = np.where(rng.random(600) < 0.08, -1.0, 1.0)
    near = np.where(rng.random(600) < norm.cdf(-distances / 0.12), -1.0, 1.0)
    found = []
    for sides in (far, near):
        rates = ErrorRates(DEFAULT, grid)
        rates.row("Ada", n_new=600)
        chances = np.stack([norm.cdf(sides * distances / max(width, 1e-9)) for width in grid.widths])
        rates.reopen(chances, np.zeros(600, np.int64))
        found.append(rates.report()["Ada"])
    lapsing, soft = found
    assert lapsing.error_rate == pytest.approx(0.08, abs=0.03)
    assert lapsing.softness < 0.02
    assert soft.error_rate < 0.02
    assert soft.softness == pytest.approx(0.12, abs=0.03)
    assert soft.softness_lower <= 0.12 <= soft.softness_upper


@pytest.mark.statistical
def test_lapsers_and_wobblers_are_told_apart() -> None:
    """About 1,500 answers at 0.6 to 1.1 times what is played, three seeds each.

    Who only wobbles, by 0.1, is estimated to err in less than 5% and to wobble by 0.04 to 0.2; who only errs, in 10%,
    to err in 6% to 14% and to wobble by less than 0.03; who does neither, less than 2% and 0.01.
    """
    for seed in range(3):
        wobbling, lapsing, exact = (
            _learned(soft, wrong, seed=seed)[0].reviewers()[None] for soft, wrong in ((0.1, 0), (0, 0.1), (0, 0))
        )
        assert wobbling.error_rate < 0.05
        assert 0.04 < wobbling.softness < 0.2
        assert 0.06 < lapsing.error_rate < 0.14
        assert lapsing.softness < 0.03
        assert exact.error_rate < 0.02
        assert exact.softness < 0.01


@pytest.mark.statistical
def test_flags_come_as_often_as_predicted() -> None:
    """Reliability: a reviewer who wobbles by 0.1 and errs in 5%; predictions before each answer, rounds 100 to 400.

    In each fifth of the predictions the share of flags is within 0.06 of their mean, over three seeds together.
    """
    chances, flags = [], []
    for seed in range(3):
        learner, A = _learned(0.1, 0.05, seed=seed, rounds=100)
        rng = np.random.default_rng(100 + seed)
        for _ in range(300):
            verdicts = _said(learner, A, rng, soft=0.1, wrong=0.05)
            chances.append(learner.chance_flagged(verdicts.pairs, verdicts.gaps))
            flags.append(verdicts.unfair)
            learner.learn(verdicts)
    predicted, seen = np.concatenate(chances), np.concatenate(flags)
    order = np.argsort(predicted, kind="stable")
    for part in np.array_split(order, 5):
        assert np.mean(seen[part]) == pytest.approx(np.mean(predicted[part]), abs=0.06)


def test_each_reviewer_has_a_softness() -> None:
    """Reports and predictions are by name; somebody new is expected to be as soft as the others."""
    rng = np.random.default_rng(3)
    A, learner = random_A(rng, 2), BayesPoint(2, epsilon=0.02, error_rate=None, softness=None)
    assert learner.softness_of("Ada") == 0.0
    for _ in range(200):
        learner.learn(_said(learner, A, rng, soft=0.15, wrong=0.0, reviewer="Ada"))
    report = learner.reviewers()["Ada"]
    assert learner.softness_of("Ada") == report.softness > 0.05
    assert learner.softness_of("Bob") == pytest.approx(report.softness)
    pairs = Pairs.of(random_contexts(rng, 5, 2))
    gaps = np.full(len(pairs), 0.3)
    ada = learner.chance_flagged(pairs, gaps, "Ada")
    assert np.all((ada > 0) & (ada < 1))
    assert np.array_equal(Guarded(learner).chance_flagged(pairs, gaps, "Ada"), ada)


def test_a_given_error_rate_stays() -> None:
    """softness=None with a number for the error rate learns the softness alone."""
    learner, _ = _learned(0.1, 0.0, seed=0, rounds=150, error_rate=0.01)
    report = learner.reviewers()[None]
    assert (report.error_rate, report.lower, report.upper) == (0.01, 0.01, 0.01)
    assert report.softness > 0.03
    none, _ = _learned(0.1, 0.0, seed=0, rounds=60, error_rate=0.0)
    assert none.reviewers()[None].error_rate == 0.0


# Settings and saving.


@pytest.mark.parametrize("settings", [{"softness": 0.0}, {"softness": 0.0, "error_rate": None}])
def test_zero_is_the_learner_of_before(settings: dict[str, Any]) -> None:
    """Whether softness is left out or zero: the same belief to the bit, and the same prediction as by default."""
    rng = np.random.default_rng(5)
    plain = BayesPoint(3, epsilon=0.02, **{name: value for name, value in settings.items() if name != "softness"})
    given, A = BayesPoint(3, epsilon=0.02, **settings), random_A(rng, 3)
    for _ in range(30):
        verdicts = _said(plain, A, rng, soft=0.0, wrong=0.05)
        plain.learn(verdicts)
        given.learn(verdicts)
    assert same(given.state(), plain.state())
    rate = plain.error_rate_of(None)
    expected = rate + (1 - 2 * rate) * plain.chance_unfair(verdicts.pairs, verdicts.gaps)
    assert np.array_equal(given.chance_flagged(verdicts.pairs, verdicts.gaps), expected)


@pytest.mark.parametrize("settings", [{"softness": None}, {"softness": 0.1}, {"softness": None, "error_rate": 0.01}])
def test_saved_and_loaded_to_the_bit(settings: dict[str, Any]) -> None:
    """Save, load and go on equals never stopped; what is played at once is equal, too."""
    one, A = _learned(0.1, 0.05, seed=1, rounds=40, **settings)
    two, rng = BayesPoint.from_state(one.state()), np.random.default_rng(9)
    contexts = random_contexts(rng, 6, 3)
    assert np.array_equal(two.playable_distances(contexts), one.playable_distances(contexts))
    for _ in range(20):
        verdicts = _said(one, A, rng, soft=0.1, wrong=0.05)
        one.learn(verdicts)
        two.learn(verdicts)
    assert same(two.state(), one.state())


def test_a_state_without_softness_is_read() -> None:
    """States of version 0.1 have neither the setting nor the softness that answers were processed at."""
    learner, A = _learned(0.0, 0.1, seed=2, rounds=20, softness=0.0)
    state = learner.state()
    assert "softness" not in state
    assert "used_softness" not in state["doubt"]
    old, rng = BayesPoint.from_state(state), np.random.default_rng(4)
    for _ in range(10):
        verdicts = _said(learner, A, rng, soft=0.0, wrong=0.1)
        learner.learn(verdicts)
        old.learn(verdicts)
    assert same(old.state(), learner.state())


@pytest.mark.parametrize("value", [-0.1, 1.5, "soft", True, float("nan")])
def test_invalid_softness_is_refused(value: Any) -> None:
    """A number from 0 to 1, or None."""
    with pytest.raises(InvalidInput, match="softness must be a number from 0 to 1 or None, got"):
        BayesPoint(2, softness=value)


def test_one_bit_reviews_know_softness() -> None:
    """A bit of a soft reviewer moves the belief less than that of a sharp one."""
    rng = np.random.default_rng(6)
    sharp, soft = BayesPoint(2), BayesPoint(2, softness=0.3)
    pairs = Pairs.of(random_contexts(rng, 4, 2))
    verdicts = Verdicts(pairs, 0.9 * np.sqrt(sharp.estimate(pairs)), np.zeros(6, np.bool_), np.ones(6, np.bool_))
    before = sharp.state()["mean"]
    for learner in (sharp, soft):
        learner.learn_bit(replace(verdicts), any_unfair=False)
    moved = [np.linalg.norm(learner.state()["mean"] - before) for learner in (soft, sharp)]
    assert 0 < moved[0] < moved[1]
