"""WithoutIntercept: a metric has no unknowns for the feature in which nobody differs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import evenhand as eh
from evenhand.errors import InvalidInput
from evenhand.metrics import (
    BayesPoint,
    Comparisons,
    MetricLearner,
    Pairs,
    Ratings,
    Score,
    VersionSpace,
    WithoutIntercept,
    default_learner,
)
from evenhand.testing.metric_worlds import random_A, random_contexts, verdicts_at_the_guess
from tests.support.simulation import same

Floats = NDArray[np.float64]

LEARNERS: dict[str, Callable[[int], MetricLearner]] = {
    "BayesPoint": BayesPoint,
    "rates learned": lambda d: BayesPoint(d, error_rate=None),
    "VersionSpace": lambda d: VersionSpace(d, epsilon=0.05, seed=1),
    "Score": Score,
    "the default": lambda d: default_learner(d, seed=1),
}


def _with_intercept(contexts: Floats) -> Floats:
    """The same people with a constant beside their features."""
    return np.hstack([contexts, np.full((len(contexts), 1), 0.5)])


@pytest.mark.parametrize("name", LEARNERS)
def test_it_is_the_learner_of_the_other_features(name: str) -> None:
    """To the bit, whatever is asked and learned: verdicts, ratings, comparisons, and after saving."""
    rng, plain = np.random.default_rng(0), LEARNERS[name](2)
    A: Floats = random_A(rng, 2)
    wrapped = WithoutIntercept(LEARNERS[name](2))
    for _ in range(4):
        contexts = random_contexts(rng, 4, 2) * 0.8
        for learner, table in ((plain, contexts), (wrapped, _with_intercept(contexts))):
            learner.learn(verdicts_at_the_guess(learner, table, np.pad(A, ((0, 0), (0, table.shape[1] - 2)))))
            learner.learn_ratings(Ratings(table, np.array([0.0, 0.25, 0.5, 0.5]), reviewer="Ada"))
            learner.learn_comparisons(Comparisons(Pairs.of(table), np.array([0, 1, -1, 0, 1, 1]), reviewer="Ben"))
        restored = MetricLearner.restored(wrapped.saved())
        assert isinstance(restored, WithoutIntercept)
        wrapped = restored
    asked = random_contexts(rng, 5, 2) * 0.8
    few, wide = Pairs.of(asked), Pairs.of(_with_intercept(asked))
    gaps = np.full(10, 0.3)
    assert np.array_equal(plain.guess(few), wrapped.guess(wide))
    assert np.array_equal(plain.ends(few), wrapped.ends(wide))
    assert np.array_equal(plain.moments(few), wrapped.moments(wide))
    assert np.array_equal(plain.chance_unfair(few, gaps), wrapped.chance_unfair(wide, gaps))
    assert np.array_equal(plain.chance_flagged(few, gaps, "Ada"), wrapped.chance_flagged(wide, gaps, "Ada"))
    assert np.array_equal(plain.playable_distances(asked), wrapped.playable_distances(_with_intercept(asked)))
    assert np.array_equal(plain.matrix(), wrapped.matrix()[:2, :2])
    assert not wrapped.matrix()[2].any()
    assert (plain.flags_left, plain.promise) == (wrapped.flags_left, wrapped.promise)
    assert (plain.error_rate, plain.plays_metric) == (wrapped.error_rate, wrapped.plays_metric)
    assert getattr(plain, "epsilon", None) == wrapped.epsilon
    assert plain.reviewers() == wrapped.reviewers()
    assert plain.error_rate_of("Ada") == wrapped.error_rate_of("Ada")
    assert same(plain.saved(), wrapped.saved()["state"]["learner"])


def test_a_promise_does_not_count_the_intercept() -> None:
    """At five features and an intercept 15 unknowns count and not 21: 72% of the flags."""
    with_it = VersionSpace(6, epsilon=0.01, seed=0).flags_left
    without = WithoutIntercept(VersionSpace(5, epsilon=0.01, seed=0)).flags_left
    assert with_it is not None
    assert without is not None
    assert without <= 0.75 * with_it


def test_one_bit_reviews_and_bandits() -> None:
    """A bandit decides, learns from bits and certifies with it; certificates count all features."""
    bandit = eh.FairBandit(3, metric=WithoutIntercept(BayesPoint(2)), seed=0)
    decision = bandit.decide(_with_intercept(np.array([[0.8, 0.0], [0.0, 0.8], [0.1, 0.1]])))
    assert bandit.learn(decision, review=eh.Review.one_bit(any_unfair=True)).used == 2
    assert bandit.certify(decision).to_dict()["structure"] == "full"
    assert repr(bandit.metric).startswith("WithoutIntercept(BayesPoint(2")


def test_only_learners_are_taken() -> None:
    """Anything else is refused."""
    with pytest.raises(InvalidInput, match="learner must be a metric learner, got 3"):
        WithoutIntercept(3)  # type: ignore[arg-type]


def test_the_learner_sees_the_same_pairs_as_the_same_object() -> None:
    """Learners remember what they know of the last pairs; several queries on one object compute the moments once."""
    pairs = Pairs.of(np.array([[0.5, 0.1, 0.7], [0.2, 0.3, 0.7], [0.0, 0.6, 0.7]]))
    seen: list[Pairs] = []

    class Watched(BayesPoint):
        def moments(self, pairs: Pairs) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            seen.append(pairs)
            return super().moments(pairs)

    learner = WithoutIntercept(Watched(2))
    learner.moments(pairs)
    learner.guess(pairs)
    learner.chance_unfair(pairs, np.full(3, 0.2))
    assert len(seen) == 3
    assert seen[0] is seen[1] is seen[2]
    learner.moments(Pairs.of(np.array([[0.5, 0.1, 0.7], [0.2, 0.4, 0.7]])))
    assert len(seen[-1]) == 1
