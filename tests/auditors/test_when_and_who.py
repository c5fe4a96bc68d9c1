"""Panels and late reviewers: who looks, what comes in when, and that both may be wrapped in anything."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from evenhand.auditors import (
    Auditor,
    DelayedAuditor,
    MahalanobisAuditor,
    NamedAuditor,
    NoisyAuditor,
    OneBitAuditor,
    OneReportAuditor,
    PanelAuditor,
    PartialAuditor,
    PureNoiseAuditor,
    RotatingAuditor,
    arriving,
)
from evenhand.records.decision import Decision, Review
from tests.support.made_auditors import some

EXACT = MahalanobisAuditor(0.4 * np.eye(3))
STRICT = MahalanobisAuditor(0.1 * np.eye(3))


class OnlyReviews:
    """A user's own auditor: nothing but the one method."""

    def review(self, decision: Decision) -> Review:
        """Everything is fine."""
        return Review.complete()


def test_a_plain_auditor_answers_at_once() -> None:
    """What arrives is one review, of the decision itself; any object with `review` will do."""
    for decision in some(3):
        for auditor in (EXACT, OnlyReviews(), PureNoiseAuditor(0.0)):
            ((seen, review),) = arriving(auditor, decision)
            assert seen is decision
            assert review == auditor.review(decision)


@pytest.mark.parametrize("delay", [0, 1, 5])
def test_a_delay_is_exact(delay: int) -> None:
    """Each review comes in exactly so many rounds later, once, with its own decision; the rest is still out."""
    auditor, decisions = DelayedAuditor(EXACT, delay), list(some(20))
    for t, decision in enumerate(decisions):
        due = auditor.reviews(decision)
        assert [seen for seen, _ in due] == ([decisions[t - delay]] if t >= delay else [])
        assert all(review == EXACT.review(seen) for seen, review in due)
        assert [seen for seen, _ in auditor.pending] == decisions[max(0, t - delay + 1) : t + 1]


def test_a_random_delay_is_at_most_the_delay_and_loses_nothing() -> None:
    """0 to 3 rounds, each a quarter of 2000 reviews within five standard deviations; all come in or are out."""
    auditor, decisions, waits = DelayedAuditor(EXACT, 3, at_random=True, seed=1), list(some(2000)), Counter[int]()
    came: list[Decision] = []
    for decision in decisions:
        due = auditor.reviews(decision)
        waits.update(decision.round - seen.round for seen, _ in due)
        came += [seen for seen, _ in due]
    assert set(waits) == {0, 1, 2, 3}
    assert all(abs(count - 500) < 5 * np.sqrt(2000 * 0.25 * 0.75) + 3 for count in waits.values())
    out = [seen for seen, _ in auditor.pending]
    assert sorted(d.round for d in came + out) == list(range(2000))


def test_what_was_due_while_nobody_asked_comes_in_next_time() -> None:
    """Rounds are the decisions' own: one shown every third round gets what became due in between."""
    auditor, decisions = DelayedAuditor(EXACT, 2), list(some(10))[::3]
    assert [[seen.round for seen, _ in auditor.reviews(d)] for d in decisions] == [[], [0], [3], [6]]


def test_delays_add_up() -> None:
    """A late reviewer whose letters travel on slowly is late by both."""
    auditor, decisions = DelayedAuditor(DelayedAuditor(EXACT, 2), 3), list(some(8))
    arrived = [[seen.round for seen, _ in auditor.reviews(d)] for d in decisions]
    assert arrived == [[], [], [], [], [], [0], [1], [2]]


def test_a_late_review_is_of_its_own_round() -> None:
    """A mind that moves judges the decision by the round it was made in, however late the review comes."""
    moving = RotatingAuditor(np.diag([0.9, 0.1, 0.1]), 0.1)
    late = DelayedAuditor(moving, 4)
    came = [arrival for decision in some(30) for arrival in late.reviews(decision)]
    assert len(came) == 26
    assert all(review == moving.review(seen) for seen, review in came)


