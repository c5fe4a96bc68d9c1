"""The hostile reviewer: flags whatever is played, as long as odds differ."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenhand.auditors import HostileAuditor, Truth
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Review
from tests.support.made_auditors import any_decision, made, pairs_of


@given(decision=any_decision(), seed=st.integers(0, 50))
def test_one_pair_with_the_widest_gap_is_flagged_and_no_other(decision: Decision, seed: int) -> None:
    """In every decision but one with equal odds, of which nothing is said but that it is fair."""
    review = HostileAuditor(seed=seed).review(decision)
    widest = max(decision.gap(*pair) for pair in pairs_of(decision))
    assert review.kind == "complete"
    assert len(review.unfair) == (widest > PROBABILITY_TOLERANCE)
    assert all(decision.gap(*pair) == widest for pair in review.unfair)


def test_of_equally_wide_gaps_one_is_drawn_by_the_seed() -> None:
    """Each of them for some seed; one seed draws one; rounds with equal odds do not change later draws."""
    decision, equal = made([0.6, 0.2, 0.2, 0.2]), made([0.25] * 4)

    def drawn(seed: int, before: Decision) -> Review:
        auditor = HostileAuditor(seed=seed)
        auditor.review(before)
        return auditor.review(decision)

    assert {drawn(seed, equal).unfair for seed in range(40)} == {((0, 1),), ((0, 2),), ((0, 3),)}
    assert all(drawn(seed, equal) == drawn(seed, decision) for seed in range(10))


def test_it_follows_no_distance() -> None:
    """So it cannot be the truth that a policy is held to."""
    assert not isinstance(HostileAuditor(seed=0), Truth)
    assert HostileAuditor(seed=0).review(made(np.array([0.9, 0.1]))).unfair == ((0, 1),)
