"""The liar: never more lies than the budget, each where it hurts most, and everything else unchanged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.auditors import AdversarialAuditor, MahalanobisAuditor, OneBitAuditor, PartialAuditor
from evenhand.auditors.pairs import verdicts_by_pair
from evenhand.auditors.wrong import Aim
from evenhand.errors import InvalidInput
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Review
from tests.support.made_auditors import any_decision, made, some

EXACT = MahalanobisAuditor(0.4 * np.eye(3))
FLAT = MahalanobisAuditor(0.4 * np.eye(2))
AIMS: tuple[Aim, ...] = ("regret", "unfairness", "confusion")


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("budget", [0, 1, 7, 1000])
def test_the_budget_is_never_exceeded_and_every_lie_is_counted(aim: Aim, budget: int) -> None:
    """Verdicts that differ from the truth are as many as were counted, one a decision, and at most the budget."""
    liar, lies = AdversarialAuditor(EXACT, budget, aim, seed=0), 0
    for decision in some(60):
        honest, review = EXACT.review(decision), liar.review(decision)
        changed = set(honest.unfair) ^ set(review.unfair)
        assert len(changed) <= 1
        lies += len(changed)
        assert liar.lies_told == lies <= budget
    assert lies == budget or (budget == 1000 and lies > 20)


@pytest.mark.parametrize("aim", AIMS)
@given(decisions=st.lists(any_decision(), min_size=1, max_size=5))
def test_equal_probabilities_are_not_lied_about(aim: Aim, decisions: list[Decision]) -> None:
    """A lie about them would teach nothing; no pair with equal probabilities is ever flagged."""
    liar, bit = AdversarialAuditor(FLAT, 100, aim, seed=0), AdversarialAuditor(OneBitAuditor(FLAT), 100, aim)
    for decision in decisions:
        assert all(decision.gap(*pair) > PROBABILITY_TOLERANCE for pair in liar.review(decision).unfair)
        assert not bit.review(decision).any_unfair or np.ptp(decision.probabilities) > PROBABILITY_TOLERANCE


def test_regret_is_aimed_at_the_pair_that_binds_most() -> None:
    """Tight pairs before slack ones, then the largest difference of rewards; only fair pairs are accused."""
    far = MahalanobisAuditor(np.eye(4))
    probabilities, rewards = [0.4, 0.3, 0.2, 0.1], [0.9, 0.5, 0.4, -0.9]
    tight = made(probabilities, rewards=rewards, tight_pairs=((0, 1), (1, 2)))
    assert AdversarialAuditor(far, 1, "regret", seed=0).review(tight).unfair == ((0, 1),)
    slack = made(probabilities, rewards=rewards)
    assert AdversarialAuditor(far, 1, "regret", seed=0).review(slack).unfair == ((0, 3),)
    near = MahalanobisAuditor(np.zeros((1, 4)))
    everything_is_unfair = AdversarialAuditor(near, 1, "regret", seed=0)
    assert everything_is_unfair.review(tight) == near.review(tight)
    assert everything_is_unfair.lies_told == 0


def test_unfairness_is_aimed_at_the_worst_unfair_pair() -> None:
    """The pair with the largest excess is passed; all others are reviewed as they are."""
    for decision in some(40):
        honest, excess = EXACT.review(decision), EXACT.excess(decision)
        review = AdversarialAuditor(EXACT, 1, "unfairness", seed=0).review(decision)
        hidden = set(honest.unfair) - set(review.unfair)
        assert hidden == ({max(honest.unfair, key=lambda pair: excess[pair])} if honest.unfair else set())
        assert set(review.unfair) <= set(honest.unfair)


def test_confusion_lies_by_turns() -> None:
    """An accusation, then a pardon, then an accusation; a turn waits for its opportunity."""
    liar = AdversarialAuditor(FLAT, 3, "confusion", seed=0)
    fair, unfair = made([0.5, 0.4]), made([0.9, 0.1])
    review = [liar.review(decision).unfair for decision in (fair, fair, unfair, unfair, fair, fair)]
    assert review == [((0, 1),), (), (), ((0, 1),), ((0, 1),), ()]


def test_one_bit_and_partial_reviews_are_lied_in_too() -> None:
    """The bit is turned; of pairs only those looked at are lied about, and they stay looked at."""
    fair, unfair = made([0.5, 0.4]), made([0.9, 0.1])
    accuser = AdversarialAuditor(OneBitAuditor(FLAT), 1, "regret")
    assert [accuser.review(d).any_unfair for d in (unfair, fair, fair)] == [True, True, False]
    hider = AdversarialAuditor(OneBitAuditor(FLAT), 1, "unfairness")
    assert [hider.review(d).any_unfair for d in (fair, unfair, unfair)] == [False, False, True]
    assert accuser.lies_told == hider.lies_told == 1
    for decision in some(30):
        honest = PartialAuditor(EXACT, 2, seed=decision.round).review(decision)
        review = AdversarialAuditor(PartialAuditor(EXACT, 2, seed=decision.round), 1, "regret").review(decision)
        assert verdicts_by_pair(decision, review).keys() == verdicts_by_pair(decision, honest).keys()


def test_equals_are_drawn_by_the_seed() -> None:
    """Among pairs equally good to lie about each is taken for some seed, and one seed takes one."""
    far, decision = MahalanobisAuditor(np.eye(4)), made([0.6, 0.2, 0.2, 0.2])

    def lie(seed: int) -> Review:
        return AdversarialAuditor(far, 1, "regret", seed=seed).review(decision)

    assert {lie(seed).unfair for seed in range(40)} == {((0, 1),), ((0, 2),), ((0, 3),)}
    assert lie(5) == lie(5)


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("per_decision", [2, 5, 100])
def test_a_burst_of_lies_comes_as_fast_as_the_budget_permits(aim: Aim, per_decision: int) -> None:
    """So many lies a decision and no more, each about another pair, never beyond the budget, and each counted."""
    liar, lies = AdversarialAuditor(EXACT, 40, aim, per_decision=per_decision, seed=0), 0
    most = 0
    for decision in some(60):
        honest, review = EXACT.review(decision), liar.review(decision)
        changed = set(honest.unfair) ^ set(review.unfair)
        assert len(changed) <= per_decision
        lies, most = lies + len(changed), max(most, len(changed))
        assert liar.lies_told == lies <= 40
    assert lies == 40
    assert most > 1


def test_a_burst_begins_with_what_hurts_most() -> None:
    """All fair pairs are accused, or all unfair ones passed, the first ones of a smaller burst among them."""
    far, near = MahalanobisAuditor(np.eye(4)), MahalanobisAuditor(np.zeros((1, 4)))
    decision = made([0.4, 0.3, 0.2, 0.1], rewards=[0.9, 0.5, 0.4, -0.9], tight_pairs=((0, 1), (1, 2)))
    one, two, all_ = (
        AdversarialAuditor(far, 100, "regret", per_decision=n, seed=0).review(decision).unfair for n in (1, 2, 100)
    )
    assert one == ((0, 1),)
    assert set(two) == {(0, 1), (1, 2)}
    assert len(all_) == 6
    hidden = AdversarialAuditor(near, 4, "unfairness", per_decision=100, seed=0).review(decision)
    assert len(hidden.unfair) == 2
    with pytest.raises(InvalidInput, match="per_decision must be a whole number >= 1, got 0"):
        AdversarialAuditor(far, 1, "regret", per_decision=0)
