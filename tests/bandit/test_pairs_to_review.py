"""pairs_to_review: what to ask a reviewer first."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import evenhand as eh
from evenhand import errors
from evenhand._internal.arrays import Floats
from evenhand.auditors import MahalanobisAuditor
from evenhand.bandit.pairs_to_review import AS_TELLING, PairToReview, _most_telling
from evenhand.metrics import MetricLearner, Pairs
from evenhand.records.decision import PROBABILITY_TOLERANCE
from evenhand.testing.metric_worlds import random_A, random_contexts
from tests.support.simulation import same, simulate

LEARNERS: dict[str, Any] = {
    "BayesPoint": lambda: eh.metrics.BayesPoint(3, epsilon=0.05),
    "BayesPoint with unknown errors": lambda: eh.metrics.BayesPoint(3, epsilon=0.05, error_rate=None),
    "diagonal": lambda: eh.metrics.BayesPoint(3, structure="diagonal"),
    "Ellipsoid": lambda: eh.metrics.Ellipsoid(3, epsilon=0.05),
    "ProjectedVolume": lambda: eh.metrics.ProjectedVolume(3, epsilon=0.05, seed=7),
    "Guarded": lambda: eh.metrics.Guarded(eh.metrics.BayesPoint(3, epsilon=0.05), limit=2),
    "KnownMetric": lambda: eh.metrics.KnownMetric(0.3 * np.eye(3)),
    "PerPair": lambda: eh.metrics.PerPair(eh.metrics.Ellipsoid(3, epsilon=0.05)),
}


def _experienced(metric: MetricLearner, *, seed: int = 0, rounds: int = 15, **settings: Any) -> eh.FairBandit:
    bandit = eh.FairBandit(3, metric=metric, seed=seed, **settings)
    rng = np.random.default_rng(seed)
    auditor = MahalanobisAuditor(np.diag([0.7, 0.4, 0.1]))  # of every structure
    for _ in range(rounds):
        decision = bandit.decide(random_contexts(rng, 5, 3))
        bandit.learn(decision, rewards=dict.fromkeys(decision.chosen, 0.3), review=auditor.review(decision))
    return bandit


def _unequal(decision: eh.Decision) -> list[tuple[int, int]]:
    k = decision.n_candidates
    return [(i, j) for i in range(k) for j in range(i + 1, k) if decision.gap(i, j) > PROBABILITY_TOLERANCE]


def _check(bandit: eh.FairBandit, decision: eh.Decision, n: int) -> tuple[PairToReview, ...]:
    """Everything that holds of any answer."""
    questions = bandit.pairs_to_review(decision, n)
    unequal, pairs = _unequal(decision), [question.pair for question in questions]
    assert len(questions) == min(n, len(unequal))
    assert len(set(pairs)) == len(pairs)
    assert set(pairs) <= set(unequal)
    binding = [question.pair in decision.tight_pairs for question in questions]
    assert binding == sorted(binding, reverse=True)
    assert sum(binding) == min(n, len(set(decision.tight_pairs) & set(unequal)))
    for question, binds in zip(questions, binding, strict=True):
        assert question.gap == decision.gap(*question.pair)
        assert 0 <= question.chance_unfair <= 1
        assert question.distance >= 0
        assert question.uncertainty >= 0
        assert f"{question.distance:.2f} ± {question.uncertainty:.2f}" in question.reason
        assert ("limits the probabilities" in question.reason) == binds
        assert binds or f"unfair with probability {question.chance_unfair:.0%}" in question.reason
    return questions


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_can_be_asked(name: str) -> None:
    """n is kept to, binding pairs come first, equal probabilities never, reasons say why; asking changes nothing."""
    for seed in range(2):
        bandit = _experienced(LEARNERS[name](), seed=seed)
        rng = np.random.default_rng(seed + 10)
        for k in (1, 2, 5, 7):
            decision = bandit.decide(random_contexts(rng, k, 3))
            before = copy.deepcopy(bandit.state())
            for n in (1, 2, 3, 100):
                assert _check(bandit, decision, n) == _check(bandit, decision, n)
            assert same(bandit.state(), before)


@pytest.mark.filterwarnings("ignore::evenhand.errors.InconsistentReviews")  # answers by lot contradict each other
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 12), capacity=st.sampled_from([1, 2, None]), n=st.integers(1, 70))
def test_more_questions_begin_with_the_same(seed: int, k: int, capacity: int | None, n: int) -> None:
    """The n most informative are the first n of all; binding pairs by what they teach, others by surprise.

    Of binding pairs that teach nearly as much as the best, the nearest comes first.
    """
    bandit, rng = eh.FairBandit(3, capacity=capacity, seed=seed, reviewer_error=1e-3), np.random.default_rng(seed)
    _learn_a_few(bandit, rng, 0.9)  # a new belief is least certain of distant pairs
    decision = bandit.decide(random_contexts(rng, k, 3))
    _learn_a_few(bandit, rng, 0.2)  # and has had no bad news of probabilities that it would play
    everything = _check(bandit, decision, 1000)
    assert everything[:n] == _check(bandit, decision, n)
    pairs = Pairs.of(decision.contexts)
    names = pairs.names()
    binding = [names.index(q.pair) for q in everything if q.pair in decision.tight_pairs]
    foreseen = [abs(q.chance_unfair - 0.5) for q in everything if q.pair not in decision.tight_pairs]
    if binding:
        gaps = np.array([q.gap for q in everything[: len(binding)]])
        taught = _taught_by_each(bandit.metric, pairs.take(np.array(binding)), gaps)
        assert taught[0] >= (AS_TELLING - 1e-6) * max(taught)
        as_good = [q for q, each in zip(everything, taught, strict=False) if each > (AS_TELLING + 1e-6) * max(taught)]
        assert all(everything[0].distance <= q.distance for q in as_good)
    assert all(before <= after + 1e-9 for before, after in pairwise(foreseen))


def _taught_by_each(metric: MetricLearner, pairs: Pairs, gaps: Floats) -> list[float]:
    """The variance that a verdict on each pair is expected to take from all pairs, by integrating over its distance."""
    mean, _ = metric.moments(pairs)
    joint = metric.covariances(pairs)
    assert joint is not None
    variances = np.diag(joint)
    weights, taught = 1.0 / (variances + np.mean(variances)), []
    for row, (centre, gap) in enumerate(zip(mean, gaps, strict=True)):
        sd = float(np.sqrt(variances[row]))
        x = centre + sd * np.linspace(-8.0, 8.0, 20_001)
        density = stats.norm.pdf(x, centre, sd)
        left = 0.0
        for side in (x > gap**2, x <= gap**2):
            chance = float(np.trapezoid(density * side, x))
            if chance > 1e-12:
                here = np.trapezoid(density * side * x, x) / chance
                left += float(np.trapezoid(density * side * (x - here) ** 2, x))
        share = 1.0 - left / sd**2
        taught.append(share * float(weights @ joint[row] ** 2) / variances[row])
    return taught


def test_without_covariances_the_most_uncertain_come_first() -> None:
    """Learners that know no covariances have their binding pairs ordered by uncertainty."""
    bandit = _experienced(LEARNERS["Ellipsoid"]())
    decision = bandit.decide(random_contexts(np.random.default_rng(5), 8, 3))
    pairs = Pairs.of(decision.contexts)
    _, sd = bandit.metric.moments(pairs)
    binding = [q.pair for q in bandit.pairs_to_review(decision, 100) if q.pair in decision.tight_pairs]
    uncertain = [sd[pairs.names().index(pair)] for pair in binding]
    assert len(binding) > 1
    assert uncertain == sorted(uncertain, reverse=True)


def test_two_questions_are_not_about_the_same() -> None:
    """Of two pairs that are nearly copies of each other one is asked about, and then another pair before its copy."""
    metric = eh.metrics.BayesPoint(4, epsilon=0.01)
    differences = np.array([[0.9, 0.0, 0.1, 0.0], [0.9, 0.0, 0.1, 1e-6], [0.0, 0.8, 0.0, 0.1], [0.0, 0.8, 0.0, 0.1001]])
    pairs = Pairs(np.array([[0, 1], [0, 2], [0, 3], [0, 4]]), differences)
    moments = metric.moments(pairs)
    order = _most_telling(metric, pairs, np.sqrt(moments[0]), moments, 2)
    assert sorted(order.tolist()) == [0, 1, 2, 3]
    assert {row // 2 for row in order[:2].tolist()} == {0, 1}


def test_of_two_that_teach_as_much_the_nearer_is_asked_about() -> None:
    """Of two pairs that teach nearly as much the nearer comes first; one that is nearer still and known does not."""
    metric = eh.metrics.BayesPoint(2, structure="diagonal", epsilon=0.01)
    for _ in range(40):
        metric.learn_pair([0.0, 1.0], [0.0, 0.0], gap=0.3, unfair=True)
    differences = np.array([[0.7, 0.0], [0.69, 0.1], [0.0, 0.7]])
    pairs = Pairs(np.array([[0, 1], [0, 2], [0, 3]]), differences)
    moments = metric.moments(pairs)
    order = _most_telling(metric, pairs, np.sqrt(moments[0]), moments, 1)
    assert order[0] == 1
    assert moments[0][2] < moments[0][1] < moments[0][0]  # the third is the nearest, and teaches little


def test_variances_that_rounding_made_negative_do_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs known to the last digit, their variances anywhere near zero: they come last, and all are named once."""
    metric = eh.metrics.BayesPoint(3, epsilon=0.01)
    pairs = Pairs.of(random_contexts(np.random.default_rng(0), 4, 3))
    joint, known = metric.covariances(pairs), [1, 4]
    joint[known, :] *= 1e-9
    joint[:, known] *= 1e-9
    joint[known, known] = [-1e-17, 0.0]

    def covariances(asked: Pairs) -> Floats:
        rows = [pairs.names().index(name) for name in asked.names()]
        return np.asarray(joint[np.ix_(rows, rows)])

    monkeypatch.setattr(metric, "covariances", covariances)
    mean, sd = metric.moments(pairs)
    gaps = np.sqrt(mean)
    moments = gaps**2, np.where(np.isin(np.arange(6), known), 0.0, sd)
    for n in (2, 4, 6):
        order = _most_telling(metric, pairs, gaps, moments, n).tolist()
        assert sorted(order) == list(range(6))
        assert not set(order[: min(n, 4)]) & set(known)
    joint[:] = 0.0
    assert sorted(_most_telling(metric, pairs, gaps, moments, 3).tolist()) == list(range(6))


