"""The forecast: its interval, what it knows of the review plan, and which reviewers it thinks of."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh
from evenhand._internal.arrays import Indices
from evenhand.interview import Forecast, ReviewPlan
from evenhand.interview._plausible_metrics import (
    KINDS,
    TYPICAL_DISTANCE,
    AnswersToExplain,
    Kind,
    PlausibleMetric,
    plausible_metric,
)
from evenhand.interview._simulation import unfair_pairs_live
from evenhand.interview.forecast import forecast_live, plausible_metrics
from evenhand.metrics import BayesPoint, ByEvidence, Learned, Score
from evenhand.metrics.verdicts import Pairs, Verdicts
from tests.support.interviewed import Floats, people


def bandit(d: int, *, capacity: int = 2, seed: int = 0) -> eh.FairBandit:
    """With an epsilon of 0.02 and the fastest learner."""
    return eh.FairBandit(d, capacity=capacity, metric=BayesPoint(d, epsilon=0.02), seed=seed)


def test_the_interval_leaves_a_tenth_on_either_side() -> None:
    """Of nine worlds, the first and the last: a tenth one lies below the first with probability 1/10.

    Fewer cannot say as much: a fourth one lies between three with probability one half.
    """
    forecast = Forecast(tuple((count, 0) for count in (8, 1, 7, 3, 2, 9, 4, 6, 5)))
    assert (forecast.lower, forecast.expected, forecast.upper) == (1.0, 5.0, 9.0)
    assert [Forecast(((1,),) * n).coverage for n in (1, 3, 8, 9, 20)] == [0.0, 0.5, 7 / 9, 0.8, 0.8]


def test_weeks_add_up_in_every_world() -> None:
    """The counts of two halves are those of the whole."""
    forecast = Forecast(((1, 2, 3, 4), (0, 5, 0, 1)))
    first, second = forecast.by_decision(2), forecast.between(2, 4)
    assert [a + b for a, b in zip(first.unfair_pairs, second.unfair_pairs, strict=True)] == [10, 6]
    assert (first.decisions, forecast.decisions) == (2, 4)


def test_fewer_reviews_and_more_candidates_mean_more_unfair_pairs() -> None:
    """The same worlds: one pair a decision reviewed, or all of them; twelve candidates, or four."""
    crowd, learner = people(100, 4), bandit(4)
    totals = {
        (k, pairs): sum(
            int(
                np.sum(
                    unfair_pairs_live(
                        learner,
                        crowd,
                        np.diag([0.3, 0.1, 0.05, 0.0]),
                        ReviewPlan(k, pairs, 40),
                        epsilon=0.02,
                        rng=np.random.default_rng(seed),
                    )
                )
            )
            for seed in range(3)
        )
        for k, pairs in ((4, 1), (12, 1), (12, None))
    }
    assert totals[12, 1] > 2 * totals[12, None]
    assert totals[12, 1] > 2 * totals[4, 1]


def test_without_reviews_nothing_is_learned() -> None:
    """The metric of the copy, and of the bandit, stays as it was; outcomes alone change the decisions."""
    crowd, learner = people(50, 3), bandit(3)
    before = learner.distances(crowd[:5]).estimate.copy()
    counts = unfair_pairs_live(
        learner, crowd, np.zeros((3, 3)), ReviewPlan(5, 0, 10), epsilon=0.02, rng=np.random.default_rng(0)
    )
    assert np.all(counts >= 1)  # everybody is alike, and it never finds out
    assert np.array_equal(learner.distances(crowd[:5]).estimate, before)


def test_simulated_reviewers_need_no_last_resort(monkeypatch: pytest.MonkeyPatch) -> None:
    """They follow a metric: the model of those who follow none is not fitted, and the same pairs are unfair."""
    crowd, learner = people(60, 6), eh.FairBandit(6, capacity=2, epsilon=0.02, seed=0)
    learn, fits = Score.learn, list[int]()

    def noted(score: Score, verdicts: Verdicts) -> Learned:
        fits.append(len(verdicts))
        return learn(score, verdicts)

    monkeypatch.setattr(Score, "learn", noted)

    def counts() -> Indices:
        rng, G = np.random.default_rng(1), np.diag([0.3, 0.1, 0.05, 0.0, 0.0, 0.0])
        return unfair_pairs_live(learner, crowd, G, ReviewPlan(8, 5, 20), epsilon=0.02, rng=rng)

    without = counts()
    assert (int(np.sum(without)) > 0, fits) == (True, [])
    monkeypatch.setattr(ByEvidence, "without_last_resort", lambda kept: kept)
    assert np.array_equal(counts(), without)
    assert fits


# Plausible metrics.

NONE = AnswersToExplain(np.zeros((0, 6)), np.zeros(0), np.zeros(0, np.bool_))


def _draws(kind: Kind, crowd: Floats, answered: AnswersToExplain, n: int) -> list[PlausibleMetric]:
    typical, rng = Pairs.of(crowd[:15]).differences[:100], np.random.default_rng(0)
    return [plausible_metric(kind, typical, answered, rng) for _ in range(n)]


def test_plausible_metrics_have_the_scale_that_is_stated() -> None:
    """Positive semidefinite, of a mean square distance around the stated one, over a range of more than five."""
    crowd = people(30, 6)
    differences = Pairs.of(crowd).differences
    for kind in KINDS:
        matrices = np.array([each.G for each in _draws(kind, crowd, NONE, 200)])
        assert min(np.linalg.eigvalsh(G)[0] for G in matrices) > -1e-12
        spread = np.sqrt(np.einsum("ni,pij,nj->pn", differences, matrices, differences).mean(axis=1))
        assert TYPICAL_DISTANCE / 1.3 < np.median(spread) < 1.3 * TYPICAL_DISTANCE
        assert np.quantile(spread, 0.95) > 5 * np.quantile(spread, 0.05)


def _answers(G: Floats, crowd: Floats, n: int) -> AnswersToExplain:
    rng = np.random.default_rng(3)
    rows = np.array([rng.choice(len(crowd), 2, replace=False) for _ in range(n)])
    differences = crowd[rows[:, 0]] - crowd[rows[:, 1]]
    distances = np.sqrt(np.einsum("ni,ij,nj->n", differences, G, differences))
    gaps = np.clip(np.median(distances) * np.exp(0.3 * rng.normal(size=n)), 0.0, 1.0)
    return AnswersToExplain(differences, gaps, gaps > distances)


def _agreement(metrics: list[PlausibleMetric], answered: AnswersToExplain) -> float:
    squares = [np.einsum("ni,ij,nj->n", answered.differences, each.G, answered.differences) for each in metrics]
    return float(np.mean([(answered.gaps**2 > square) == answered.unfair for square in squares]))


def test_draws_are_moved_until_they_explain_the_answers() -> None:
    """Sixty answers of a diagonal metric: draws that agree with six in ten are moved to agree with nearly all."""
    G, crowd = np.diag([0.5, 0.3, 0.1, 0.05, 0.0, 0.0]), people(80, 6)
    answered = _answers(G, crowd, 60)
    before, after = (_draws(KINDS[0], crowd, given, 20) for given in (NONE, answered))
    assert _agreement(before, answered) < 0.7
    assert _agreement(after, answered) > 0.9
    assert all(each.misfit == 0.0 for each in before)


def test_the_kind_that_explains_the_answers_needs_to_be_moved_least() -> None:
    """Answers of a metric of rank one are explained by low rank far better than by a diagonal, and the other way."""
    crowd, direction = people(80, 6), np.array([0.5, -0.4, 0.3, 0.2, -0.3, 0.4])
    of_rank_one, of_diagonal = (
        {
            kind.name: np.array([each.misfit for each in _draws(kind, crowd, _answers(G, crowd, 80), 30)])
            for kind in KINDS
        }
        for G in (np.outer(direction, direction), np.diag(np.abs(direction)))
    )
    assert np.min(of_rank_one["low rank"]) < np.min(of_rank_one["diagonal"]) - 3
    assert np.median(of_diagonal["diagonal"]) < np.median(of_diagonal["low rank"]) - 3


def test_the_scale_of_plausible_metrics_follows_the_answers() -> None:
    """After thirty answers that every gap above 0.05 is unfair, metrics are far smaller than before."""
    crowd, learner = people(60, 4), bandit(4)
    before = plausible_metrics(learner, crowd, 40, np.random.default_rng(0))
    for i in range(30):
        learner.learn_pair(crowd[i], crowd[i + 30], gap=0.05 + 0.01 * i, unfair=True)
    after = plausible_metrics(learner, crowd, 40, np.random.default_rng(0))
    assert np.median([np.trace(G) for G in after]) < np.median([np.trace(G) for G in before]) / 3


@pytest.mark.statistical
def test_the_interval_covers_what_comes() -> None:
    """Twenty worlds, six features, one or three pairs reviewed: the 80% interval covers in 13 or more.

    Truths are diagonal or of rank two, of three sizes. Nor are intervals too wide to say anything: what comes is
    outside of the middle half of the forecast in five worlds or more. Measured: 19 and 5, so intervals before any
    answer are rather too wide than too narrow.
    """
    covered, halves = 0, 0
    for world in range(20):
        rng = np.random.default_rng([world, 71])
        A = np.diag(np.sqrt(rng.exponential(size=6))) if world % 2 else rng.normal(size=(2, 6))
        G = A.T @ A
        G *= (0.3, 1.0, 3.0)[world % 3] / np.linalg.norm(G)
        crowd, plan = people(200, 6, seed=world), ReviewPlan(8, (1, 3)[world // 2 % 2], 20)
        learner = bandit(6, seed=world)
        forecast = forecast_live(learner, crowd, plan, epsilon=0.02, draws=19, rng=np.random.default_rng(world))
        came = int(np.sum(unfair_pairs_live(learner, crowd, G, plan, epsilon=0.02, rng=rng)))
        covered += forecast.lower <= came <= forecast.upper
        low, high = np.quantile(forecast.unfair_pairs, [0.25, 0.75], method="weibull")
        halves += bool(low <= came <= high)
    assert covered >= 13
    assert halves <= 15
