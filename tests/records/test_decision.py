"""Reviews and decisions: what they accept, and what they say when they do not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand import errors
from evenhand.metrics import Verdicts
from tests.support.simulation import same

pairs = st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda pair: pair[0] != pair[1])


@given(st.lists(pairs))
def test_the_order_in_a_pair_and_among_pairs_does_not_matter(unfair: list[tuple[int, int]]) -> None:
    """(3, 0) is (0, 3), a pair named twice is named once, and reviews that say the same are equal."""
    flipped = [(j, i) for i, j in reversed(unfair)]
    assert eh.Review.complete(unfair) == eh.Review.complete(flipped * 2)


@pytest.mark.parametrize("unfair", [[(0, 3)], [(3, 0)], [[0, 3]], np.array([[0, 3]]), ((np.int64(0), 3),)])
def test_pairs_in_any_form(unfair: Any) -> None:
    """Tuples, lists and arrays of two indices are pairs."""
    assert eh.Review.complete(unfair=unfair).unfair == ((0, 3),)


@pytest.mark.parametrize(
    ("unfair", "error", "message"),
    [
        ([(0, 0)], errors.UnknownPair, "two different candidates"),
        ([(-1, 2)], errors.UnknownPair, r"a pair must be of two different candidates >= 0, got \(-1, 2\)"),
        ([(0, 1, 2)], errors.InvalidInput, r"a pair must be two whole numbers, as in \(0, 3\), got "),
        ([(0.5, 1)], errors.InvalidInput, "whole numbers"),
        ([("a", "b")], errors.InvalidInput, r"a pair must be two whole numbers, as in \(0, 3\), got "),
        ([(True, False)], errors.InvalidInput, "whole numbers"),
        ([3], errors.InvalidInput, r"a pair must be two whole numbers, as in \(0, 3\), got "),
        ([(float("inf"), 1)], errors.InvalidInput, r"a pair must be two whole numbers, as in \(0, 3\), got "),
        (None, errors.InvalidInput, "pairs must be a list of pairs of candidates' indices, got "),
        ("ab", errors.InvalidInput, "pairs must be a list of pairs of candidates' indices, got "),
    ],
)
def test_what_is_not_a_pair(unfair: Any, error: type[Exception], message: str) -> None:
    """Anything but two different candidates' indices is refused with a sentence."""
    with pytest.raises(error, match=message):
        eh.Review.complete(unfair=unfair)


def test_a_contradictory_review_is_refused() -> None:
    """A pair cannot be fair and unfair, whichever way round it is named."""
    with pytest.raises(errors.ContradictoryReview, match=r"pair \(0, 3\) must be fair or unfair, got both"):
        eh.Review.partial(unfair=[(0, 3)], fair=[(3, 0), (1, 2)])


def test_a_review_made_by_hand_is_held_to_the_same() -> None:
    """The bare constructor puts pairs in order and refuses what the three named ones would refuse."""
    assert eh.Review("complete", unfair=((2, 0),)) == eh.Review.complete([(0, 2)])
    with pytest.raises(errors.ContradictoryReview):
        eh.Review("partial", unfair=((0, 1),), fair=((1, 0),))
    bad_reviews: list[tuple[dict[str, Any], str]] = [
        ({"kind": "vague"}, "kind must be 'complete', 'partial', 'one_bit', 'ratings' or 'comparisons', got 'vague'"),
        ({"kind": "one_bit"}, "any_unfair must be True or False, got None"),
        ({"kind": "one_bit", "any_unfair": True, "unfair": ((0, 1),)}, r"must be made with Review\.one_bit"),
        ({"kind": "complete", "fair": ((0, 1),)}, r"must be made with Review\.complete"),
        ({"kind": "complete", "any_unfair": False}, "any_unfair of a complete review must be None, got False"),
    ]
    for bad, message in bad_reviews:
        with pytest.raises(errors.InvalidInput, match=message):
            eh.Review(**bad)


def test_reviews_travel_as_json() -> None:
    """A review written to JSON and read back is the same review; a garbled record is refused."""
    for review in (
        eh.Review.complete([(0, 1)], reviewer="ada"),
        eh.Review.partial([(0, 1)], [(1, 2)]),
        eh.Review.one_bit(True),
    ):
        assert eh.Review.from_dict(json.loads(json.dumps(review.to_dict()))) == review
    with pytest.raises(errors.InvalidInput, match="a review's record must be what to_dict wrote: "):
        eh.Review.from_dict({"kind": "complete", "colour": "red"})


def test_the_auditor_and_the_gap_at_the_tolerance() -> None:
    """A gap that exceeds its distance by less than the exactness of probabilities is no violation; by more it is."""
    decision = eh.baselines.EqualProbabilities(seed=0).decide([[1.0], [0.0]])
    alike = eh.auditors.MahalanobisAuditor([[0.0]])
    for gap, flagged in ((0.5e-9, ()), (2e-9, ((0, 1),))):
        unequal = replace(decision, probabilities=np.array([0.5, 0.5 - gap]))
        assert alike.review(unequal).unfair == flagged


