"""ByEvidence: who predicts the answers well enough is played, and nothing is half learned."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InvalidInput, SolverFailed, UnsupportedReview
from evenhand.metrics import (
    BayesPoint,
    ByEvidence,
    Ellipsoid,
    KnownMetric,
    Learned,
    MetricLearner,
    Pairs,
    ReviewerReport,
    Score,
    Verdicts,
    default_learner,
)
from evenhand.metrics.by_evidence import AT_ONCE, FIRST_OF_EACH, FIRST_TRIAL, HOPELESS
from evenhand.testing import MetricLearnerContract
from evenhand.testing.metric_worlds import played_rounds, random_A, random_contexts, verdicts_at_the_guess
from tests.support.score_people import MadeUpPerson


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


def test_evidence_is_what_was_predicted() -> None:
    """Evidence is the sum of the log-probabilities of the answers before they were learned."""
    rng = np.random.default_rng(4)
    A, learner = random_A(rng, 2), ByEvidence([BayesPoint(2), BayesPoint(2, caution=0.3)])
    expected = np.zeros(2)
    for _ in range(10):
        verdicts = verdicts_at_the_guess(learner, random_contexts(rng, 3, 2), A)
        chances = [each.chance_flagged(verdicts.pairs, verdicts.gaps) for each in learner.learners]
        logs = [np.sum(np.log(np.where(verdicts.unfair, chance, 1.0 - chance))) for chance in chances]
        expected = expected + np.array(logs)
        learner.learn(verdicts)
    np.testing.assert_allclose(learner.evidence, expected, rtol=1e-12)


@given(st.lists(st.floats(-100.0, 0.0), min_size=1, max_size=5), st.floats(0.0, 20.0))
def test_the_first_that_no_later_one_beats_is_played(evidence: list[float], margin: float) -> None:
    """By more than the margin; and only learners that a later one beats by far are dropped, never the last."""
    learners = [BayesPoint(1) for _ in evidence]
    state = {**ByEvidence(learners, margin=margin).state(), "evidence": np.array(evidence)}
    learner = ByEvidence.from_state(state)
    beaten = [max(evidence[i:]) - own for i, own in enumerate(evidence)]
    assert len(learner.learners) == sum(behind < HOPELESS for behind in beaten)
    kept = [behind for behind in beaten if behind < HOPELESS]
    played = next(i for i, behind in enumerate(kept) if behind <= margin)
    assert learner.playing is learner.learners[played]


def test_a_refuted_learner_is_dropped() -> None:
    """A metric that is three times too large costs no time any more once the answers have refuted it."""
    rng = np.random.default_rng(0)
    A = random_A(rng, 3)
    learner = ByEvidence([KnownMetric(3.0 * A), BayesPoint(3, epsilon=0.02)])
    for _ in range(100):
        x, y = random_contexts(rng, 2, 3)
        distance = float(np.linalg.norm(A @ (x - y)))
        gap = min(1.0, 2.0 * rng.random() * distance)
        learner.learn_pair(x, y, gap=gap, unfair=gap > distance)
    assert [type(each).__name__ for each in learner.learners] == ["BayesPoint"]
    assert list(learner.evidence.shape) == [1]


class Promising(KnownMetric):
    """Promises a number of flags, which the answers may speak against."""

    flags_left = 3
    promise_is_doubtful = False


@pytest.mark.parametrize("is_doubtful", [False, True])
@pytest.mark.parametrize("behind", [HOPELESS - 1.0, HOPELESS + 1.0])
def test_a_promise_is_ended_by_doubts_of_two_kinds(is_doubtful: bool, behind: float) -> None:
    """Answers that speak against it and a learner far ahead: neither of them alone."""
    learner = ByEvidence([Promising(np.eye(2)), BayesPoint(2)])
    learner.learners[0].promise_is_doubtful = is_doubtful  # type: ignore[misc]
    learner._set(learner.learners, np.array([-behind, 0.0]))
    is_ended = is_doubtful and behind > HOPELESS
    assert isinstance(learner.playing, BayesPoint if is_ended else Promising)
    assert (learner.flags_left is None) == is_ended


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
    with pytest.raises(InvalidInput, match="quantile must be"):
        default_learner(2, quantile=2.0)
    with pytest.raises(InvalidInput, match="play must be 'mean' with an error_rate"):
        default_learner(2, error_rate=0.1, play="minimum")


@dataclass(frozen=True)
class Remembered:
    """Answers with what was predicted of them."""

    chunks: list[tuple[Verdicts, Any]]
    seen: int
    speaks_up: bool = False

    def predicted(self, since: int, until: int) -> list[tuple[Verdicts, Any]]:
        """All chunks that begin with one of these answers."""
        starts = np.cumsum([0, *(len(verdicts) for verdicts, _ in self.chunks)])
        return [chunk for start, chunk in zip(starts, self.chunks, strict=False) if since <= start < until]


def _reconsidered(learner: MetricLearner, answers: Remembered) -> MetricLearner:
    """After as many reviews as it takes until everything that is remembered was considered."""
    while (after := learner.reconsidered(answers)) is not learner:
        learner = after
    return learner


def _remembered(wrong: float, n: int = 40, *, speaks_up: bool = False) -> Remembered:
    """Reviews of three pairs each; the predictions are right but for a share of them that is as wrong as can be."""
    rng = np.random.default_rng(6)
    A, learner, chunks = random_A(rng, 2), BayesPoint(2), []
    for _ in range(n):
        verdicts = verdicts_at_the_guess(learner, random_contexts(rng, 3, 2), A)
        right = rng.random(len(verdicts)) >= wrong
        chunks.append((verdicts, np.where(verdicts.unfair == right, 0.97, 0.03)))
    return Remembered(chunks, sum(len(verdicts) for verdicts, _ in chunks), speaks_up)


@pytest.mark.parametrize("speaks_up", [False, True])
def test_the_last_resort_learns_what_is_remembered_and_plays(speaks_up: bool) -> None:
    """If a metric predicted badly by far; it takes over as another learner, and nobody resorts twice."""
    learner, alone = ByEvidence([BayesPoint(2)], last_resort=Score(2)), Score(2)
    remembered = _remembered(wrong=0.9, speaks_up=speaks_up)
    after = _reconsidered(learner, remembered)
    for verdicts, _ in remembered.chunks:
        alone.learn(verdicts)
    assert isinstance(after, ByEvidence)
    assert isinstance(learner.playing, BayesPoint)
    pairs = Pairs.of(random_contexts(np.random.default_rng(0), 4, 2))
    np.testing.assert_array_equal(after.guess(pairs), alone.guess(pairs))
    assert not after.plays_metric
    assert after.reconsidered(remembered) is after
    without = ByEvidence([BayesPoint(2)])
    assert without.reconsidered(remembered) is without


def test_the_last_resort_must_predict_better() -> None:
    """Who predicted well plays on, whatever the check says; more is learned only when there are many more answers."""
    learner, remembered = ByEvidence([BayesPoint(2)], last_resort=Score(2)), _remembered(wrong=0.0, speaks_up=True)
    after = _reconsidered(learner, remembered)
    assert after.plays_metric
    assert after.reconsidered(remembered) is after
    assert after.reconsidered(replace(remembered, seen=2 * remembered.seen)) is not after


def test_the_last_resort_waits_for_a_few_answers_of_each_feature() -> None:
    """With twelve features it first learns after more answers than with two: fits to few take long and say little."""
    assert 12 * FIRST_OF_EACH > FIRST_TRIAL
    learner = ByEvidence([BayesPoint(12, structure="diagonal")], last_resort=Score(12))
    assert learner.reconsidered(Remembered([], 12 * FIRST_OF_EACH - 1, speaks_up=False)) is learner
    assert learner.reconsidered(Remembered([], 12 * FIRST_OF_EACH, speaks_up=False)) is not learner


def test_one_review_brings_few_fits() -> None:
    """A trial of many answers goes on with the next reviews, in the same order; nobody takes over before its end."""
    remembered = _remembered(wrong=0.9, n=80)
    shares: list[int] = []
    learner: MetricLearner = ByEvidence([BayesPoint(2)], last_resort=Score(2))
    grown = replace(remembered, seen=remembered.seen + 3)  # answers that come meanwhile are for the next trial
    while learner.plays_metric:
        learner = learner.reconsidered(grown if shares else remembered)
        shares.append(learner.state()["learned_of"])
    assert shares == [*range(AT_ONCE, remembered.seen, AT_ONCE), remembered.seen]


def test_a_small_lead_counts_only_where_no_metric_fits() -> None:
    """With the check's word the last resort takes over by a small lead, and without it by a clear one only."""
    chunks = _remembered(wrong=0.9).chunks
    behind = [i for i in range(1, 12) if not _taken_over(chunks[:i], speaks_up=False)]
    assert any(_taken_over(chunks[:i], speaks_up=True) for i in behind)


