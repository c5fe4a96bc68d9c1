"""ByEvidence: who foretells the answers best is played, and nothing is half learned."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from evenhand.errors import InvalidInput, SolverFailed, UnsupportedReview
from evenhand.metrics import BayesPoint, ByEvidence, Ellipsoid, KnownMetric, Learned, MetricLearner, Pairs, Verdicts
from evenhand.testing import MetricLearnerContract
from evenhand.testing.metric_worlds import played_rounds, random_A, random_contexts, verdicts_at_the_guess


class TestByEvidence(MetricLearnerContract):
    """Two learners of which either will do."""

    def make(self, n_features: int, **settings: Any) -> MetricLearner:  # noqa: D102
        return ByEvidence([BayesPoint(n_features, **settings), BayesPoint(n_features, caution=0.2, **settings)])


class Failing(BayesPoint):
    """Fails to learn as long as `fails` says so."""

    fails = True

    def learn(self, verdicts: Verdicts) -> Learned:
        """Fail, or learn."""
        if Failing.fails:
            raise SolverFailed("no luck")
        return super().learn(verdicts)


def test_who_is_right_takes_over_and_stays() -> None:
    """Told a wrong metric first: the learner behind it takes over within 20 rounds, and plays on."""
    rng = np.random.default_rng(0)
    A = random_A(rng, 3)
    learner = ByEvidence([KnownMetric(3.0 * A), BayesPoint(3, epsilon=0.02)])
    played = []
    for _ in played_rounds(learner, A, n=60, k=4, seed=1, adversary=False):
        played.append(type(learner.playing).__name__)
    assert played[0] == "KnownMetric"
    assert set(played[20:]) == {"BayesPoint"}


def test_who_is_right_is_not_replaced() -> None:
    """Told the true metric, nobody else ever takes over: predictions that cannot be better are not beaten."""
    A = random_A(np.random.default_rng(2), 3)
    learner = ByEvidence([KnownMetric(A), BayesPoint(3, epsilon=0.02)])
    for _ in played_rounds(learner, A, n=60, k=4, seed=3, adversary=False):
        assert isinstance(learner.playing, KnownMetric)


def test_evidence_is_what_was_foretold() -> None:
    """Evidence is the sum of the log-probabilities of the answers, older ones forgotten by the horizon."""
    rng = np.random.default_rng(4)
    A, learner = random_A(rng, 2), ByEvidence([BayesPoint(2), BayesPoint(2, caution=0.3)], horizon=50)
    expected = np.zeros(2)
    for _ in range(10):
        verdicts = verdicts_at_the_guess(learner, random_contexts(rng, 3, 2), A)
        chances = [each.chance_flagged(verdicts.pairs, verdicts.gaps) for each in learner.learners]
        logs = [np.sum(np.log(np.where(verdicts.unfair, chance, 1.0 - chance))) for chance in chances]
        expected = expected * np.exp(-len(verdicts) / 50) + np.array(logs)
        learner.learn(verdicts)
    np.testing.assert_allclose(learner.evidence, expected, rtol=1e-12)


def test_a_failure_leaves_everybody_as_they_were() -> None:
    """If one learner fails, none has learned; the same verdicts can be learned again."""
    rng = np.random.default_rng(5)
    A, learner = random_A(rng, 2), ByEvidence([BayesPoint(2), Failing(2)])
    verdicts = verdicts_at_the_guess(learner, random_contexts(rng, 3, 2), A)
    before = copy.deepcopy(learner).state()
    Failing.fails = True
    with pytest.raises(SolverFailed):
        learner.learn(verdicts)
    after = learner.state()
    assert after["playing"] == before["playing"]
    np.testing.assert_array_equal(after["evidence"], before["evidence"])
    np.testing.assert_array_equal(after["learners"][0]["state"]["mean"], before["learners"][0]["state"]["mean"])
    Failing.fails = False
    assert learner.learn(verdicts).used == len(verdicts)


def test_one_bit_reviews_are_learned_by_those_who_can() -> None:
    """A learner that cannot use one bit is passed over, unless it plays."""
    pairs = Pairs(np.array([[0, 1], [0, 2]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    verdicts = Verdicts(pairs, np.array([0.9, 0.9]), np.zeros(2, np.bool_), np.ones(2, np.bool_))
    learner = ByEvidence([BayesPoint(2), Ellipsoid(2)])
    assert learner.learn_bit(verdicts, any_unfair=True).used == 2
    np.testing.assert_array_equal(learner.evidence, [0.0, 0.0])
    with pytest.raises(UnsupportedReview):
        ByEvidence([Ellipsoid(2), BayesPoint(2)]).learn_bit(verdicts, any_unfair=True)


def test_bad_settings_are_refused() -> None:
    """Learners must be learners of the same features; a margin is not negative."""
    with pytest.raises(InvalidInput, match="at least one"):
        ByEvidence([])
    with pytest.raises(InvalidInput, match="same features"):
        ByEvidence([BayesPoint(2), BayesPoint(3)])
    with pytest.raises(InvalidInput, match="metric learners"):
        ByEvidence(["BayesPoint"])  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="margin must be"):
        ByEvidence([BayesPoint(2)], margin=-1)


@pytest.mark.statistical
def test_a_person_who_follows_no_metric_is_found_out() -> None:
    """Scores with a residual: the model of such people takes over within 900 answers; an exact reviewer's never does.

    Three pairs of five candidates a round, at the distances played; two seeds.
    """
    for seed in range(2):
        rng, learner = np.random.default_rng(seed), ByEvidence.usual(4)
        weights = np.array([2.0, -1.0, 0.5, 0.0])
        for _ in range(300):
            contexts = random_contexts(rng, 5, 4)
            said = np.round(4.0 * np.clip(0.5 + contexts @ weights / 4 + rng.normal(0.0, 0.15, 5), 0, 1)) / 4
            rows = rng.choice(10, 3, replace=False)
            pairs = Pairs.of(contexts).take(rows)
            gaps = np.minimum(np.sqrt(learner.guess(pairs)), 1.0)
            unfair = gaps > np.abs(said[pairs.indices[:, 0]] - said[pairs.indices[:, 1]]) + 0.05
            verdicts = Verdicts(pairs, gaps, unfair, np.ones(3, np.bool_))
            learner.learn(verdicts.take(gaps > 1e-9))
        assert type(learner.playing).__name__ == "Score"
        exact = ByEvidence.usual(3, epsilon=0.02)
        for _ in played_rounds(exact, random_A(rng, 3), n=60, k=4, seed=seed, adversary=False):
            assert exact.playing is exact.learners[0]


def test_reviewers_are_reported_by_whoever_knows_them() -> None:
    """While the learner of exact reviewers plays, the error rates are those of the learner that learns them."""
    learner = ByEvidence.usual(2)
    learner.learn_pair([1.0, 0.0], [0.0, 0.0], gap=0.5, unfair=True, reviewer="Ada")
    assert learner.playing.error_rate == 1e-3
    assert list(learner.reviewers()) == ["Ada"]
