"""Reviews that rate candidates or compare pairs: what they accept, and the verdicts they imply."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand import errors

probabilities = st.lists(st.integers(0, 20).map(lambda n: n / 20), min_size=4, max_size=4)
scores = st.dictionaries(st.integers(0, 3), st.integers(1, 5), min_size=1)
compared = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda pair: pair[0] < pair[1]),
    st.sampled_from(["alike", "first", "second"]),
    min_size=1,
)
OTHER = {"alike": "alike", "first": "second", "second": "first"}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"scores": {0: 7, 1: 2}}, errors.InvalidInput, "^scores must be within the scale 1 to 5, got 7$"),
        ({"scores": {0: 3, 1: "4"}}, errors.InvalidInput, "^scores must be within the scale 1 to 5, got '4'$"),
        ({"scores": {0: float("nan")}}, errors.InvalidInput, "^scores must be within the scale 1 to 5, got nan$"),
        ({"scores": {}}, errors.InvalidInput, "^scores must be of at least one candidate, got none$"),
        ({"scores": {"a": 3}}, errors.InvalidInput, "^a rated candidate must be a whole number >= 0, got 'a'$"),
        ({"scores": {-1: 3}}, errors.InvalidInput, "^a rated candidate must be a whole number >= 0, got -1$"),
        (
            {"scores": "34"},
            errors.InvalidInput,
            "^scores must be a dict from candidates' indices to ratings, got '34'$",
        ),
        ({"scores": {0: 3}, "scale": (5, 1)}, errors.InvalidInput, "^scale must be two numbers, the lower first"),
        ({"scores": {0: 3}, "scale": 5}, errors.InvalidInput, "^scale must be two numbers, the lower first"),
        ({"scores": {0: 3}, "tolerance": 1}, errors.InvalidInput, "^tolerance must be a number >= 0 and < 1, got 1$"),
        ({"scores": {0: 3}, "reviewer": 3}, errors.InvalidInput, "^reviewer must be a name or None, got 3$"),
    ],
)
def test_ratings_that_are_refused(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    """Every refusal says what was expected, and what it got."""
    with pytest.raises(error, match=message):
        eh.Review.ratings(**arguments)


@pytest.mark.parametrize(
    ("answers", "error", "message"),
    [
        ({(0, 1): "same"}, errors.InvalidInput, r"pair \(0, 1\) must be 'alike', 'first' or 'second', got 'same'$"),
        ({(0, 0): "alike"}, errors.UnknownPair, "^a pair must be of two different candidates >= 0"),
        ({(0, "b"): "alike"}, errors.InvalidInput, "^a pair must be two whole numbers"),
        ({0: "alike"}, errors.InvalidInput, "^comparisons must be a dict from pairs of candidates to 'alike'"),
        ("alike", errors.InvalidInput, "^comparisons must be a dict from pairs of candidates to 'alike'"),
        ({}, errors.InvalidInput, "^comparisons must be of at least one pair, got none$"),
        ({(0, 1): "first", (1, 0): "first"}, errors.ContradictoryReview, r"^pair \(0, 1\) must have one comparison"),
    ],
)
def test_comparisons_that_are_refused(answers: Any, error: type[Exception], message: str) -> None:
    """Every refusal says what was expected, and what it got."""
    with pytest.raises(error, match=message):
        eh.Review.comparisons(answers)


def test_fields_of_another_kind_are_refused() -> None:
    """A review made by hand has the fields of its kind only."""
    with pytest.raises(errors.InvalidInput, match=r"must be made with Review\.complete"):
        eh.Review("complete", scores=((0, 3.0),))
    with pytest.raises(errors.InvalidInput, match=r"must be made with Review\.ratings"):
        eh.Review("ratings", scores=((0, 3.0),), unfair=((0, 1),))
    with pytest.raises(errors.InvalidInput, match=r"must be made with Review\.comparisons"):
        eh.Review("comparisons", compared=((0, 1, "alike"),), scale=(1.0, 5.0))


@given(scores, probabilities)
def test_ratings_imply_what_a_reviewer_with_these_distances_would_say(rated: dict[int, int], p: list[float]) -> None:
    """Unfair are exactly the pairs of rated candidates whose gap exceeds the share of the scale plus the tolerance."""
    implied = eh.Review.ratings(rated, tolerance=0.1, reviewer="Kim").as_verdicts(p)
    assert (implied.kind, implied.reviewer) == ("partial", "Kim")
    for i in range(4):
        for j in range(i + 1, 4):
            is_rated = i in rated and j in rated
            too_wide = is_rated and abs(p[i] - p[j]) > abs(rated[i] - rated[j]) / 4 + 0.1 + 1e-9
            assert ((i, j) in implied.unfair) == too_wide
            assert ((i, j) in implied.fair) == (is_rated and not too_wide)


@given(scores, probabilities)
def test_the_scale_has_no_unit(rated: dict[int, int], p: list[float]) -> None:
    """The same ratings on a scale that is ten times as long, or turned round, imply the same verdicts."""
    expected = eh.Review.ratings(rated, tolerance=0.11).as_verdicts(p)
    longer = eh.Review.ratings({i: 10 * score for i, score in rated.items()}, scale=(10, 50), tolerance=0.11)
    turned = eh.Review.ratings({i: 6 - score for i, score in rated.items()}, tolerance=0.11)
    assert longer.as_verdicts(p) == turned.as_verdicts(p) == expected


@given(compared, probabilities)
def test_comparisons_imply_verdicts(answers: dict[tuple[int, int], Any], p: list[float]) -> None:
    """Alike: a gap above the tolerance is unfair. First: fair, unless the other one got more; then it is reversed."""
    review = eh.Review.comparisons(answers, tolerance=0.1)
    implied, reversed_pairs = review.as_verdicts(p), review.reversed_pairs(p)
    for (i, j), said in answers.items():
        lead = p[i] - p[j] if said != "second" else p[j] - p[i]
        assert ((i, j) in implied.unfair) == (said == "alike" and abs(lead) > 0.1 + 1e-9)
        assert ((i, j) in reversed_pairs or (j, i) in reversed_pairs) == (said != "alike" and lead < 0)
    named = {*implied.unfair, *implied.fair, *(tuple(sorted(pair)) for pair in reversed_pairs)}
    assert named == set(answers)
    assert all(p[ahead] < p[behind] for ahead, behind in reversed_pairs)


@given(compared)
def test_either_order_of_a_pair(answers: dict[tuple[int, int], Any]) -> None:
    """(3, 0) "first" is (0, 3) "second"."""
    turned = {(j, i): OTHER[said] for (i, j), said in answers.items()}
    assert eh.Review.comparisons(answers) == eh.Review.comparisons(turned)  # type: ignore[arg-type]


@given(scores, compared)
def test_through_json(rated: dict[int, int], answers: dict[tuple[int, int], Any]) -> None:
    """What to_dict wrote is read back the same, raw answers and all."""
    for review in (
        eh.Review.ratings(rated, scale=(0, 6), reviewer="Kim"),
        eh.Review.comparisons(answers, tolerance=0.2),
    ):
        again = eh.Review.from_dict(json.loads(json.dumps(review.to_dict())))
        assert again == review
        assert "scores" in repr(review) or "compared" in repr(review)


def test_other_reviews_keep_their_record() -> None:
    """The record of a review without ratings is what it was before there were any."""
    assert list(eh.Review.complete().to_dict()) == ["kind", "unfair", "fair", "any_unfair", "reviewer"]
    assert eh.Review.complete().as_verdicts([0.5, 0.5]) == eh.Review.complete()


@pytest.mark.parametrize(
    ("review", "message"),
    [
        (eh.Review.ratings({0: 3, 2: 4}), "a rated candidate must be one of 0 to 1, got 2"),
        (eh.Review.comparisons({(0, 2): "alike"}), r"a pair must be of candidates 0 to 1, got \(0, 2\)"),
    ],
)
def test_a_stranger_is_refused_and_nothing_has_changed(review: eh.Review, message: str) -> None:
    """A candidate who was not in the decision is refused before anything is learned."""
    bandit = eh.FairBandit(2, seed=0, reviewer_error=1e-3)
    decision = bandit.decide(np.eye(2))
    before = bandit.metric.matrix().tolist(), bandit.reward.saved()
    with pytest.raises(errors.UnknownPair, match=message):
        bandit.learn(decision, rewards=dict.fromkeys(decision.chosen, 0.5), review=review)
    assert bandit.metric.matrix().tolist() == before[0]
    assert repr(bandit.reward.saved()) == repr(before[1])
