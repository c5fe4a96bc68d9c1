"""Reviewers who say less than everything: a few pairs, one pair, one bit; and those who sign what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.auditors import (
    MahalanobisAuditor,
    NamedAuditor,
    NoisyAuditor,
    OneBitAuditor,
    OneReportAuditor,
    PartialAuditor,
    PureNoiseAuditor,
)
from evenhand.errors import InvalidInput, UnknownPair
from evenhand.records.decision import Decision, Pair, Review
from tests.support.made_auditors import any_decision, made, pairs_of, some

A = np.array([[0.6, 0.2], [0.0, 0.3]])
EXACT = MahalanobisAuditor(A)


@given(decision=any_decision(), n=st.integers(1, 20), seed=st.integers(0, 100))
def test_a_partial_review_agrees_with_the_complete_one(decision: Decision, n: int, seed: int) -> None:
    """On every pair looked at, and as many are looked at as were asked for, or all if there are fewer."""
    review = PartialAuditor(EXACT, n, seed=seed).review(decision)
    unfair = set(EXACT.review(decision).unfair)
    assert review.kind == "partial"
    assert set(review.unfair) <= unfair
    assert not set(review.fair) & unfair
    assert len(review.unfair) + len(review.fair) == min(n, len(pairs_of(decision)))


@pytest.mark.statistical
def test_every_pair_is_looked_at_equally_often() -> None:
    """Two of six pairs, 3000 times: each 1000 times, within five standard deviations."""
    auditor, decision = PartialAuditor(EXACT, 2, seed=3), made([0.5, 0.3, 0.2, 0.0], np.zeros((4, 2)))
    seen = dict.fromkeys(pairs_of(decision), 0)
    for _ in range(3000):
        review = auditor.review(decision)
        for pair in review.unfair + review.fair:
            seen[pair] += 1
    assert sum(seen.values()) == 6000
    assert max(abs(count - 1000) for count in seen.values()) < 5 * np.sqrt(3000 * (1 / 3) * (2 / 3))


def test_the_pairs_may_be_chosen_by_somebody_else() -> None:
    """The function is given the decision and the number; nothing is drawn; pairs come in any order."""
    calls: list[tuple[Decision, int]] = []

    def choose(decision: Decision, n: int) -> list[Pair]:
        calls.append((decision, n))
        return [(2, 1), (0, 1)]

    decision = made([0.9, 0.1, 0.1], [[0.0, 0.0], [0.1, 0.0], [0.2, 0.0]])
    review = PartialAuditor(EXACT, 3, choose=choose).review(decision)
    assert review == Review.partial(unfair=[(0, 1)], fair=[(1, 2)])
    assert calls == [(decision, 3)]


@pytest.mark.parametrize(
    ("answer", "error", "sentence"),
    [
        ([(0, 1), (0, 2), (1, 2)], InvalidInput, "at most n = 2 pairs, got 3"),
        ([(0, 3)], UnknownPair, "a pair must be of candidates 0 to 2"),
        ([(0, 0)], UnknownPair, "two different candidates"),
        ("01", InvalidInput, "pairs must be a list of pairs"),
    ],
)
def test_a_bad_choice_is_refused(answer: Any, error: type[Exception], sentence: str) -> None:
    """Too many pairs, unknown ones, and what are no pairs."""
    with pytest.raises(error, match=sentence):
        PartialAuditor(EXACT, 2, choose=lambda decision, n: answer).review(made([0.9, 0.1, 0.0], np.zeros((3, 2))))


def test_nobody_judges_a_pair_that_nobody_looked_at() -> None:
    """A partial look at a partial review has verdicts only where both looked."""
    inner = PartialAuditor(EXACT, 1, choose=lambda decision, n: [(0, 1)])
    outer = PartialAuditor(inner, 2, choose=lambda decision, n: [(0, 1), (0, 2)])
    decision = made([0.9, 0.1, 0.0], np.zeros((3, 2)))
    assert outer.review(decision) == Review.partial(unfair=[(0, 1)])
    drawn = PartialAuditor(inner, 2, seed=0).review(decision)
    assert drawn == Review.partial(unfair=[(0, 1)])


def test_the_worst_pair_is_reported_and_no_other() -> None:
    """Worst by excess over the distance where distances are known, which need not be the widest gap."""
    for decision in some(50, d=2):
        complete, excess = EXACT.review(decision), EXACT.excess(decision)
        report = OneReportAuditor(EXACT).review(decision)
        if complete.unfair:
            (pair,) = report.unfair
            assert report == Review.partial(unfair=[pair])
            assert excess[pair] == max(excess[p] for p in complete.unfair)
        else:
            assert report == Review.complete()
    decision = made([0.5, 0.2, 0.0], np.zeros((3, 2)))
    assert OneReportAuditor(PureNoiseAuditor(1.0)).review(decision).unfair == ((0, 2),)


def test_silence_is_read_as_configured() -> None:
    """That all pairs looked at were fair, or nothing."""
    fair = made([0.1, 0.1, 0.1], np.zeros((3, 2)))
    assert OneReportAuditor(EXACT).review(fair) == Review.complete()
    assert OneReportAuditor(EXACT, silent_means_fair=False).review(fair) == Review.partial()
    few = PartialAuditor(EXACT, 1, choose=lambda decision, n: [(0, 1)])
    assert OneReportAuditor(few).review(fair) == Review.partial(fair=[(0, 1)])
    assert OneReportAuditor(few, silent_means_fair=False).review(fair) == Review.partial()


@given(decision=any_decision())
def test_one_bit_is_whether_anything_was_unfair(decision: Decision) -> None:
    """Of a complete review; of a partial one only a yes, unless it covered everything; of one bit itself."""
    any_unfair = bool(EXACT.review(decision).unfair)
    auditor = OneBitAuditor(EXACT)
    assert auditor.review(decision) == Review.one_bit(any_unfair)
    assert OneBitAuditor(auditor).review(decision) == Review.one_bit(any_unfair)
    everything = PartialAuditor(EXACT, 100, seed=0)
    assert OneBitAuditor(everything).review(decision) == Review.one_bit(any_unfair)
    few = OneBitAuditor(PartialAuditor(EXACT, 1, choose=lambda decision, n: [(0, 1)])).review(decision)
    if (0, 1) in EXACT.review(decision).unfair:
        assert few == Review.one_bit(any_unfair=True)
    elif decision.n_candidates > 2:
        assert few == Review.partial()


def test_who_needs_pairs_refuses_one_bit() -> None:
    """A few pairs, or the worst one, cannot be had from one who names none."""
    bit = OneBitAuditor(EXACT)
    for auditor in (PartialAuditor(bit, 2, seed=0), OneReportAuditor(bit)):
        with pytest.raises(InvalidInput, match="names no pairs"):
            auditor.review(made([0.5, 0.5], np.zeros((2, 2))))


def test_a_name_is_signed_and_stays() -> None:
    """Every review carries the name, through every later change, and the outermost name counts."""
    decision = made([0.9, 0.1, 0.0], np.zeros((3, 2)))
    ada = NamedAuditor(EXACT, "Ada")
    assert ada.review(decision) == Review.complete(unfair=EXACT.review(decision).unfair, reviewer="Ada")
    for around in (
        NoisyAuditor(ada, 0.5, seed=0),
        PartialAuditor(ada, 1, seed=0),
        OneReportAuditor(ada),
        OneReportAuditor(NamedAuditor(PartialAuditor(EXACT, 1), "Ada"), silent_means_fair=False),
        OneBitAuditor(ada),
        NoisyAuditor(OneBitAuditor(ada), 1.0),
    ):
        assert around.review(decision).reviewer == "Ada"
    assert NamedAuditor(ada, "Grace").review(decision).reviewer == "Grace"