def _learn_a_few(bandit: eh.FairBandit, rng: np.random.Generator, widest: float) -> None:
    for _ in range(6):
        x, y = random_contexts(rng, 2, 3)
        bandit.learn_pair(x, y, gap=float(rng.uniform(0.1, widest)), unfair=bool(rng.random() < 0.6))


def test_equal_probabilities_leave_nothing_to_review() -> None:
    """Copies of one person, a single candidate, and equal probabilities by order of the cap leave nothing to ask."""
    bandit = eh.FairBandit(2, seed=0, reviewer_error=1e-3)
    assert bandit.pairs_to_review(bandit.decide([[0.5, 0.5]] * 4), 3) == ()
    assert bandit.pairs_to_review(bandit.decide([[0.5, 0.5]]), 1) == ()
    capped = eh.FairBandit(2, max_unfair_rounds=0, seed=0, reviewer_error=1e-3)
    assert capped.pairs_to_review(capped.decide([[1.0, 0.0], [0.0, 1.0]]), 1) == ()
    mixed = bandit.decide([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    assert (1, 2) not in [question.pair for question in bandit.pairs_to_review(mixed, 10)]


def test_moments_become_distances() -> None:
    """The distance is the root of the mean; its uncertainty half the way between roots one deviation to either side."""
    bandit = _experienced(LEARNERS["BayesPoint"]())
    decision = bandit.decide(random_contexts(np.random.default_rng(5), 5, 3))
    pairs = Pairs.of(decision.contexts)
    mean, sd = bandit.metric.moments(pairs)
    for question in bandit.pairs_to_review(decision, 10):
        row = pairs.names().index(question.pair)
        assert question.distance == pytest.approx(np.sqrt(max(mean[row], 0)))
        low, high = (np.sqrt(max(mean[row] + side * sd[row], 0)) for side in (-1, 1))
        assert question.uncertainty == pytest.approx((high - low) / 2)


def test_a_known_metric_leaves_nothing_uncertain() -> None:
    """Of a metric known beforehand every distance is certain, and no pair is likely to be unfair."""
    bandit = eh.FairBandit(3, metric=LEARNERS["KnownMetric"](), seed=0)
    decision = bandit.decide(random_contexts(np.random.default_rng(0), 6, 3))
    for question in bandit.pairs_to_review(decision, 100):
        assert question.uncertainty == 0
        assert question.distance >= question.gap - 1e-9


def test_a_metric_beyond_all_probabilities() -> None:
    """The same where distances are far beyond 1: nothing overflows."""
    bandit = eh.FairBandit(3, metric=eh.metrics.KnownMetric(50 * np.eye(3)), seed=0)
    decision = bandit.decide(random_contexts(np.random.default_rng(0), 6, 3))
    assert all(question.chance_unfair == 0 for question in bandit.pairs_to_review(decision, 100))


@pytest.mark.parametrize("n", [0, -1, 1.0, 2.5, True, None, "two"])
def test_bad_numbers_are_refused(n: Any) -> None:
    """n is a whole number of pairs, one at least."""
    bandit = eh.FairBandit(2, seed=0, reviewer_error=1e-3)
    decision = bandit.decide(np.eye(2))
    with pytest.raises(errors.InvalidInput, match="n must be a whole number >= 1, got "):
        bandit.pairs_to_review(decision, n)


def test_decisions_of_others_are_refused() -> None:
    """Another bandit's decision is refused, and what is none."""
    bandit, other = eh.FairBandit(2, seed=0, reviewer_error=1e-3), eh.FairBandit(2, seed=1, reviewer_error=1e-3)
    bandit.decide(np.eye(2))
    with pytest.raises(errors.ForeignDecision):
        bandit.pairs_to_review(other.decide(np.eye(2)), 1)
    with pytest.raises(errors.InvalidInput, match=r"decision must be a Decision that decide\(\) returned, got 'it'"):
        bandit.pairs_to_review("it", 1)  # type: ignore[arg-type]


def test_proposed_pairs_teach_more_than_pairs_by_lot() -> None:
    """Asked of two pairs a round, those proposed lead to fewer unfair pairs than those drawn by lot: by half at least.

    Sums over three seeds, d = 3, k = 6, 250 rounds.
    """
    unfair = {"proposed": 0, "by lot": 0}
    for seed in range(3):
        for way in unfair:
            unfair[way] += _unfair_pairs(way, seed)
    assert unfair["proposed"] <= 0.5 * unfair["by lot"]


def _unfair_pairs(way: str, seed: int) -> int:
    rng, order = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    exact = MahalanobisAuditor(random_A(rng, 3))
    bandit, unfair = eh.FairBandit(3, epsilon=0.02, seed=seed, reviewer_error=1e-3), 0
    for _ in range(250):
        decision = bandit.decide(random_contexts(rng, 6, 3))
        pairs = _unequal(decision)
        if way == "proposed":
            looked_at = [question.pair for question in bandit.pairs_to_review(decision, 2)]
        else:
            looked_at = [pairs[row] for row in order.permutation(len(pairs))[:2]]
        wrong = exact.excess(decision) > 0.02
        unfair += int(np.sum(np.triu(wrong, 1)))
        flagged = [pair for pair in looked_at if exact.excess(decision)[pair] > PROBABILITY_TOLERANCE]
        fair = [pair for pair in looked_at if pair not in flagged]
        bandit.learn(
            decision, rewards=dict.fromkeys(decision.chosen, 0.3), review=eh.Review.partial(unfair=flagged, fair=fair)
        )
    return unfair


def test_a_saved_bandit_asks_the_same() -> None:
    """The proposal depends on what was learned and on the decision, on nothing else."""
    bandit = eh.FairBandit(3, seed=0, reviewer_error=1e-3)
    simulate(bandit, d=3, k=5, rounds=20, seed=0)
    decision = bandit.decide(random_contexts(np.random.default_rng(0), 6, 3))
    loaded = eh.FairBandit.from_state(copy.deepcopy(bandit.state()))
    assert loaded.pairs_to_review(decision, 8) == bandit.pairs_to_review(decision, 8)
