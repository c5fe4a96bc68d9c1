"""How steady judgements are: of one person asked twice, and of people asked about the same pair."""

from __future__ import annotations

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from evenhand._internal.intervals import wilson
from evenhand.desk.event_records import ReviewAnswer
from evenhand.review.agreement import agreement, cohen, consistency, fleiss

JUDGED = st.sampled_from(["unfair", "acceptable"])


def answered(number: int, who: str, pair: str, answer: str, repeat_of: int | None = None) -> ReviewAnswer:
    """One answer."""
    earlier = None if repeat_of is None else f"rev_{repeat_of}"
    return ReviewAnswer(f"rev_{number}", number, "", who, f"dec_{pair}", frozenset("ab"), answer, repeat_of=earlier)


def test_consistency_compares_judgements_with_what_they_repeat() -> None:
    """Of three repeats one is unsure and one other than before: one of two the same."""
    answers = [
        answered(1, "Kim", "p", "unfair"),
        answered(2, "Kim", "q", "acceptable"),
        answered(3, "Kim", "r", "unfair"),
        answered(4, "Kim", "p", "unfair", repeat_of=1),
        answered(5, "Kim", "q", "unfair", repeat_of=2),
        answered(6, "Kim", "r", "unsure", repeat_of=3),
    ]
    found = consistency(answers)
    assert (found.repeats, found.same, found.share) == (2, 1, 0.5)
    assert consistency(answers[:3]).share is None


def test_a_repeat_is_no_second_opinion() -> None:
    """Agreement counts people, not answers: whoever answers twice agrees with nobody."""
    answers = [
        answered(1, "Kim", "p", "unfair"),
        answered(2, "Kim", "p", "unfair", repeat_of=1),
        answered(3, "Lee", "q", "unfair"),
    ]
    assert agreement(answers).pairs == 0
    assert agreement(answers).kappa is None


@drawn(st.lists(JUDGED, min_size=2, max_size=30))
def test_two_who_always_say_the_same_agree_fully(answers: list[str]) -> None:
    """Raw agreement is 1, and kappa 1 unless they never varied, when it says nothing."""
    both = [answered(2 * i + j, who, str(i), a) for i, a in enumerate(answers) for j, who in enumerate(("Kim", "Lee"))]
    found = agreement(both)
    assert (found.pairs, found.share) == (len(answers), 1.0)
    expected = 1.0 if len(set(answers)) == 2 else None
    assert found.kappa == found.between[0].kappa == expected


@drawn(st.lists(st.tuples(JUDGED, JUDGED), min_size=1, max_size=30))
def test_kappa_is_at_most_raw_agreement_and_symmetric(judged: list[tuple[str, str]]) -> None:
    """Chance can only take away from agreement; who is named first makes no difference."""
    answers = [answered(2 * i + j, who, str(i), two[j]) for i, two in enumerate(judged) for j, who in enumerate("KL")]
    found = agreement(answers)
    turned = agreement([answered(g.seq, "L" if g.reviewer == "K" else "K", g.decision[4:], g.answer) for g in answers])
    assert found.share is not None
    assert found.share == turned.share == pytest.approx(sum(a == b for a, b in judged) / len(judged))
    if found.kappa is not None:
        assert found.kappa <= found.share + 1e-9
        assert found.kappa == pytest.approx(turned.kappa)
    assert found.between[0].kappa == (
        None if turned.between[0].kappa is None else pytest.approx(turned.between[0].kappa)
    )


def test_known_kappas() -> None:
    """Cohen's kappa of a textbook table, and Fleiss' kappa of one worked out by hand."""
    table = {("u", "u"): 45, ("u", "a"): 15, ("a", "u"): 25, ("a", "a"): 15}
    assert cohen(table) == pytest.approx(0.1304, abs=1e-4)
    # Three raters: (3, 0), (2, 1), (0, 3). P = (1 + 1/3 + 1)/3, p = (5/9, 4/9).
    share, kappa = fleiss([{"u": 3}, {"u": 2, "a": 1}, {"a": 3}])
    assert share == pytest.approx(7 / 9)
    assert kappa == pytest.approx((7 / 9 - 41 / 81) / (1 - 41 / 81))


@drawn(st.integers(1, 200), st.data())
def test_wilsons_interval_holds_the_share(n: int, data: st.DataObject) -> None:
    """The interval lies within 0 and 1 around the share, and is never empty."""
    successes = data.draw(st.integers(0, n))
    low, high = wilson(successes, n)
    assert 0 <= low <= successes / n <= high <= 1
    assert low < high
