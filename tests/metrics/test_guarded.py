"""Guarded: who plays, what makes the switch, and how many flags there can be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
from numpy.typing import NDArray

import evenhand as eh
from evenhand import theory
from evenhand.errors import InvalidInput, SolverFailed, UnsupportedReview
from evenhand.metrics import (
    BayesPoint,
    Ellipsoid,
    Guarded,
    KnownMetric,
    Learned,
    MetricLearner,
    Pairs,
    PerPair,
    ProjectedVolume,
    Verdicts,
    VersionSpace,
)
from evenhand.metrics.guarded import DEFAULT, most_flagged
from evenhand.testing.metric_worlds import hardest_contexts, random_A, random_contexts, verdicts_at_the_guess
from evenhand.theory.promise import flags_in_words

Floats = NDArray[np.float64]

CONTEXTS = random_contexts(np.random.default_rng(0), 3, 2)


class NeverLearnsForTests(MetricLearner):
    """Takes every two candidates for far apart, whatever it learns, be it one bit."""

    def estimate(self, pairs: Pairs) -> Floats:
        """All the same."""
        return np.ones(len(pairs))

    def ends(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """Certain of every distance."""
        return np.ones(len(pairs)), np.ones(len(pairs))

    def learn(self, verdicts: Verdicts) -> Learned:
        """Nod."""
        return Learned(len(verdicts))

    def learn_bit(self, verdicts: Verdicts, *, any_unfair: bool) -> Learned:
        """Nod."""
        return Learned(len(verdicts))

    def matrix(self) -> Floats:
        """Nothing that was learned."""
        return np.eye(self.n_features)

    def state(self) -> dict[str, Any]:
        """The number of features."""
        return {"n_features": self.n_features}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Another one."""
        return cls(state["n_features"])


class ListensForTests(NeverLearnsForTests):
    """Keeps all verdicts, calls all of them conflicts, and fails after `most` reviews."""

    def __init__(self, n_features: int, most: int = 1000) -> None:
        super().__init__(n_features)
        self.reviews: list[Verdicts] = []
        self.most = most

    def learn(self, verdicts: Verdicts) -> Learned:
        """Keep it."""
        if len(self.reviews) == self.most:
            raise SolverFailed("one review too many")
        self.reviews.append(verdicts)
        return Learned(0, tuple(verdicts.pairs.names()))

    def state(self) -> dict[str, Any]:
        """The number of reviews."""
        return {**super().state(), "reviews": len(self.reviews)}


def _verdicts(gaps: list[float], unfair: list[bool], reviewer: str | None = None) -> Verdicts:
    tight = np.array([True, True, False])
    return Verdicts(Pairs.of(CONTEXTS), np.array(gaps), np.array(unfair), tight, reviewer)


FLAG = _verdicts([0.5, 0.6, 0.7], [False, True, False])
FINE = _verdicts([0.1, 0.2, 0.3], [False, False, False])


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else bool(a == b)


def _flagged_rounds(learner: MetricLearner, A: Floats, *, n: int, k: int, seed: int) -> list[bool]:
    """Of each of n rounds that an adversary picks, whether it was flagged."""
    rng = np.random.default_rng(seed)
    flagged = []
    for _ in range(n):
        verdicts = verdicts_at_the_guess(learner, hardest_contexts(learner, rng, A, k=k, tries=8), A)
        learner.learn(verdicts)
        flagged.append(bool(verdicts.unfair.any()))
    return flagged


# The switch.


def test_as_many_flags_as_the_limit_do_not_switch_and_one_more_does() -> None:
    """With limit 2 the third flagged review makes the switch, and reviews without a flag change nothing."""
    learner = Guarded(NeverLearnsForTests(2), Ellipsoid(2), limit=2)
    for review, flags, switched in ((FLAG, 1, False), (FINE, 1, False), (FLAG, 2, False), (FINE, 2, False)):
        learner.learn(review)
        assert (learner.flags, learner.switched) == (flags, switched)
        assert isinstance(learner.playing, NeverLearnsForTests)
    learner.learn(FLAG)
    assert (learner.flags, learner.switched) == (3, True)
    assert isinstance(learner.playing, Ellipsoid)