def test_one_bit_is_a_truth_value() -> None:
    """One bit takes True and False, and nothing that merely looks like it."""
    assert eh.Review.one_bit(np.bool_(True)).any_unfair is True  # type: ignore[arg-type]
    with pytest.raises(errors.InvalidInput, match="any_unfair must be True or False, got 1"):
        eh.Review.one_bit(1)  # type: ignore[arg-type]


def test_equal_probabilities_give_no_verdict() -> None:
    """Pairs with equal probabilities are in no verdict; a flag on them is no flag."""
    decision = eh.baselines.EqualProbabilities(seed=0).decide(np.eye(3))
    assert len(Verdicts.of(decision, eh.Review.complete(unfair=[(0, 1)]))) == 0


def test_verdicts_carry_the_answer_for_each_pair() -> None:
    """A complete review speaks of all pairs with a gap, a partial one of those it names."""
    decision = eh.FairBandit(2, seed=0).decide([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    gapped = [(i, j) for i in range(3) for j in range(i + 1, 3) if decision.gap(i, j) > 1e-9]
    first, last = gapped[0], gapped[-1]
    complete = Verdicts.of(decision, eh.Review.complete(unfair=[first]))
    assert complete.pairs.names() == gapped
    assert complete.unfair.tolist() == [pair == first for pair in gapped]
    assert complete.tight.tolist() == [pair in decision.tight_pairs for pair in gapped]
    partial = Verdicts.of(decision, eh.Review.partial(unfair=[first], fair=[last]))
    assert partial.pairs.names() == [first, last]
    assert partial.unfair.tolist() == [True, False]


def test_the_worst_residual_goes_with_the_record() -> None:
    """It is a number of the decision's own, read back as written; records without it, as once written, are read too."""
    made = eh.FairBandit(2, seed=0).decide(np.eye(2))
    assert made.worst_residual is not None
    assert 0.0 <= made.worst_residual <= 1e-9
    record = made.to_dict()
    assert eh.Decision.from_dict({**record, "worst_residual": 3e-17}).worst_residual == 3e-17
    del record["worst_residual"]
    assert eh.Decision.from_dict(record).worst_residual is None


def test_what_is_no_record_of_a_decision() -> None:
    """A record with parts missing or garbled is refused."""
    record = eh.FairBandit(2, seed=0).decide(np.eye(2)).to_dict()
    for change in (
        {"contexts": [[2.0, 2.0]]},
        {"chosen": "me"},
        {"round": None},
        {"worst_residual": "x"},
        {"probabilities": [1.0]},
    ):
        with pytest.raises(errors.InvalidInput, match="a decision's record must be what to_dict wrote: "):
            eh.Decision.from_dict({**record, **change})
    with pytest.raises(errors.InvalidInput, match="a decision's record must be what to_dict wrote: "):
        eh.Decision.from_dict({})


def test_every_error_has_the_one_root_and_a_built_in_kind() -> None:
    """All errors are EvenhandErrors, and each is also the built-in error a user would expect."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    built_in = (ValueError, KeyError, ArithmeticError, NotImplementedError, ImportError, OSError, UserWarning)
    for kind in kinds:
        assert issubclass(kind, errors.EvenhandError)
        assert kind is errors.EvenhandError or issubclass(kind, built_in)
    assert str(errors.UnknownPair("a sentence")) == "a sentence"


@pytest.mark.parametrize("name", [float("nan"), 5, ["Ada"], b"Ada"])
def test_a_reviewer_has_a_name_or_none(name: Any) -> None:
    """A missing name in a data frame is NaN, and would be a new reviewer each time; a list cannot be looked up."""
    with pytest.raises(errors.InvalidInput, match="reviewer must be a name or None, got "):
        eh.Review.complete(reviewer=name)
    bandit = eh.FairBandit(2, reviewer_error=None, seed=0)
    before = bandit.state()
    with pytest.raises(errors.InvalidInput, match="reviewer must be a name or None, got "):
        bandit.learn_pair([1.0, 0.0], [0.0, 1.0], gap=0.5, unfair=True, reviewer=name)
    assert same(bandit.state(), before)


def test_a_decision_prints_as_a_line_and_a_small_table() -> None:
    """The repr is one line; print adds candidates by probability, all chosen ones among them, and counts the rest."""
    probabilities = np.linspace(0.0, 0.5, 30)
    decision = eh.Decision("x", 3, np.zeros((30, 2)), probabilities, (29, 2), 2, np.zeros(30))
    assert repr(decision) == "Decision(round 3, 30 candidates, capacity 2, chosen (29, 2))"
    headline, head, *rows, rest = str(decision).split("\n")
    assert headline == "2 of 30 candidates chosen in round 3"
    assert head.split() == ["candidate", "probability"]
    assert [row.split()[0] for row in rows] == [str(i) for i in (*range(29, 19, -1), 2)]
    assert [row.split()[0] for row in rows if row.endswith("chosen")] == ["29", "2"]
    assert rest == "and 19 more"
    assert decision.to_rows()[29] == {"candidate": 29, "probability": 0.5, "chosen": True, "optimistic_reward": 0.0}
