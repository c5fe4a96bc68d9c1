"""Ratings and comparisons as metric learners get them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.metrics import BayesPoint, Comparisons, MetricLearner, Pairs, Ratings, Verdicts
from tests.support.simulation import same

CONTEXTS = np.array([[0.6, 0.0], [0.0, 0.6], [-0.6, 0.0]])
LEARNERS: list[type[MetricLearner]] = [
    eh.metrics.BayesPoint,
    eh.metrics.ProjectedVolume,
    eh.metrics.Ellipsoid,
    eh.metrics.VersionSpace,
]


def decision_with(probabilities: list[float]) -> eh.Decision:
    """A decision about CONTEXTS."""
    p = np.array(probabilities)
    return eh.Decision("", 0, CONTEXTS, p, (0,), 1, np.zeros(3), tight_pairs=((0, 2),))


def ratings_of(decision: eh.Decision, review: eh.Review) -> Ratings:
    """The ratings in a review."""
    return Ratings.of(decision, review, Verdicts.of(decision, review))


def comparisons_of(decision: eh.Decision, review: eh.Review) -> Comparisons:
    """The comparisons in a review."""
    return Comparisons.of(decision, review, Verdicts.of(decision, review))


def rows(verdicts: Verdicts) -> list[tuple[Any, ...]]:
    """Each verdict as a tuple: pair, gap and whether it is unfair."""
    gaps = np.round(verdicts.gaps, 9).tolist()
    return list(zip(verdicts.pairs.names(), gaps, verdicts.unfair.tolist(), strict=True))


def test_ratings_are_shares_of_the_scale() -> None:
    """Scores lie in [0, 1], and pairs keep the indices they have in the decision."""
    ratings = ratings_of(
        decision_with([0.5, 0.3, 0.2]), eh.Review.ratings({2: 7, 0: 10}, scale=(0, 10), reviewer="Kim")
    )
    assert ratings.scores.tolist() == [1.0, 0.7]
    assert ratings.contexts.tolist() == CONTEXTS[[0, 2]].tolist()
    assert ratings.pairs.names() == [(0, 2)]
    assert ratings.reviewer == "Kim"
    assert ratings.acceptable_gaps == pytest.approx([0.35])


def test_rated_pairs_are_learned_at_their_gap_and_just_above_what_is_acceptable() -> None:
    """Each pair gives the verdict at its own gap, and that it would be unfair just above its acceptable gap."""
    ratings = ratings_of(decision_with([0.5, 0.3, 0.2]), eh.Review.ratings({0: 5, 1: 5, 2: 4}))
    at_gaps = [((0, 1), 0.2, True), ((0, 2), 0.3, False), ((1, 2), 0.1, False)]
    above = [((0, 1), 0.06, True), ((0, 2), 0.31, True), ((1, 2), 0.31, True)]
    assert rows(ratings.verdicts()) == at_gaps + above


def test_no_gap_above_one_is_learned() -> None:
    """Two at the ends of the scale may be treated as differently as anybody: nothing would be unfair."""
    ratings = ratings_of(decision_with([1.0, 0.0, 0.0]), eh.Review.ratings({0: 5, 1: 1}))
    assert rows(ratings.verdicts()) == [((0, 1), 1.0, False)]


def test_ratings_without_a_decision_are_learned_too() -> None:
    """Made by hand, ratings have no verdicts at a decision's gaps, and still say what would be unfair."""
    ratings = Ratings(CONTEXTS, np.array([0.0, 0.0, 0.5]), reviewer="Kim")
    verdicts = ratings.verdicts()
    assert verdicts.gaps == pytest.approx([0.06, 0.56, 0.56])
    assert verdicts.unfair.all()
    assert verdicts.reviewer == "Kim"


def test_compared_pairs_are_learned_at_their_gap_and_at_the_tolerance() -> None:
    """Alike: unfair just above the tolerance. Not alike: that far apart is fine. Reversed: nothing about the gap."""
    review = eh.Review.comparisons({(0, 1): "alike", (0, 2): "first", (1, 2): "second"})
    comparisons = comparisons_of(decision_with([0.5, 0.3, 0.2]), review)
    assert comparisons.answers.tolist() == [0, 1, -1]
    at_gaps = [((0, 1), 0.2, True), ((0, 2), 0.3, False)]
    at_tolerance = [((0, 1), 0.06, True), ((0, 2), 0.05, False), ((1, 2), 0.05, False)]
    assert rows(comparisons.verdicts()) == at_gaps + at_tolerance


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_learns_what_is_implied(learner: type[Any]) -> None:
    """By default ratings and comparisons leave a learner as their verdicts do, to the bit."""
    decision = decision_with([0.5, 0.3, 0.2])
    rated = ratings_of(decision, eh.Review.ratings({0: 5, 1: 5, 2: 2}))
    compared = comparisons_of(decision, eh.Review.comparisons({(0, 1): "alike", (0, 2): "first"}))
    seed = {"seed": 0} if learner in (eh.metrics.ProjectedVolume, eh.metrics.VersionSpace) else {}
    one, other = (learner(2, epsilon=0.05, **seed) for _ in range(2))
    assert one.learn_ratings(rated) == other.learn(rated.verdicts())
    assert one.learn_comparisons(compared) == other.learn(compared.verdicts())
    assert same(one.state(), other.state())


def test_ratings_teach_what_the_verdict_at_a_narrow_gap_does_not() -> None:
    """Of two who are rated the same and were treated nearly alike, it is learned that a wider gap would be unfair."""
    decision = decision_with([0.34, 0.33, 0.33])
    review = eh.Review.ratings({0: 3, 1: 3, 2: 3})
    pairs, gaps = Pairs.of(CONTEXTS), np.full(3, 0.2)
    verdicts, ratings = BayesPoint(2), BayesPoint(2)
    verdicts.learn(Verdicts.of(decision, review))
    ratings.learn_ratings(ratings_of(decision, review))
    assert np.all(ratings.chance_unfair(pairs, gaps) > 3 * verdicts.chance_unfair(pairs, gaps))


@given(st.lists(st.sampled_from([1, 2, 3, 4, 5]), min_size=3, max_size=3), st.integers(0, 100), st.integers(0, 100))
def test_what_is_learned_agrees_with_what_is_implied(scores: list[int], first: int, second: int) -> None:
    """No two verdicts on a pair contradict each other: none is fair at a gap where a narrower one is unfair."""
    a, b = sorted((first / 100, second / 100))
    ratings = ratings_of(decision_with([a, b - a, 1 - b]), eh.Review.ratings(dict(enumerate(scores))))
    found = rows(ratings.verdicts())
    for pair in {pair for pair, _, _ in found}:
        fair = [gap for one, gap, unfair in found if one == pair and not unfair]
        unfair = [gap for one, gap, unfair in found if one == pair and unfair]
        assert max(fair, default=0.0) < min(unfair, default=2.0)