def test_with_limit_zero_the_first_flag_switches() -> None:
    """Nothing is forgiven: before the first flag the fast learner plays, after it the sure one."""
    learner = Guarded(NeverLearnsForTests(2), Ellipsoid(2), limit=0)
    learner.learn(FINE)
    assert not learner.switched
    learner.learn(FLAG)
    assert learner.switched


def test_what_counts_is_reviews_with_a_flag() -> None:
    """Three flags in one review count once; a flag on equal probabilities none; after the switch counting goes on."""
    learner = Guarded(NeverLearnsForTests(2), Ellipsoid(2), limit=1)
    learner.learn(_verdicts([0.5, 0.6, 0.7], [True, True, True]))
    learner.learn(_verdicts([0.0, 0.0, 0.7], [True, True, False]))
    assert (learner.flags, learner.switched) == (1, False)
    learner.learn(FLAG)
    learner.learn(FLAG)
    assert (learner.flags, learner.switched) == (3, True)


def test_until_the_switch_it_is_the_fast_learner() -> None:
    """Guarded answers, to the bit, what the fast learner would have answered alone."""
    A = random_A(np.random.default_rng(1), 3)
    alone, rng = BayesPoint(3, epsilon=0.05), np.random.default_rng(2)
    learner = Guarded(alone)
    for _ in range(20):
        contexts = random_contexts(rng, 4, 3)
        verdicts = verdicts_at_the_guess(alone, contexts, A)
        assert learner.learn(verdicts) == alone.learn(verdicts)
        pairs, gaps = Pairs.of(contexts), np.full(6, 0.3)
        assert np.array_equal(learner.guess(pairs), alone.guess(pairs))
        assert np.array_equal(learner.distances(contexts), alone.distances(contexts))
        assert np.array_equal(learner.chance_unfair(pairs, gaps), alone.chance_unfair(pairs, gaps))
        assert np.array_equal(learner.ends_of(pairs.differences), alone.ends_of(pairs.differences))
        assert np.array_equal(learner.get_mahalanobis_matrix(), alone.get_mahalanobis_matrix())


# The guarantee.


@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.parametrize(("d", "k", "limit"), [(2, 3, 0), (2, 4, 5), (3, 4, 40)])
def test_flags_stop_after_the_switch_whatever_the_fast_learner_does(d: int, k: int, limit: int, rank: int) -> None:
    """A fast learner that never learns is flagged limit + 1 times; the sure one less often than it may, then never."""
    A = random_A(np.random.default_rng(d), d, rank=rank)
    sure = ProjectedVolume(d, epsilon=0.02, seed=d)
    learner = Guarded(NeverLearnsForTests(d), sure, limit=limit)
    # Of 36 runs at three sizes the last flag came 182 rounds after the switch; which run has it depends on rounding.
    flagged = _flagged_rounds(learner, A, n=limit + 350, k=k, seed=d)
    assert learner.switched
    assert sum(flagged) == learner.flags
    assert limit + 1 < sum(flagged) <= limit + 1 + most_flagged(sure)
    assert sum(flagged[-50:]) == 0
    assert learner.playing.bound == sure.bound  # type: ignore[attr-defined]  # it was not doubled


@pytest.mark.parametrize("distance", [0.0, 0.01, 0.4])
def test_one_feature_is_guarded_by_an_interval(distance: float) -> None:
    """d = 1: flags stop after some halvings, also when the distance is smaller than epsilon."""
    sure = ProjectedVolume(1, epsilon=0.02, seed=0)
    learner = Guarded(NeverLearnsForTests(1), sure, limit=3)
    flags = []
    for _ in range(200):
        learner.learn(verdicts_at_the_guess(learner, np.array([[0.5], [-0.5]]), np.array([[distance]])))
        flags.append(learner.flags)
    assert 4 < flags[-1] <= 4 + most_flagged(sure)
    assert flags[-1] == flags[100]


