"""Curves: the totals of an account, in memory that grows like log T."""

from __future__ import annotations

import gc
import math
import weakref

import numpy as np
import pytest

import evenhand as eh
from evenhand.environments import make_world
from evenhand.errors import InvalidInput
from evenhand.lab import Account
from evenhand.lab.curve import PER_OCTAVE, Curve, checkpoints
from evenhand.lab.play import decisions


@pytest.mark.parametrize("rounds", [1, 2, 3, 10, 100, 1000, 2**16, 10**6, 10**9])
def test_checkpoints_are_few_and_end_at_the_end(rounds: int) -> None:
    """Rising from 1 to T, each at most a quarter octave and rounding after the last, O(log T) in number."""
    found = checkpoints(rounds)
    assert found[0] == 1
    assert found[-1] == rounds
    assert len(found) <= PER_OCTAVE * math.log2(rounds) + 2
    steps = np.diff(found)
    assert np.all(steps > 0)
    assert np.all(steps <= np.array(found[:-1]) * (2 ** (1 / PER_OCTAVE) - 1) + 1.5)


def _play(rounds: int, curve: Curve, account: Account) -> None:
    world = make_world("sphere", n_features=3, n_candidates=4, seed=5)
    auditor = eh.auditors.MahalanobisAuditor(world.A)
    for decision, reviews in decisions(eh.baselines.ignore_fairness(3, seed=0), world, auditor, rounds=rounds, seed=1):
        for keeper in (curve, account):
            keeper.add(decision, world.expected_rewards(decision.contexts), auditor, reviews)


def test_a_curve_has_the_totals_of_an_account() -> None:
    """At every checkpoint regret, reward, pairs and rounds are what an account of the same decisions adds up to."""
    curve, account = Curve(0.01, 150), Account(0.01)
    _play(150, curve, account)
    columns = curve.columns()
    at = np.array(columns["round"], dtype=int) - 1
    assert columns["round"] == checkpoints(150)
    assert account.unfair_rounds > 10
    for name in ("regret", "reward", "unfair_pairs", "flagged_pairs"):
        assert columns[name] == pytest.approx(np.cumsum(getattr(account, name))[at].tolist()), name
    assert columns["unfair_rounds"] == np.cumsum(account.unfair_pairs > 0)[at].tolist()
    assert columns["last_unfair_round"][-1] == account.last_unfair_round


def test_a_run_cut_short_keeps_what_it_reached() -> None:
    """The columns of a curve that is not full end at the last checkpoint passed."""
    curve = Curve(0.01, 1000)
    _play(20, curve, Account(0.01))
    assert curve.columns()["round"] == [t for t in checkpoints(1000) if t <= 20]


def test_a_curve_is_made_for_so_many_rounds() -> None:
    """One round too many is refused, and changes nothing."""
    curve = Curve(0.01, 5)
    _play(5, curve, Account(0.01))
    before = curve.columns()
    with pytest.raises(InvalidInput, match="a curve of 5 rounds is complete"):
        _play(1, curve, Account(0.01))
    assert curve.columns() == before


def test_a_long_run_keeps_no_decision() -> None:
    """A curve made for a million rounds has under a hundred rows to fill, and a decision is forgotten once entered."""
    curve = Curve(0.01, 10**6)
    world = make_world("sphere", n_features=2, n_candidates=3, seed=5)
    auditor = eh.auditors.MahalanobisAuditor(world.A)
    seen: list[weakref.ref[eh.Decision]] = []
    for decision, reviews in decisions(eh.FairBandit(2, epsilon=0.01, seed=0), world, auditor, rounds=60, seed=1):
        curve.add(decision, world.expected_rewards(decision.contexts), auditor, reviews)
        seen.append(weakref.ref(decision))
    del decision, reviews
    gc.collect()
    assert len(checkpoints(10**6)) < 100
    assert len(curve.columns()["round"]) <= PER_OCTAVE * math.log2(60) + 2
    assert [reference() for reference in seen] == [None] * 60
