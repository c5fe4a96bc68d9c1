"""The contract of metric learners: what every one of them must do, whoever wrote it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evenhand._internal.factorisations import eigvalsh
from evenhand.errors import InvalidInput
from evenhand.metrics import Comparisons, MetricLearner, Pairs, Ratings, Verdicts
from evenhand.testing.metric_worlds import (
    played_rounds,
    random_A,
    random_contexts,
    true_squares,
    verdicts_at_the_guess,
)

every_structure = pytest.mark.parametrize("structure", ["full", "diagonal"])


class MetricLearnerContract:
    """Subclass it in a test module as `TestMyLearner` and define `make`; pytest then runs every test below.

    make(n_features, **settings) returns a new learner; settings are any of structure, bound and epsilon.
    """

    patience = 1
    """A factor for learners that need more rounds."""
    separates_pairs = False
    """Whether a verdict on one pair of indices teaches nothing about another pair."""
    expects_errors = False
    """Whether wrong verdicts are expected, as where error rates are learned: none is reported as a conflict."""

    def make(self, n_features: int, **settings: Any) -> MetricLearner:
        """A new learner."""
        raise NotImplementedError

    @every_structure
    def test_learns_the_distances(self, structure: str) -> None:
        """After enough verdicts at its own guesses a learner's estimates are right to a few hundredths."""
        rng = np.random.default_rng(1)
        A = _truth(rng, 3, structure)
        learner = self.make(3, structure=structure, epsilon=0.02)
        for _ in played_rounds(learner, A, n=150 * self.patience, k=4, seed=2, adversary=False):
            pass
        pairs = Pairs.of(random_contexts(rng, 4, 3))
        error = np.abs(np.sqrt(learner.estimate(pairs)) - np.sqrt(true_squares(pairs, A)))
        assert np.max(error) < 0.05

    def test_ends_hold_the_estimate(self) -> None:
        """The estimate lies between the ends, and no end is negative."""
        rng = np.random.default_rng(4)
        A = random_A(rng, 3)
        learner = self.make(3, epsilon=0.05)
        for contexts in played_rounds(learner, A, n=25, k=4, seed=5, adversary=False):
            estimate, lower, upper = learner.distances(contexts)
            assert np.all((lower >= 0) & (lower <= estimate + 1e-9) & (estimate <= upper + 1e-9))

    def test_a_wider_gap_is_no_less_likely_to_be_flagged(self) -> None:
        """The chance of a flag is a probability that never falls as the gap grows, known reviewer or not."""
        rng = np.random.default_rng(8)
        A = random_A(rng, 3)
        learner = self.make(3, epsilon=0.05)
        for _ in played_rounds(learner, A, n=10, k=4, seed=9, adversary=False):
            pass
        pairs = Pairs.of(random_contexts(rng, 4, 3))
        for reviewer in (None, "Ada"):
            chances = np.array([learner.chance_flagged(pairs, np.full(6, gap), reviewer) for gap in (0.1, 0.4, 0.9)])
            assert np.all((chances >= 0) & (chances <= 1))
            assert np.all(np.diff(chances, axis=0) >= -1e-12)

    def test_two_who_are_rated_the_same_come_no_farther_apart(self) -> None:
        """Equal ratings, and comparisons that call a pair alike, lengthen no estimate; nothing else is required."""
        learner, contexts = self.make(2, epsilon=0.05), np.array([[0.5, 0.0], [-0.5, 0.0]])
        pairs = Pairs.of(contexts)
        before = learner.estimate(pairs)
        learner.learn_ratings(Ratings(contexts, np.array([0.25, 0.25]), reviewer="Ada"))
        learner.learn_comparisons(Comparisons(pairs, np.array([0]), reviewer="Ada"))
        assert np.all(learner.estimate(pairs) <= before + 1e-9)

    def test_queries_change_nothing(self) -> None:
        """Guesses, estimates and ends leave the learner as it was, to the bit: the paper's roll-back."""
        rng = np.random.default_rng(6)
        A = random_A(rng, 3)
        learner = self.make(3, epsilon=0.05)
        for _ in played_rounds(learner, A, n=10, k=4, seed=7, adversary=False):
            pass
        untouched = MetricLearner.restored(learner.saved())
        contexts = random_contexts(rng, 5, 3)
        for _ in range(3):
            learner.distances(contexts)
            learner.playable_distances(contexts)
            learner.get_mahalanobis_matrix()
        assert _same(learner.state(), untouched.state())

    @every_structure
    def test_restored_learner_goes_on_as_if_never_stopped(self, structure: str) -> None:
        """State out, state in, then the same verdicts: bit-identical to a learner that was never stopped."""
        rng = np.random.default_rng(8)
        A = _truth(rng, 3, structure)
        learner = self.make(3, structure=structure, epsilon=0.05)
        for _ in played_rounds(learner, A, n=12, k=4, seed=9, adversary=False):
            pass
        twin = MetricLearner.restored(learner.saved())
        for _ in range(12):
            contexts = random_contexts(rng, 4, 3)
            verdicts = verdicts_at_the_guess(learner, contexts, A)
            assert learner.learn(verdicts) == twin.learn(verdicts)
            assert _same(learner.state(), twin.state())

    def test_a_metric_larger_than_the_bound_is_found(self) -> None:
        """A truth far outside the first bound is learned all the same: the bound doubles."""
        rng = np.random.default_rng(10)
        A = random_A(rng, 2, norm=6.0)
        learner = self.make(2, bound=1.0, epsilon=0.05)
        for _ in range(300 * self.patience):
            x = random_contexts(rng, 1, 2)[0]
            contexts = np.array([x, x + 0.3 * random_contexts(rng, 1, 2)[0]]) / 1.3  # gaps below 1
            learner.learn(verdicts_at_the_guess(learner, contexts, A))
        pairs = Pairs.of(np.array([[0.0, 0.0], [0.2, 0.0], [0.0, 0.2]]))
        error = np.abs(np.sqrt(learner.estimate(pairs)) - np.sqrt(true_squares(pairs, A)))
        assert np.max(error[:1] if self.separates_pairs else error) < 0.1  # only the pair (0, 1) was ever shown

    def test_an_inconsistent_reviewer_is_reported_and_harms_nothing(self) -> None:
        """A verdict that contradicts what is known is a conflict, unless errors are expected; estimates stay put."""
        rng = np.random.default_rng(11)
        learner = self.make(2, epsilon=0.05)
        x, y = np.array([0.5, 0.0]), np.array([-0.5, 0.0])
        A = np.array([[0.5, 0.0]])
        for _ in range(80):
            learner.learn(verdicts_at_the_guess(learner, np.array([x, y]), A))
            learner.learn(verdicts_at_the_guess(learner, np.array([x, y]), A, share=0.9))
        before = learner.distances([x, y]).estimate[0, 1]
        learned = learner.learn_pair(x, y, gap=0.95, unfair=False)
        assert learned.conflicts == (() if self.expects_errors else ((0, 1),))
        assert abs(learner.distances([x, y]).estimate[0, 1] - before) < 0.02
        learner.learn(verdicts_at_the_guess(learner, random_contexts(rng, 2, 2), A))

    @pytest.mark.parametrize(("d", "epsilon"), [(2, None), (4, 0.02)])
    def test_random_verdicts_are_survived(self, d: int, epsilon: float | None) -> None:
        """Whatever the verdicts, estimates stay finite and positive semidefinite."""
        rng = np.random.default_rng(d)
        learner = self.make(d, epsilon=epsilon)
        for _ in range(40):
            pairs = Pairs.of(random_contexts(rng, 4, d))
            gaps = np.minimum(np.sqrt(learner.guess(pairs)), 1.0)
            verdicts = Verdicts(pairs, gaps, rng.random(len(pairs)) < 0.3, np.ones(len(pairs), dtype=np.bool_))
            learner.learn(verdicts.take(gaps > 1e-9))
        lower, upper = learner.ends(pairs)
        assert np.all(np.isfinite(lower) & np.isfinite(upper))
        assert np.min(eigvalsh(learner.get_mahalanobis_matrix())) >= -1e-9

    def test_a_flag_on_equal_probabilities_does_not_count(self) -> None:
        """Verdicts on a gap of zero teach nothing, whichever way they go, and contradict nothing."""
        learner, fresh = self.make(2), self.make(2)
        x, y = [0.6, 0.0], [0.0, 0.3]
        for first, second, unfair in ((x, y, True), (x, y, False), (x, x, True), (x, x, False)):
            assert learner.learn_pair(first, second, gap=0.0, unfair=unfair).conflicts == ()
        assert np.array_equal(learner.distances([x, y]).estimate, fresh.distances([x, y]).estimate)
        assert np.array_equal(learner.distances([x, y]).upper, fresh.distances([x, y]).upper)

    @pytest.mark.parametrize("bound", [1e-6, 1e-3, 100.0])
    def test_the_first_bound_need_not_be_right(self, bound: float) -> None:
        """From a first bound that is far too small or far too large the distance is found all the same."""
        learner = self.make(1, bound=bound, epsilon=0.05)
        contexts, A = np.array([[0.5], [-0.5]]), np.array([[0.6]])
        for _ in range(400):
            learner.learn(verdicts_at_the_guess(learner, contexts, A))
        assert learner.distances(contexts).estimate[0, 1] == pytest.approx(0.6, abs=0.06)

    def test_invalid_input_is_refused(self) -> None:
        """Differences of the wrong shape, gaps beyond 1 and verdicts that are not boolean raise InvalidInput."""
        learner = self.make(2)
        for bad in (np.ones((2, 3)), np.ones(2), np.array([[np.nan, 0.0]])):
            with pytest.raises(InvalidInput, match="differences"):
                learner.ends_of(bad)
        for arguments in ({"gap": 1.5, "unfair": True}, {"gap": "a", "unfair": True}, {"gap": 0.5, "unfair": "no"}):
            with pytest.raises(InvalidInput, match="must be"):
                learner.learn_pair([0.5, 0.0], [0.0, 0.5], **arguments)

    def test_sharpening_accuracy(self) -> None:
        """epsilon=None starts coarse and ends fine: late estimates are better than any early epsilon asked for."""
        rng = np.random.default_rng(12)
        A = random_A(rng, 2)
        learner = self.make(2, epsilon=None)
        for _ in played_rounds(learner, A, n=250, k=3, seed=13, adversary=False):
            pass
        pairs = Pairs.of(random_contexts(rng, 3, 2))
        error = np.abs(np.sqrt(learner.estimate(pairs)) - np.sqrt(true_squares(pairs, A)))
        assert np.max(error) < 0.02

    def test_size_does_not_grow_with_time(self) -> None:
        """What a learner keeps is bounded: at its largest in rounds 301 to 600 it is about as large as in 1 to 300."""
        A = random_A(np.random.default_rng(14), 2)
        learner = self.make(2, epsilon=0.001)
        sizes = [_size(learner.state()) for _ in played_rounds(learner, A, n=600, k=4, seed=15, adversary=False)]
        assert max(sizes[300:]) <= 1.25 * max(sizes[:300])

    def test_metric_learn_names(self) -> None:
        """The learned matrix is positive semidefinite, and pair_distance and get_metric measure with it."""
        rng = np.random.default_rng(16)
        learner = self.make(3, epsilon=0.05)
        for _ in played_rounds(learner, random_A(rng, 3, rank=1), n=15, k=4, seed=17, adversary=False):
            pass
        G = learner.get_mahalanobis_matrix()
        assert np.min(eigvalsh(G)) >= -1e-12
        x, y = random_contexts(rng, 2, 3)
        expected = np.sqrt((x - y) @ G @ (x - y))
        assert learner.get_metric()(x, y) == pytest.approx(expected)
        assert learner.pair_distance([[x, y]]) == pytest.approx([expected])

    def test_bad_settings_are_refused(self) -> None:
        """Settings out of range raise an error that quotes them."""
        for bad in ({"epsilon": 0.0}, {"epsilon": 2.0}, {"bound": -1.0}, {"structure": "round"}):
            with pytest.raises(InvalidInput, match=str(next(iter(bad.values())))):
                self.make(3, **bad)
        with pytest.raises(InvalidInput, match="n_features"):
            self.make(0)

    def test_one_feature(self) -> None:
        """d = 1 is an interval, and learned as one."""
        learner = self.make(1, epsilon=0.02)
        A = np.array([[0.4]])
        for _ in range(60 * self.patience):
            learner.learn(verdicts_at_the_guess(learner, np.array([[0.5], [-0.5]]), A))
        assert learner.distances([[0.5], [-0.5]]).estimate[0, 1] == pytest.approx(0.4, abs=0.02)

    def test_no_verdicts_are_no_news(self) -> None:
        """An empty review is no conflict."""
        learner = self.make(2)
        nothing = Verdicts(
            Pairs(np.zeros((0, 2), dtype=np.int64), np.zeros((0, 2))), np.zeros(0), np.zeros(0, bool), np.zeros(0, bool)
        )
        assert learner.learn(nothing).conflicts == ()


