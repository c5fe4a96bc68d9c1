"""Margin: the share of flagged rounds stays at the target, whoever flags."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand.auditors import Auditor, DelayedAuditor, MahalanobisAuditor, PureNoiseAuditor, RotatingAuditor
from evenhand.bandit.safeguards import STEP, Margin
from evenhand.environments import make_world
from evenhand.errors import InvalidInput
from evenhand.lab import Account, play

ROUNDING = 1e-6
"""What thousands of additions may be off by, in flagged rounds."""


def _promised(target: float, rounds: int, *, step: float = STEP, delay: int = 0) -> float:
    return target * rounds + 1 / step + 1 + delay + ROUNDING


# The recursion alone.


@settings(max_examples=200, deadline=None)
@given(
    target=st.floats(0.001, 0.9),
    step=st.floats(0.005, 2.0),
    delay=st.integers(0, 12),
    rounds=st.integers(1, 300),
    eagerness=st.floats(0.0, 1.0),
    patience=st.floats(0.0, 1.0),
    seed=st.integers(0, 10**6),
)
def test_the_promise_holds_for_any_flags(
    target: float, step: float, delay: int, rounds: int, eagerness: float, patience: float, seed: int
) -> None:
    """Decisions with s > 0 may be flagged, at any time, in any order, with `delay` others outstanding: never too many.

    The promise holds after every round, not only in the end.
    """
    rng = np.random.default_rng(seed)
    margin, flagged = Margin(target, step), 0
    under_review: list[bool] = []  # of each whether its probabilities differ, so that it can be flagged
    for t in range(1, rounds + 1):
        under_review.append(margin.scale > 0)
        margin = margin.decided()
        while len(under_review) > delay or (under_review and rng.random() > patience):
            can_be_flagged = under_review.pop(int(rng.integers(len(under_review))))
            if can_be_flagged and rng.random() < eagerness:
                margin = margin.flagged()
                flagged += 1
            assert 0 <= margin.scale <= 1
        assert flagged <= _promised(target, t, step=step, delay=delay)


@pytest.mark.parametrize("delay", [0, 1, 10, 100])
@pytest.mark.parametrize("target", [0.001, 0.05, 0.5])
def test_the_promise_is_tight(target: float, delay: int) -> None:
    """Who flags whatever can be flagged comes within two flags of the promise: no better one can be made.

    The worst is to save up as many decisions as may be under review, and to flag them all once s is nearly spent.
    """
    margin, flagged, saved = Margin(target), 0, 0
    rounds = 3000
    for _ in range(rounds):
        can_be_flagged = margin.scale > 0
        margin = margin.decided()
        if can_be_flagged and saved < delay:
            saved += 1
        elif can_be_flagged:
            margin = margin.flagged()
            flagged += 1
    for _ in range(saved):
        margin = margin.flagged()
        flagged += 1
    assert flagged <= _promised(target, rounds, delay=delay)
    assert flagged >= _promised(target, rounds, delay=delay) - 3 - delay * target


def test_debts_are_not_forgiven() -> None:
    """What is flagged beyond zero is paid back before probabilities differ again: s is clipped from above alone."""
    margin = Margin(0.1, step=0.1)
    for _ in range(25):
        margin = margin.flagged()
    assert margin.scale == 0
    assert margin.s == pytest.approx(-1.5)
    margin = margin.decided(150)
    assert margin.scale == pytest.approx(0, abs=1e-9)
    margin = margin.decided(100)
    assert margin.scale == pytest.approx(1.0)
    margin = margin.decided(10_000)
    assert margin.scale == 1
    margin = margin.flagged()
    assert margin.scale == pytest.approx(0.9)


@settings(max_examples=50, deadline=None)
@given(target=st.floats(0.001, 0.9), portions=st.lists(st.integers(0, 30), max_size=10), flags=st.integers(0, 40))
def test_rounds_may_be_counted_in_portions(target: float, portions: list[int], flags: int) -> None:
    """So many rounds at once are as many one by one."""
    one = Margin(target)
    for _ in range(flags):
        one = one.flagged()
    many = one
    for n in portions:
        many = many.decided(n)
        for _ in range(n):
            one = one.decided()
        assert many.s == pytest.approx(one.s, abs=1e-12)


def test_no_target_no_margin() -> None:
    """Without a target nothing ever changes."""
    margin = Margin(None)
    for _ in range(100):
        margin = margin.flagged()
        margin = margin.decided()
    assert margin.scale == 1


def test_saved_and_loaded_to_the_bit() -> None:
    """Debts, target and step survive."""
    margin = Margin(0.013, step=0.07)
    for t in range(40):
        margin = margin.decided()
        if t % 2:
            margin = margin.flagged()
    loaded = Margin(**asdict(margin))
    assert loaded == margin
    assert loaded.decided(17).scale == margin.decided(17).scale


@pytest.mark.parametrize("target", [0, 1, -0.1, 1.5, float("nan"), "rarely", True, [0.1]])
def test_bad_targets_are_refused(target: Any) -> None:
    """A target is a share of rounds, neither none nor all."""
    with pytest.raises(InvalidInput, match="target_unfair_share must be a number > 0 and < 1 or None, got "):
        eh.FairBandit(2, target_unfair_share=target, reviewer_error=1e-3)


# In a bandit.


class Hostile:
    """Flags the widest gap whenever probabilities differ, and calls all else fair."""

    def review(self, decision: eh.Decision) -> eh.Review:
        """A complete review with one flag, if there is anything to flag."""
        k = decision.n_candidates
        pairs = [(decision.gap(i, j), (i, j)) for i in range(k) for j in range(i + 1, k)]
        gap, widest = max(pairs)
        return eh.Review.complete(unfair=[widest] if gap > 1e-9 else [])


class HostileBit:
    """Says of everything that it was unfair, in one bit."""

    def review(self, decision: eh.Decision) -> eh.Review:
        """One bit."""
        return eh.Review.one_bit(any_unfair=True)


class Provoking:
    """Says that all is fair, until it is believed; then that nothing is."""

    def review(self, decision: eh.Decision) -> eh.Review:
        """One bit."""
        return eh.Review.one_bit(any_unfair=decision.round >= 60)


def _reviewers(A: Any) -> dict[str, Auditor]:
    return {
        "pure noise": PureNoiseAuditor(0.2, seed=1),
        "hostile": Hostile(),
        "hostile, one bit": HostileBit(),
        "provoking": Provoking(),
        "rotating": RotatingAuditor(A, turns_per_round=0.01),
    }


class _Watching(eh.FairBandit):
    """Notes at every decision the margin and the widest gap."""

    noted: list[tuple[float, float]]

    def decide(self, contexts: Any, **bounds: Any) -> eh.Decision:
        scale = self.safeguards.margin.scale
        decision = super().decide(contexts, **bounds)
        self.noted = [*getattr(self, "noted", []), (scale, float(np.ptp(decision.probabilities)))]
        return decision


def _run(
    name: str, *, rounds: int, delay: int = 0, at_random: bool = False, **settings: Any
) -> tuple[_Watching, Account]:
    world = make_world("sphere", n_features=3, n_candidates=4, seed=3)
    auditor = _reviewers(world.A)[name]
    if delay:
        auditor = DelayedAuditor(auditor, delay, at_random=at_random, seed=5)
    usual: dict[str, Any] = {} if "metric" in settings else {"reviewer_error": 1e-3}
    bandit = _Watching(3, seed=0, **usual, **settings)
    truth = MahalanobisAuditor(world.A)
    return bandit, play(bandit, world, auditor, rounds=rounds, epsilon=0.01, seed=4, truth=truth)


@pytest.mark.filterwarnings("ignore::evenhand.errors.InconsistentReviews")
@pytest.mark.filterwarnings("ignore::evenhand.errors.NoMetricFits")
@pytest.mark.filterwarnings("ignore::evenhand.errors.MisleadingReviewer")
@pytest.mark.parametrize("delay", [0, 7], ids=["prompt", "late"])
@pytest.mark.parametrize("name", ["pure noise", "hostile", "hostile, one bit", "provoking", "rotating"])
def test_flagged_rounds_keep_the_promise(name: str, delay: int) -> None:
    """In a real loop, against reviewers who follow no metric: within the promise; at scale 0 probabilities are equal.

    The bandit's own count is the reviewer's.
    """
    target, rounds = 0.05, 400
    bandit, account = _run(name, rounds=rounds, delay=delay, target_unfair_share=target)
    flagged = account.flagged_rounds_by_reviewer
    assert flagged == len(bandit.safeguards.flagged_rounds)
    assert flagged <= _promised(target, rounds, delay=delay)
    assert all(gap <= 1e-9 for scale, gap in bandit.noted if scale == 0)
    if name in ("hostile", "hostile, one bit"):
        assert any(scale == 0 for scale, _ in bandit.noted)
        assert flagged >= target * rounds


@pytest.mark.filterwarnings("ignore::evenhand.errors.InconsistentReviews")
@pytest.mark.filterwarnings("ignore::evenhand.errors.NoMetricFits")
@pytest.mark.filterwarnings("ignore::evenhand.errors.MisleadingReviewer")
@pytest.mark.parametrize("name", ["pure noise", "hostile", "rotating"])
def test_without_a_target_there_are_more(name: str) -> None:
    """The same reviewers flag more than the promise where nothing was promised: the margin is what keeps it."""
    rounds = 400
    _, account = _run(name, rounds=rounds)
    assert account.flagged_rounds_by_reviewer > _promised(0.05, rounds)


@pytest.mark.filterwarnings("ignore::evenhand.errors.InconsistentReviews")
@pytest.mark.parametrize("cap", [0, 3, 15])
@pytest.mark.parametrize("name", ["hostile", "hostile, one bit", "provoking"])
def test_the_cap_does_not_undo_the_margin(name: str, cap: int) -> None:
    """Where only proved distances are played, they are played within the margin too: who flags them all the same."""
    target, rounds = 0.05, 400
    bandit, account = _run(name, rounds=rounds, target_unfair_share=target, max_unfair_rounds=cap)
    assert account.flagged_rounds_by_reviewer <= _promised(target, rounds)
    assert all(gap <= 1e-9 for scale, gap in bandit.noted if scale == 0)


@pytest.mark.filterwarnings("ignore::evenhand.errors.InconsistentReviews")
@pytest.mark.parametrize(
    "metric",
    [eh.metrics.Ellipsoid(3), eh.metrics.KnownMetric(np.eye(3)), eh.metrics.PerPair(eh.metrics.Ellipsoid(3))],
    ids=lambda metric: type(metric).__name__,
)
def test_any_learner_is_held_to_it(metric: eh.metrics.MetricLearner) -> None:
    """The promise asks nothing of the learner: one that never learns keeps it as well."""
    target, rounds = 0.1, 300
    bandit, account = _run("hostile", rounds=rounds, metric=metric, target_unfair_share=target)
    assert account.flagged_rounds_by_reviewer <= _promised(target, rounds)
    assert all(gap <= 1e-9 for scale, gap in bandit.noted if scale == 0)


@pytest.mark.statistical
def test_an_honest_reviewer_costs_little() -> None:
    """With a reviewer who follows a metric the scale is back near 1 in the end, and few flags are left to come."""
    world = make_world("sphere", n_features=3, n_candidates=4, seed=3)
    bandit = _Watching(3, epsilon=0.02, seed=0, target_unfair_share=0.05)
    play(bandit, world, MahalanobisAuditor(world.A), rounds=500, epsilon=0.02, seed=4)
    assert np.mean([scale for scale, _ in bandit.noted[-150:]]) > 0.95
    assert np.mean([gap for _, gap in bandit.noted[-150:]]) > 0.3
