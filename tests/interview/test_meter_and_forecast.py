"""How much is unknown, what it will cost, and the simulation behind the forecast."""

from __future__ import annotations

import copy
import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import evenhand as eh
from evenhand.errors import InvalidInput
from evenhand.interview import ReviewPlan
from evenhand.interview._meter import WASTE, Meter
from evenhand.metrics.verdicts import Pairs
from tests.support.interviewed import interviewed, people, standard
from tests.support.simulation import same

PLAN = ReviewPlan(candidates=4, pairs=2, decisions=30)


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
    found = Meter(learner, pair, 0.02, ReviewPlan(decisions=10_000)).unfair_pairs(learner)
    assert found == pytest.approx(WASTE * area / (entropy * np.log(2)), rel=2e-3)


def test_a_forecast_changes_nothing_and_says_the_same_again() -> None:
    """Seeded by the interview: twice the same counts, the bandit and the next question untouched, no warning."""
    interview, reviewer = standard(3, seed=4, max_questions=12)
    interviewed(interview, reviewer)
    before = copy.deepcopy(interview.state())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forecast = interview.forecast(plan=PLAN, draws=3)
        assert interview.forecast(plan=PLAN, draws=3) == forecast
    assert len(forecast.unfair_pairs) == 3
    assert forecast.decisions == 30
    assert same(interview.state(), before)


def test_a_forecast_falls_with_the_answers() -> None:
    """More unfair pairs before the interview than after it."""
    interview, reviewer = standard(3, seed=5)
    plan = ReviewPlan(4, None, 60)
    before = interview.forecast(plan=plan, draws=7).expected
    after = interviewed(interview, reviewer).forecast(plan=plan, draws=7).expected
    assert before > after + 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": 1.5}, r"draws must be a whole number >= 1, got 1\.5"),
        ({"plan": ReviewPlan(301)}, r"plan\.candidates must be a whole number from 1 to 300, got 301"),
        ({"plan": 3}, "plan must be a ReviewPlan or None, got 3"),
    ],
)
def test_a_forecast_of_nothing_is_refused(options: dict[str, Any], message: str) -> None:
    """Draws and a plan, with no more candidates than there are people."""
    interview, _ = standard(3, seed=0)
    with pytest.raises(InvalidInput, match=message):
        interview.forecast(**options)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"candidates": 0}, "candidates must be a whole number >= 1, got 0"),
        ({"pairs": -1}, "pairs must be a whole number >= 0 or None, got -1"),
        ({"decisions": 0.5}, r"decisions must be a whole number >= 1, got 0\.5"),
    ],
)
def test_a_plan_is_whole_numbers(plan: dict[str, Any], message: str) -> None:
    """Candidates, reviewed pairs and decisions."""
    with pytest.raises(InvalidInput, match=message):
        ReviewPlan(**plan)


def test_the_meter_counts_the_pairs_that_nobody_reviews() -> None:
    """One of nine tight pairs reviewed: nine times the unfair pairs; as many as there are: no more than with all."""
    learner, pairs = eh.metrics.BayesPoint(3, epsilon=0.02), Pairs.of(people(20, 3))

    def expected(reviewed: int | None, decisions: int = 10_000) -> float:
        return Meter(learner, pairs, 0.02, ReviewPlan(10, reviewed, decisions)).unfair_pairs(learner)

    assert expected(1) == pytest.approx(9 * expected(None))
    assert expected(3) == pytest.approx(3 * expected(None))
    assert expected(9) == expected(40) == expected(None)


def test_the_meter_expects_no_more_than_if_nothing_were_learned() -> None:
    """Without reviews unfair pairs are proportional to the decisions; with some there are no more than that."""
    learner, pairs = eh.metrics.BayesPoint(3, epsilon=0.02), Pairs.of(people(20, 3))

    def expected(reviewed: int, decisions: int) -> float:
        return Meter(learner, pairs, 0.02, ReviewPlan(10, reviewed, decisions)).unfair_pairs(learner)

    assert expected(0, 200) == pytest.approx(2 * expected(0, 100))
    assert expected(1, 2) == expected(0, 2)
    assert expected(1, 10_000) < expected(0, 10_000) / 5


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