def test_the_default_limit_is_kept_twice() -> None:
    """By default as many flags are forgiven as the sure learner may have: at most 2 limit + 1 in all, at d = 2."""
    A = random_A(np.random.default_rng(5), 2)
    learner = Guarded(NeverLearnsForTests(2))
    flagged = _flagged_rounds(learner, A, n=learner.limit + 150, k=3, seed=5)
    assert flagged[: learner.limit + 1] == [True] * (learner.limit + 1)
    assert learner.switched
    assert sum(flagged) <= 2 * learner.limit + 1
    assert sum(flagged[-50:]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("d", "rank"), [(2, 0), (2, 1), (2, 2), (3, 1), (3, 3)])
def test_the_default_limit_is_kept_twice_for_any_metric(d: int, rank: int, seed: int) -> None:
    """The same for three features, for metrics of any rank and size; of what the sure learner may, it has a tenth."""
    norm = float(np.random.default_rng([seed, 1]).uniform(0.1, 1.0))
    A = random_A(np.random.default_rng(seed), d, rank=rank, norm=norm)
    learner = Guarded(NeverLearnsForTests(d))
    flagged = _flagged_rounds(learner, A, n=learner.limit + 1000, k=4, seed=seed)
    assert learner.switched
    assert sum(flagged) <= 1.1 * learner.limit + 1
    assert sum(flagged[-500:]) <= 2  # a pair may be shown late that was never quite known


@pytest.mark.parametrize("seed", range(4))
def test_a_good_fast_learner_stays(seed: int) -> None:
    """BayesPoint at d = 3, k = 4 has a twentieth of the flags ProjectedVolume may have, even under an adversary."""
    A = random_A(np.random.default_rng(seed), 3)
    learner = Guarded(BayesPoint(3, epsilon=0.01), ProjectedVolume(3, epsilon=0.01, seed=0))
    _flagged_rounds(learner, A, n=200, k=4, seed=seed)
    assert not learner.switched
    assert 0 < learner.flags <= learner.limit / 20


def test_the_bound_is_larger_than_that_of_exact_centroids() -> None:
    """It allows for flags within epsilon and for sampled centroids; it falls with epsilon and with fewer unknowns."""

    def bound(d: int, **settings: Any) -> int:
        return most_flagged(ProjectedVolume(d, seed=0, **settings))

    assert bound(3, epsilon=0.01) > theory.fairness_rounds(4, 3, 0.01, 1.0, shared=True)
    assert bound(3, epsilon=0.1) < bound(3, epsilon=0.01) < bound(3, epsilon=0.01, bound=4.0)
    assert bound(3, epsilon=0.1, structure="diagonal") < bound(3, epsilon=0.1)
    assert bound(2, epsilon=0.1, thinness=1e-12) > bound(2, epsilon=0.1)
    assert bound(1, epsilon=0.01) < 30


def test_a_written_metric_can_be_guarded() -> None:
    """Somebody's formula is played until reviews have refuted it; the one learned then does better."""
    A = np.array([[0.3, 0.0], [0.0, 0.6]])
    learner = Guarded(KnownMetric(np.eye(2)), limit=10)
    flagged = _flagged_rounds(learner, A, n=150, k=3, seed=6)
    assert sum(flagged[:11]) == 11
    assert sum(flagged) <= 11 + most_flagged(VersionSpace(2, epsilon=0.01, error_rate=0, seed=0))
    assert sum(flagged[-50:]) <= 1  # by less than epsilon
    assert np.max(np.abs(learner.get_mahalanobis_matrix() - A.T @ A)) < 0.01