def test_members_share_the_work_evenly() -> None:
    """Of 3000 decisions each of three members has a third, within five standard deviations, under their name."""
    panel = PanelAuditor({"a": EXACT, "b": EXACT, "c": STRICT}, seed=4)
    names = Counter[str | None]()
    for decision in some(3000, k=3):
        ((seen, review),) = panel.reviews(decision)
        assert seen is decision
        assert review.unfair == (STRICT if review.reviewer == "c" else EXACT).review(decision).unfair
        names[review.reviewer] += 1
    assert set(names) == {"a", "b", "c"}
    assert all(abs(count - 1000) < 5 * np.sqrt(3000 * 2 / 9) for count in names.values())


def test_several_members_may_review_one_decision() -> None:
    """As many reviews as were asked for, all of the same decision, by different members; `review` gives one."""
    panel = PanelAuditor({"a": EXACT, "b": STRICT, "c": OnlyReviews()}, per_decision=2, seed=4)
    seen_together = set()
    for decision in some(60):
        arrived = panel.reviews(decision)
        names = tuple(str(review.reviewer) for _, review in arrived)
        assert len(set(names)) == 2
        assert all(seen is decision for seen, _ in arrived)
        seen_together.add(names)
        assert panel.review(decision).reviewer in ("a", "b", "c")
    assert seen_together == {("a", "b"), ("a", "c"), ("b", "c")}


def test_a_panel_can_be_late_and_so_can_a_member() -> None:
    """The panel's reviews come in named and late; a late member hands in when next drawn."""
    members: dict[str, Auditor] = {"a": EXACT, "b": STRICT}
    late = DelayedAuditor(PanelAuditor(members, per_decision=2, seed=1), 2)
    arrived = [[(seen.round, review.reviewer) for seen, review in late.reviews(d)] for d in some(4)]
    assert arrived == [[], [], [(0, "a"), (0, "b")], [(1, "a"), (1, "b")]]
    alone = PanelAuditor({"slow": DelayedAuditor(EXACT, 1)}, seed=1)
    arrived = [[(seen.round, review.reviewer) for seen, review in alone.reviews(d)] for d in some(3)]
    assert arrived == [[], [(0, "slow")], [(1, "slow")]]


def test_wrapping_composes_in_any_order() -> None:
    """Late reviews are changed as prompt ones are, whichever wrapper is outside."""
    panel = PanelAuditor({"a": EXACT, "b": NoisyAuditor(STRICT, 0.2, seed=0)}, seed=1)
    stacks: dict[str, Auditor] = {
        "partial": PartialAuditor(NoisyAuditor(EXACT, 0.1, seed=0), 2, seed=1),
        "partial, one_bit": OneBitAuditor(PartialAuditor(DelayedAuditor(panel, 3), 2, seed=2)),
        "complete": DelayedAuditor(NoisyAuditor(DelayedAuditor(panel, 1, at_random=True, seed=3), 0.1, seed=4), 1),
        "complete, partial": NamedAuditor(OneReportAuditor(DelayedAuditor(NoisyAuditor(EXACT, 0.1, seed=5), 2)), "Ada"),
    }
    for kinds, auditor in stacks.items():
        arrived = [arrival for decision in some(40) for arrival in arriving(auditor, decision)]
        assert len(arrived) >= 36, kinds
        assert sorted({review.kind for _, review in arrived}) == sorted(kinds.split(", ")), kinds
        for seen, review in arrived:
            review.check_fits(seen.n_candidates)


def test_what_wraps_a_late_auditor_is_late() -> None:
    """A noisy reviewer around a late one never wrong says the same, at the same time."""
    plain, wrapped = DelayedAuditor(EXACT, 2), NoisyAuditor(DelayedAuditor(EXACT, 2), 0.0)
    for decision in some(10):
        assert list(arriving(plain, decision)) == list(arriving(wrapped, decision))