def _taken_over(chunks: list[tuple[Verdicts, Any]], *, speaks_up: bool) -> bool:
    learner = ByEvidence([BayesPoint(2)], last_resort=Score(2))
    seen = max(FIRST_TRIAL, sum(len(verdicts) for verdicts, _ in chunks))
    return not _reconsidered(learner, Remembered(chunks, seen, speaks_up)).plays_metric


def test_a_promise_that_stands_is_not_ended_by_predictions() -> None:
    """While a number of flags left is promised, a lead alone takes nobody out of play; that no metric fits does."""
    learner = default_learner(2, epsilon=0.05, seed=0)
    assert learner.flags_left is not None
    assert _reconsidered(learner, _remembered(wrong=0.9)).plays_metric
    assert not _reconsidered(learner, _remembered(wrong=0.9, speaks_up=True)).plays_metric


def test_what_the_last_resort_learned_is_saved() -> None:
    """A saved learner continues as if never stopped: answers in two parts, saved in the middle, give the same lead."""
    whole = _remembered(wrong=0.1, n=60)
    first = Remembered(whole.chunks[:30], sum(len(verdicts) for verdicts, _ in whole.chunks[:30]))
    learner = ByEvidence([BayesPoint(2)], last_resort=Score(2)).reconsidered(first)
    assert 0 < learner.state()["learned_of"] < first.seen
    other = type(learner).restored(learner.saved())
    learner, other = _reconsidered(learner, first), _reconsidered(other, first)
    ours, theirs = _reconsidered(learner, whole).state(), _reconsidered(other, whole).state()
    assert ours["lead"] == theirs["lead"]
    assert (ours["learned_of"], theirs["learned_of"]) == (whole.seen, whole.seen)