def test_a_wrong_structure_can_be_guarded() -> None:
    """The fast learner may suppose that features count separately, and the sure one take over if they do not."""
    A = np.array([[0.5, 0.5]])
    fast = BayesPoint(2, structure="diagonal", epsilon=0.02)
    learner = Guarded(fast, ProjectedVolume(2, epsilon=0.02, seed=0), limit=15)
    _flagged_rounds(learner, A, n=200, k=3, seed=7)
    assert learner.switched
    assert np.max(np.abs(learner.get_mahalanobis_matrix() - A.T @ A)) < 0.02


# What the sure learner learns from.


def test_the_sure_learner_learns_from_flagged_reviews() -> None:
    """Review by review, exactly: the pairs flagged or tight, their gaps, verdicts and reviewers; then the last."""
    learner = Guarded(NeverLearnsForTests(2), ListensForTests(2), limit=2)
    reviews = [_verdicts([0.5, 0.1 * n, 0.7], [False, True, False], f"reviewer {n}") for n in (1, 2, 3)]
    for review in (reviews[0], FINE, reviews[1], FINE):
        learner.learn(review)
    assert learner.learn(reviews[2]).conflicts == ((0, 1), (0, 2), (1, 2))  # of the last review only
    assert isinstance(learner.playing, ListensForTests)
    relevant = [review.take(review.tight | review.unfair) for review in reviews[:2]]
    for found, expected in zip(learner.playing.reviews, [*relevant, reviews[2]], strict=True):
        assert np.array_equal(found.pairs.indices, expected.pairs.indices)
        assert np.array_equal(found.pairs.differences, expected.pairs.differences)
        for name in ("gaps", "unfair", "tight"):
            assert np.array_equal(getattr(found, name), getattr(expected, name))
        assert found.reviewer == expected.reviewer


def test_the_newest_flagged_reviews_are_remembered() -> None:
    """Memory is bounded: the oldest reviews go first, and of a review too long by itself the flagged pairs stay."""
    learner, most = Guarded(NeverLearnsForTests(2), ListensForTests(2), limit=500), DEFAULT.remembered_per_unknown * 3
    for n in range(100):
        learner.learn(_verdicts([n / 100, 0.6, 0.7], [False, True, False]))
    memory = learner._memory
    assert sum(len(review) for review in memory) == most
    assert memory[-1].gaps[0] == 0.99
    pairs = Pairs.of(random_contexts(np.random.default_rng(8), 40, 2))
    unfair = np.arange(len(pairs)) >= len(pairs) - 10
    learner.learn(Verdicts(pairs, np.full(len(pairs), 0.5), unfair, np.ones(len(pairs), dtype=np.bool_)))
    assert [len(review) for review in learner._memory] == [most]
    assert int(np.sum(learner._memory[0].unfair)) == 10


@pytest.mark.parametrize("most", [0, 1, 2])
def test_an_error_at_the_switch_leaves_all_as_it_was(most: int) -> None:
    """If the sure learner fails at what is remembered, or at the last review, nothing was learned or counted."""
    learner = Guarded(NeverLearnsForTests(2), ListensForTests(2, most), limit=2)
    learner.learn(FLAG)
    learner.learn(FLAG)
    before = learner.state()
    for _ in range(2):
        with pytest.raises(SolverFailed):
            learner.learn(FLAG)
        assert _same(learner.state(), before)
        assert not learner.switched
    learner.learn(FINE)  # and life goes on


# One bit.


def test_one_bit_counts_as_a_flag_and_makes_the_switch() -> None:
    """The bit that takes the count past the limit makes the switch; a sure learner that refuses bits gets none."""
    learner = Guarded(BayesPoint(2), Ellipsoid(2), limit=1)
    assert learner.learn_bit(FINE, any_unfair=True).used == 3
    assert (learner.flags, learner.switched) == (1, False)
    assert learner.learn_bit(FINE, any_unfair=True).used == 0
    assert (learner.flags, learner.switched) == (2, True)


