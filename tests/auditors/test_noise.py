"""Reviewers who err: as often as they should, never on equal probabilities, and on the same pairs for the same seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.auditors import (
    MahalanobisAuditor,
    NoisyAuditor,
    OneBitAuditor,
    PartialAuditor,
    PureNoiseAuditor,
)
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Review
from tests.support.made_auditors import any_decision, made, pairs_of, some

EXACT = MahalanobisAuditor(0.4 * np.eye(3))
FLAT = MahalanobisAuditor(0.4 * np.eye(2))


@pytest.mark.statistical
@pytest.mark.parametrize("rate", [0.02, 0.1, 0.35])
def test_verdicts_are_turned_as_often_as_the_rate_says(rate: float) -> None:
    """Of 2800 flags and of 12,200 passes alike, within five standard deviations; and independently of each other."""
    noisy, turned = NoisyAuditor(EXACT, rate, seed=7), {True: [0, 0], False: [0, 0]}
    both = 0
    for decision in some(1500):
        before, after = set(EXACT.review(decision).unfair), set(noisy.review(decision).unfair)
        for pair in pairs_of(decision):
            turned[pair in before][0] += 1
            turned[pair in before][1] += (pair in before) != (pair in after)
        both += len({(0, 1), (2, 3)} & (before ^ after)) == 2
    for judged, wrong in turned.values():
        assert judged > 2500
        assert abs(wrong - rate * judged) < 5 * np.sqrt(judged * rate * (1 - rate))
    assert abs(both - 1500 * rate**2) < 5 * np.sqrt(1500 * rate**2) + 1


@given(decision=any_decision(), rate=st.floats(0, 1), seed=st.integers(0, 100))
def test_equal_probabilities_are_never_flagged(decision: Decision, rate: float, seed: int) -> None:
    """By no kind of noise, in no kind of review."""
    complete = NoisyAuditor(FLAT, rate, seed=seed).review(decision)
    partial = NoisyAuditor(PartialAuditor(FLAT, 3, seed=seed), rate, seed=seed).review(decision)
    pure = PureNoiseAuditor(rate, seed=seed).review(decision)
    for review in (complete, partial, pure):
        assert all(decision.gap(*pair) > PROBABILITY_TOLERANCE for pair in review.unfair)
    bit = NoisyAuditor(OneBitAuditor(FLAT), rate, seed=seed).review(decision)
    assert not bit.any_unfair or np.ptp(decision.probabilities) > PROBABILITY_TOLERANCE


@given(decision=any_decision(), seed=st.integers(0, 100))
def test_always_wrong_is_the_opposite_and_never_wrong_is_the_same(decision: Decision, seed: int) -> None:
    """On pairs with unequal probabilities, complete and partial."""
    complete = FLAT.review(decision)
    assert NoisyAuditor(FLAT, 0.0, seed=seed).review(decision) == complete
    wrong = set(NoisyAuditor(FLAT, 1.0, seed=seed).review(decision).unfair)
    unequal = {pair for pair in pairs_of(decision) if decision.gap(*pair) > PROBABILITY_TOLERANCE}
    assert wrong == unequal - set(complete.unfair)
    few = PartialAuditor(FLAT, 2, seed=seed).review(decision)
    turned = NoisyAuditor(PartialAuditor(FLAT, 2, seed=seed), 1.0).review(decision)
    assert set(turned.unfair) == set(few.fair) & unequal
    assert set(turned.unfair) | set(turned.fair) == set(few.unfair) | set(few.fair)


@pytest.mark.statistical
def test_one_bit_is_turned_as_often_as_the_rate_says() -> None:
    """Both bits alike, 2000 times each, within five standard deviations; with equal probabilities never."""
    noisy = NoisyAuditor(OneBitAuditor(FLAT), 0.2, seed=1)
    margin = 5 * np.sqrt(2000 * 0.2 * 0.8)
    for probabilities, truth in (([0.9, 0.1], True), ([0.3, 0.2], False)):
        decision = made(probabilities)
        wrong = sum(noisy.review(decision).any_unfair is not truth for _ in range(2000))
        assert abs(wrong - 400) < margin
    assert not any(noisy.review(made([0.5, 0.5])).any_unfair for _ in range(200))


def test_errors_do_not_depend_on_who_plays() -> None:
    """With one seed the same pairs of a round are turned, whatever the probabilities were in all rounds before."""
    one, two = NoisyAuditor(EXACT, 0.3, seed=5), NoisyAuditor(EXACT, 0.3, seed=5)
    last = list(some(6))[-1]
    for first, second in zip(some(5, seed=1), some(5, seed=2), strict=True):
        one.review(first)
        two.review(second)
    assert one.review(last) == two.review(last)


@pytest.mark.statistical
def test_pure_noise_flags_at_its_rate_whoever_they_are() -> None:
    """Of 10,000 pairs three in ten, within five standard deviations, and any one pair as often as all."""
    noise, first, flagged = PureNoiseAuditor(0.3, seed=2), 0, 0
    for decision in some(1000):
        review = noise.review(decision)
        assert review.kind == "complete"
        flagged += len(review.unfair)
        first += (0, 1) in review.unfair
    assert abs(flagged - 3000) < 5 * np.sqrt(10_000 * 0.21)
    assert abs(first - 300) < 5 * np.sqrt(1000 * 0.21)


def test_seeds_make_reviewers() -> None:
    """One seed, one sequence of reviews; another, another; a Generator is drawn from in place."""

    def reviews(seed: int | np.random.Generator) -> list[Review]:
        noisy = PartialAuditor(NoisyAuditor(EXACT, 0.3, seed=seed), 4, seed=seed)
        return [noisy.review(decision) for decision in some(20)]

    assert reviews(1) == reviews(1)
    assert reviews(1) != reviews(2)
    assert reviews(np.random.default_rng(3)) == reviews(np.random.default_rng(3))