def test_predictions_are_those_of_the_learner_with_the_most_evidence() -> None:
    """What the last resort must beat is the best of the others, whoever plays."""
    learner = ByEvidence([BayesPoint(2), BayesPoint(2, caution=0.2), Ellipsoid(2)], last_resort=Score(2))
    assert learner.best_predictor is learner.learners[0]
    learner._set(learner.learners, np.array([-5.0, -1.0, -3.0]))
    assert learner.best_predictor is learner.learners[1]
    assert learner.playing is learner.learners[0]
    assert learner.playing.best_predictor is None
    assert ByEvidence([BayesPoint(2)]).best_predictor is None


def test_chances_of_a_flag_are_weighted_by_evidence() -> None:
    """Of all learners and of the last resort, which has the most evidence and its lead; others without one."""
    rng = np.random.default_rng(8)
    pairs, gaps = Pairs.of(random_contexts(rng, 4, 2)), rng.uniform(0.1, 0.9, 6)
    metrics: list[MetricLearner] = [KnownMetric(0.4 * np.eye(2)), BayesPoint(2)]
    score = Score(2)
    chances = [each.chance_flagged(pairs, gaps) for each in (*metrics, score)]
    learner = ByEvidence(metrics, last_resort=score)
    np.testing.assert_allclose(learner.chance_flagged(pairs, gaps), np.mean(chances, axis=0), rtol=1e-12)
    learner = ByEvidence.from_state(learner.state() | {"evidence": np.array([-3.0, -1.0]), "lead": 2.0})
    weights = np.exp([-3.0, -1.0, 1.0])
    np.testing.assert_allclose(
        learner.chance_flagged(pairs, gaps), np.average(chances, axis=0, weights=weights), rtol=1e-12
    )
    alone = ByEvidence([BayesPoint(2)])
    np.testing.assert_allclose(alone.chance_flagged(pairs, gaps), chances[1], rtol=1e-12)