class CertainMetricLearnerContract(MetricLearnerContract):
    """The same for a learner whose ends are certain to contain the truth."""

    @pytest.mark.parametrize("rank", [0, 1, 3])
    @pytest.mark.parametrize("adversary", [False, True], ids=["random", "adversary"])
    def test_ends_hold_the_truth_in_every_round(self, rank: int, adversary: bool) -> None:
        """The ends contain every true distance in every round, for any rank and any contexts."""
        rng = np.random.default_rng(rank)
        A = random_A(rng, 3, rank=rank, norm=0.9)
        learner = self.make(3, epsilon=0.02)
        for contexts in played_rounds(learner, A, n=40, k=4, seed=3, adversary=adversary):
            pairs = Pairs.of(contexts)
            lower, upper = learner.ends(pairs)
            truth = true_squares(pairs, A)
            assert np.all(lower <= truth + 1e-12)
            assert np.all(truth <= upper + 1e-12)


def _truth(rng: np.random.Generator, d: int, structure: str, **kind: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    A = random_A(rng, d, **kind)
    if structure == "full":
        return A
    diagonal = np.sqrt(np.sum(A**2, axis=0))
    return np.asarray(np.diag(diagonal) * np.sqrt(0.7 / max(float(np.linalg.norm(diagonal**2)), 1e-300)))


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else bool(a == b)


def _size(state: Any) -> int:
    """How many numbers a state holds."""
    return sum(_size(item) for item in state.values()) if isinstance(state, dict) else int(np.size(state))