def test_one_bit_is_unsupported_once_the_sure_learner_plays() -> None:
    """After the switch a bit raises as it does with the sure learner alone, is not counted, and one pair is learned."""
    learner = Guarded(BayesPoint(2), Ellipsoid(2), limit=0)
    learner.learn(FLAG)
    before = learner.state()
    with pytest.raises(UnsupportedReview, match="Ellipsoid"):
        learner.learn_bit(FINE, any_unfair=True)
    assert _same(learner.state(), before)
    assert learner.learn_bit(FINE.take(np.array([0])), any_unfair=True).used == 1
    assert learner.flags == 2


def test_one_bit_that_the_fast_learner_refuses_is_not_counted() -> None:
    """A fast learner that cannot learn from one bit says so, and nothing changes."""
    learner = Guarded(Ellipsoid(2), Ellipsoid(2), limit=5)
    with pytest.raises(UnsupportedReview):
        learner.learn_bit(FINE, any_unfair=True)
    assert learner.flags == 0


# Saving.


@pytest.mark.parametrize("before", [0, 3, 6, 9])
def test_a_restored_learner_switches_as_if_never_stopped(before: int) -> None:
    """Saved before or after the switch, at any count: the same flags, the same switch, the same state to the bit."""
    A, rng = random_A(np.random.default_rng(9), 2), np.random.default_rng(10)
    learner = Guarded(NeverLearnsForTests(2), ProjectedVolume(2, epsilon=0.02, seed=1), limit=5)
    for _ in range(before):
        learner.learn(verdicts_at_the_guess(learner, random_contexts(rng, 4, 2), A))
    twin = MetricLearner.restored(learner.saved())
    assert isinstance(twin, Guarded)
    assert (twin.flags, twin.switched, twin.limit) == (learner.flags, learner.switched, 5)
    for _ in range(10):
        verdicts = verdicts_at_the_guess(learner, random_contexts(rng, 4, 2), A)
        assert learner.learn(verdicts) == twin.learn(verdicts)
        assert _same(learner.state(), twin.state())
    assert twin.switched


@pytest.mark.parametrize("rounds", [4, 30])
def test_a_bandit_with_it_goes_through_a_file(rounds: int, tmp_path: Path) -> None:
    """A guarded bandit, before the switch and after, decides and learns on from its file to the bit."""
    auditor = eh.auditors.MahalanobisAuditor(random_A(np.random.default_rng(11), 2))
    bandit = eh.FairBandit(2, metric=Guarded(NeverLearnsForTests(2), limit=5), seed=0)
    rng = np.random.default_rng(12)
    for _ in range(rounds):
        decision = bandit.decide(random_contexts(rng, 4, 2))
        bandit.learn(decision, review=auditor.review(decision))
    assert isinstance(bandit.metric, Guarded)
    assert bandit.metric.switched == (rounds == 30)
    bandit.save(tmp_path / "bandit")
    twin = eh.FairBandit.load(tmp_path / "bandit")
    for _ in range(10):
        contexts = random_contexts(rng, 4, 2)
        one, other = bandit.decide(contexts), twin.decide(contexts)
        assert np.array_equal(one.probabilities, other.probabilities)
        bandit.learn(one, review=auditor.review(one))
        twin.learn(other, review=auditor.review(other))
    assert _same(bandit.metric.state(), twin.metric.state())


# Settings.


def test_the_sure_learner_takes_after_the_fast_one() -> None:
    """By default it is VersionSpace with the same structure, bound and epsilon, or 0.01 where there is none.

    With many unknowns it is ProjectedVolume.
    """
    fast = BayesPoint(3, structure="diagonal", bound=4.0, epsilon=0.05)
    reserve = Guarded(fast)._reserve
    assert isinstance(reserve, VersionSpace)
    assert reserve.error_rate == 0.0
    assert (reserve.n_features, reserve.space.structure, reserve.bound, reserve.epsilon) == (3, "diagonal", 4.0, 0.05)
    for without in (BayesPoint(3), PerPair(Ellipsoid(3))):
        reserve = Guarded(without)._reserve
        assert isinstance(reserve, VersionSpace)
        assert (reserve.bound, reserve.epsilon) == (1.0, 0.01)
    assert isinstance(Guarded(BayesPoint(121, structure="diagonal"))._reserve, ProjectedVolume)


