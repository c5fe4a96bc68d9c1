"""How much is unknown, what it will cost, and the simulation behind the forecast."""

from __future__ import annotations

import copy
import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import evenhand as eh
from evenhand.errors import InvalidInput
from evenhand.interview._forecast import WASTE, Meter
from evenhand.metrics.verdicts import Pairs
from tests.support.interviewed import interviewed, people, standard
from tests.support.simulation import same


def test_unknown_falls_from_all_to_nothing() -> None:
    """It starts at 1, is lower after every ten answers, and ends at 0."""
    interview, reviewer = standard(3, seed=3, enough=0.0)
    shares = [interview.unknown]
    for question in interview:
        interview.answer(reviewer(question))
        if question.number % 10 == 0:
            shares.append(interview.unknown)
    assert shares[0] == 1.0
    assert all(later < earlier for earlier, later in pairwise(shares))
    assert interview.unknown == 0.0


def test_bits_count_every_direction_once() -> None:
    """Twins in one direction of ten have one bit to be learned, however many pairs they make."""
    line = np.outer(np.linspace(-0.5, 0.5, 6), np.eye(10)[0])
    learner = eh.metrics.BayesPoint(10, epsilon=0.01)
    assert Meter(learner, Pairs.of(line), 0.01).n_independent == 1
    assert Meter(learner, Pairs.of(people(80, 10)), 0.01).n_independent == 55


@pytest.mark.parametrize("caution", [0.1, 0.3, 0.5])
def test_expected_unfair_pairs_are_the_integral_that_is_printed(caution: float) -> None:
    """For a single pair: WASTE/(H(p) ln 2) times the integral of Phi(z - x)/x from epsilon/width on."""
    pair = Pairs.between(np.array([0.5]), np.array([-0.5]))
    learner = eh.metrics.BayesPoint(1, epsilon=0.02, caution=caution)
    mean, sd = (float(x[0]) for x in learner.moments(pair))
    width = (min(np.sqrt(mean + sd), 1.0) - np.sqrt(max(mean - sd, 0.0))) / 2
    entropy = -(caution * np.log2(caution) + (1 - caution) * np.log2(1 - caution))
    area, _ = quad(lambda x: norm.cdf(norm.ppf(caution) - x) / x, 0.02 / width, np.inf)
    found = Meter(learner, pair, 0.02).unfair_pairs(learner)
    assert found == pytest.approx(WASTE * area / (entropy * np.log(2)), rel=2e-3)


def test_a_forecast_changes_nothing_and_says_the_same_again() -> None:
    """Seeded by the interview: twice the same counts, the bandit and the next question untouched, no warning."""
    interview, reviewer = standard(3, seed=4, max_questions=12)
    interviewed(interview, reviewer)
    before = copy.deepcopy(interview.state())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forecast = interview.forecast(rounds=30, draws=3, n_candidates=4)
        assert interview.forecast(rounds=30, draws=3, n_candidates=4) == forecast
    assert len(forecast.unfair_pairs) == 3
    assert forecast.rounds == 30
    assert same(interview.state(), before)


def test_a_forecast_falls_with_the_answers() -> None:
    """More unfair pairs before the interview than after it."""
    interview, reviewer = standard(3, seed=5)
    before = interview.forecast(rounds=60, draws=3, n_candidates=4).expected
    after = interviewed(interview, reviewer).forecast(rounds=60, draws=3, n_candidates=4).expected
    assert before > after + 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rounds": 0}, "rounds must be a whole number >= 1, got 0"),
        ({"draws": 1.5}, r"draws must be a whole number >= 1, got 1\.5"),
        ({"n_candidates": 301}, "n_candidates must be a whole number from 1 to 300, got 301"),
    ],
)
def test_a_forecast_of_nothing_is_refused(options: dict[str, int], message: str) -> None:
    """Rounds, draws and candidates a round: whole numbers, and no more people than there are."""
    interview, _ = standard(3, seed=0)
    with pytest.raises(InvalidInput, match=message):
        interview.forecast(**options)


# The draw behind it.


def test_drawn_metrics_are_metrics_and_as_the_belief_has_them() -> None:
    """Every draw is positive semidefinite; where the belief is narrow, draws have its mean and its spread."""
    interview, reviewer = standard(3, seed=6, enough=0.0, max_questions=45)
    wide = copy.deepcopy(interview.bandit.metric)
    narrow = interviewed(interview, reviewer).bandit.metric
    rng = np.random.default_rng(0)
    assert all(np.linalg.eigvalsh(wide.sample_matrix(rng))[0] >= -1e-12 for _ in range(50))
    pairs = Pairs.of(people(6, 3, seed=9))
    mean, sd = narrow.moments(pairs)
    draws = np.array([narrow.sample_matrix(rng) for _ in range(400)])
    squares = np.einsum("ni,mij,nj->mn", pairs.differences, draws, pairs.differences)
    assert np.all(np.abs(squares.mean(axis=0) - mean) < 0.3 * sd)
    assert np.all(np.abs(squares.std(axis=0) / sd - 1.0) < 0.3)


def test_a_learner_without_a_belief_draws_its_estimate() -> None:
    """Then there is nothing to draw."""
    learner = eh.metrics.Ellipsoid(2, epsilon=0.1)
    assert np.array_equal(learner.sample_matrix(np.random.default_rng(0)), learner.get_mahalanobis_matrix())