def test_predictions_follow_a_last_resort_that_does_not_play_yet() -> None:
    """After answers that it predicted better, but not by enough to take over, chances are nearly the last resort's."""
    chunks = _remembered(wrong=0.9).chunks
    learner = ByEvidence([BayesPoint(2)], last_resort=Score(2)).reconsidered(Remembered(chunks[:3], FIRST_TRIAL))
    assert isinstance(learner, ByEvidence)
    assert learner.last_resort is not None
    assert learner.plays_metric
    pairs = Pairs.of(random_contexts(np.random.default_rng(1), 4, 2))
    chances, (metric,) = learner.chance_flagged(pairs, np.full(6, 0.3)), learner.learners
    last = learner.last_resort.chance_flagged(pairs, np.full(6, 0.3))
    assert np.all(np.abs(chances - last) <= 0.1 * np.abs(metric.chance_flagged(pairs, np.full(6, 0.3)) - last) + 1e-12)


def test_a_model_that_predicts_better_reports_on_reviewers() -> None:
    """What no metric explains is a residual to it, and errors to the others: where both are believed, it counts."""
    rng, people = np.random.default_rng(4), {"Ada": MadeUpPerson(np.array([5.0, 0.0, 0.0]), residual=1.0, seed=1)}
    people["Bob"] = MadeUpPerson(np.array([0.0, 5.0, 0.0]), residual=1.0, seed=2)
    learner = ByEvidence([BayesPoint(3, error_rate=None)], last_resort=Score(3))
    assert learner.last_resort is not None
    for name, person in people.items():
        verdicts = person.verdicts(120, rng, name)
        learner.learn(verdicts)
        learner.last_resort.learn(verdicts.take(slice(0, 80)))
    ours, theirs = (each.reviewers() for each in (learner.learners[0], learner.last_resort))

    def report(lead: float, name: str) -> ReviewerReport:
        return ByEvidence.from_state(learner.state() | {"lead": lead}).reviewers()[name]

    for name in people:
        own, other, middle = ours[name], theirs[name], report(0.0, name)
        assert other.error_rate < 0.05 < own.error_rate
        assert other.agreement is not None
        assert (middle.error_rate, middle.softness) == (other.error_rate, other.softness)
        assert (middle.lower, middle.upper) == (min(own.lower, other.lower), max(own.upper, other.upper))
        assert (report(10.0, name).error_rate, report(10.0, name).upper) == (other.error_rate, other.upper)
        assert (report(-10.0, name).error_rate, report(-10.0, name).upper) == (own.error_rate, own.upper)
        for lead in (-10.0, 10.0):
            one = report(lead, name)
            assert (one.answers, one.deviation, one.agreement) == (own.answers, other.deviation, other.agreement)


def test_nobody_is_said_to_err_before_the_model_has_learned() -> None:
    """It first learns after twenty answers; until then what it expects of anybody counts, in a wide interval."""
    rng, learner = np.random.default_rng(6), default_learner(3, seed=0)
    verdicts = MadeUpPerson(np.array([4.0, 0.0, 0.0]), residual=1.0, seed=1).verdicts(FIRST_TRIAL - 1, rng, "Ada")
    learner.learn(verdicts)
    assert isinstance(learner, ByEvidence)
    report, of_a_metric = learner.reviewers()["Ada"], learner.learners[-1].reviewers()["Ada"]
    assert report.error_rate == pytest.approx(0.01)
    assert report.upper >= of_a_metric.upper
    assert (report.answers, report.deviation) == (FIRST_TRIAL - 1, None)


def test_who_misleads_is_named_whoever_predicts_better() -> None:
    """To a model with lapses a reviewer who turns every answer around is at most one who tosses coins."""
    rng = np.random.default_rng(5)
    A, learner = random_A(rng, 2), ByEvidence([BayesPoint(2, error_rate=None)], last_resort=Score(2))
    assert learner.last_resort is not None
    for turned, name in ((False, "Ada"), (True, "Bob")):
        for _ in range(80):
            verdicts = verdicts_at_the_guess(learner, random_contexts(rng, 4, 2), A)
            verdicts = replace(verdicts, reviewer=name, unfair=verdicts.unfair ^ turned)
            learner.learn(verdicts)
            learner.last_resort.learn(verdicts)
    for lead in (-1.0, 8.0):
        reports = ByEvidence.from_state(learner.state() | {"lead": lead}).reviewers()
        assert {name for name, report in reports.items() if report.misleads} == {"Bob"}
    assert learner.misleading() == {"Bob"}