def test_flags_left_counts_both_learners() -> None:
    """It falls with every flag, before and after the switch, and is never exceeded."""
    A = random_A(np.random.default_rng(7), 2)
    learner = Guarded(NeverLearnsForTests(2))
    most = learner.flags_left
    assert most == 2 * learner.limit + 1
    rng, so_far = np.random.default_rng(7), 0
    for _ in range(60):
        verdicts = verdicts_at_the_guess(learner, hardest_contexts(learner, rng, A, k=3, tries=8), A)
        learner.learn(verdicts)
        so_far += bool(verdicts.unfair.any())
        assert learner.flags_left is not None
        most = min(most, so_far + learner.flags_left)
        assert learner.promise == flags_in_words(learner.flags_left)
    assert learner.switched
    assert so_far <= most
    assert Guarded(BayesPoint(2), Ellipsoid(2), limit=3).flags_left is None


def test_learners_made_alike_are_alike() -> None:
    """Nothing is random unless a seed asks for it: two of them have the same state."""
    assert _same(Guarded(BayesPoint(2)).state(), Guarded(BayesPoint(2)).state())


def test_both_learners_are_the_users_own() -> None:
    """Later updates of the user's learners do not reach the copies, nor updates of the copies the user's."""
    fast, sure = BayesPoint(2), Ellipsoid(2)
    learner = Guarded(fast, sure, limit=0)
    before = learner.state()
    fast.learn(FLAG)
    sure.learn(FLAG)
    assert _same(learner.state(), before)
    untouched = sure.state()
    learner.learn(FLAG)
    assert _same(sure.state(), untouched)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Guarded("BayesPoint"), "fast must be a metric learner other than Guarded, got 'BayesPoint'"),  # type: ignore[arg-type]
        (lambda: Guarded(Guarded(BayesPoint(2))), "fast must be a metric learner other than Guarded"),
        (lambda: Guarded(BayesPoint(2), 3), "sure must be a metric learner.*got 3"),  # type: ignore[arg-type]
        (
            lambda: Guarded(BayesPoint(2), ProjectedVolume(3, epsilon=0.1)),
            "the 2 features of fast, got 3",
        ),
        (lambda: Guarded(BayesPoint(2), limit=-1), "limit must be a whole number >= 0.*got -1"),
        (lambda: Guarded(BayesPoint(2), limit=2.5), "limit must be .*got 2.5"),  # type: ignore[arg-type]
        (lambda: Guarded(BayesPoint(2), limit=True), "limit must be .*got True"),
        (
            lambda: Guarded(BayesPoint(2), Ellipsoid(2, epsilon=0.1)),
            "must be a VersionSpace with error_rate=0, or a ProjectedVolume.*limit must be set",
        ),
        (lambda: Guarded(BayesPoint(2), ProjectedVolume(2)), "fixed epsilon.*limit must be set"),
        (lambda: Guarded(BayesPoint(2), ProjectedVolume(2, epsilon=0.1, play_known_low=False)), "play_known_low"),
        (
            lambda: Guarded(BayesPoint(2), ProjectedVolume(2, epsilon=0.1, thinness=0.1)),
            "thinness .* must be .*got 0.1",
        ),
    ],
)
def test_invalid_arguments_are_refused(make: Callable[[], Guarded], sentence: str) -> None:
    """An error quotes the value and states the condition."""
    with pytest.raises(InvalidInput, match=sentence):
        make()
