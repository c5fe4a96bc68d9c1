"""The likelihood of the score model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from evenhand.metrics import Comparisons, Pairs
from evenhand.metrics.score_model.answers import ScoreAnswers
from evenhand.metrics.score_model.likelihood import ScoreLikelihood
from evenhand.metrics.score_model.mode import Posterior
from evenhand.metrics.score_model.parameters import N_OTHERS, Parameters
from evenhand.metrics.score_model.prior import ScorePrior
from evenhand.metrics.score_model.rated import Rated
from evenhand.metrics.score_model.threshold import ramps
from evenhand.metrics.score_model.tuning import DEFAULT
from tests.support.score_people import MadeUpPerson, random_people


def all_kinds(seed: int, d: int) -> ScoreAnswers:
    """Verdicts, comparisons and ratings of one person."""
    rng = np.random.default_rng(seed)
    person = MadeUpPerson(rng.normal(0.0, 2.0, d), seed=seed)
    pairs = Pairs(np.tile([0, 1], (7, 1)), random_people(rng, 7, d))
    compared = Comparisons(pairs, rng.integers(-1, 2, 7))
    ratings = person.rated(8, rng)
    rated = Rated.nobody(d).followed_by(ratings, 100).answers(8, ratings.tolerance, DEFAULT)
    answers = ScoreAnswers.of_verdicts(person.verdicts(20, rng))
    return answers.followed_by(ScoreAnswers.of_comparisons(compared), 1000).followed_by(rated, 1000)


def test_chance_of_a_flag_by_formula() -> None:
    """A flag has the probability l/2 + (1 - l) (Phi(h - m) - Phi(-h - m))."""
    rng = np.random.default_rng(0)
    verdicts = MadeUpPerson(np.array([1.0, -2.0])).verdicts(6, rng)
    table = rng.normal(size=(2 + N_OTHERS, 1))
    h = ramps(verdicts.gaps) @ np.exp(table[2:-1, 0])
    m = verdicts.pairs.differences @ table[:2, 0]
    lapse = 1.0 / (1.0 + np.exp(-table[-1, 0]))
    flag = lapse / 2 + (1 - lapse) * (norm.cdf(h - m) - norm.cdf(-h - m))
    chances = ScoreLikelihood(ScoreAnswers.of_verdicts(verdicts)).chances(Parameters(table))[:, 0]
    np.testing.assert_allclose(chances, np.where(verdicts.unfair, flag, 1 - flag), rtol=1e-12)


@pytest.mark.parametrize("d", [1, 4])
@pytest.mark.parametrize("seed", range(5))
def test_gradient_by_finite_differences(seed: int, d: int) -> None:
    """The gradient of the loss, for all kinds of answers, is that of central differences."""
    rng = np.random.default_rng(seed)
    posterior = Posterior(ScorePrior.usual(d, DEFAULT), ScoreLikelihood(all_kinds(seed, d)), 0.7)
    point = rng.normal(0.0, 0.7, d + N_OTHERS)
    _, gradient = posterior.loss(point)
    step = 1e-6
    for row, slope in enumerate(gradient):
        shift = step * (np.arange(len(point)) == row)
        central = (posterior.loss(point + shift)[0] - posterior.loss(point - shift)[0]) / (2 * step)
        assert slope == pytest.approx(central, rel=1e-5, abs=1e-6)


@given(seed=st.integers(0, 1000), gap=st.floats(0.01, 1.0), reach=st.floats(0.0, 0.9))
@settings(max_examples=40, deadline=None)
def test_answers_that_exclude_each_other_add_up_to_one(seed: int, gap: float, reach: float) -> None:
    """Flag and no flag have probabilities that add up to 1, and so do alike, first and second."""
    rng = np.random.default_rng(seed)
    parameters = Parameters(rng.normal(size=(3 + N_OTHERS, 4)))
    z = np.tile(random_people(rng, 1, 3), (3, 1))
    pairs = Pairs(np.tile([0, 1], (3, 1)), z)
    compared = ScoreAnswers.of_comparisons(Comparisons(pairs, np.array([-1, 0, 1]), reach))
    np.testing.assert_allclose(ScoreLikelihood(compared).chances(parameters).sum(axis=0), 1.0, atol=1e-7)
    flags = ScoreAnswers(z[:2], np.full(2, -gap), np.full(2, gap), np.array([True, False]), np.ones(2), np.full(2, 0.5))
    np.testing.assert_allclose(ScoreLikelihood(flags).chances(parameters).sum(axis=0), 1.0, atol=1e-7)


def test_swapping_the_two_of_a_pair_changes_nothing() -> None:
    """A verdict on (x, y) is one on (y, x), and w and -w say the same of verdicts."""
    rng = np.random.default_rng(3)
    answers = ScoreAnswers.of_verdicts(MadeUpPerson(np.array([1.0, -2.0, 0.5])).verdicts(30, rng))
    swapped = replace(answers, differences=-answers.differences)
    table = rng.normal(size=(3 + N_OTHERS, 5))
    turned = np.vstack([-table[:3], table[3:]])
    expected = ScoreLikelihood(answers).logs(Parameters(table))
    np.testing.assert_allclose(ScoreLikelihood(swapped).logs(Parameters(table)), expected, rtol=1e-12)
    np.testing.assert_allclose(ScoreLikelihood(answers).logs(Parameters(turned)), expected, rtol=1e-12)


def test_fisher_information_is_the_mean_curvature() -> None:
    """The information of verdicts is the covariance of the gradient over answers drawn from the model."""
    rng = np.random.default_rng(4)
    verdicts = MadeUpPerson(np.array([1.5, -1.0])).verdicts(5, rng)
    parameters = Parameters(np.append(rng.normal(size=2), [*np.full(8, -1.0), -3.0])[:, None])
    asked = ScoreAnswers.of_verdicts(verdicts)
    chances = ScoreLikelihood(replace(asked, inside=np.ones(5, np.bool_))).chances(parameters)[:, 0]
    gradients, weights = [], []
    for flags in np.array(np.meshgrid(*[[False, True]] * 5)).reshape(5, -1).T:
        gradients.append(ScoreLikelihood(replace(asked, inside=flags)).gradient(parameters)[1])
        weights.append(np.prod(np.where(flags, chances, 1 - chances)))
    table = np.array(gradients)
    expected = (table * np.array(weights)[:, None]).T @ table
    np.testing.assert_allclose(ScoreLikelihood(asked).information(parameters), expected, atol=1e-9)
