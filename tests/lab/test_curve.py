"""Curves: the running totals of an account at a few checkpoints."""

from __future__ import annotations

import gc
import math
import weakref

import numpy as np
import pytest

import evenhand as eh
from evenhand.environments import make_world
from evenhand.lab import Account, play
from evenhand.lab.account import PER_OCTAVE, checkpoints
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


@pytest.mark.parametrize("rounds", [1, 20, 150])
def test_a_curve_has_the_totals_of_an_account(rounds: int) -> None:
    """At every checkpoint regret, reward, pairs and rounds are what the rounds up to it add up to."""
    world = make_world("sphere", n_features=3, n_candidates=4, seed=5)
    auditor = eh.auditors.MahalanobisAuditor(world.A)
    policy = eh.baselines.ignore_fairness(3, seed=0)
    account = play(policy, world, auditor, rounds=rounds, epsilon=0.01, seed=1)
    columns = account.curve()
    assert columns["round"] == checkpoints(rounds)
    assert account.unfair_rounds > rounds // 15
    for row, t in enumerate(checkpoints(rounds)):
        unfair = [number for number, pairs in enumerate(account.unfair_pairs[:t], start=1) if pairs > 0]
        for name in ("regret", "reward", "unfair_pairs", "flagged_pairs"):
            assert columns[name][row] == pytest.approx(sum(getattr(account, name)[:t])), name
        assert columns["unfair_rounds"][row] == len(unfair)
        assert columns["last_unfair_round"][row] == max(unfair, default=0)
    assert columns["last_unfair_round"][-1] == account.last_unfair_round


def test_an_account_without_a_round_has_an_empty_curve() -> None:
    """Every column is there, and has no row."""
    assert set(map(len, Account(0.01).curve().values())) == {0}


def test_a_long_run_keeps_no_decision() -> None:
    """A million rounds have under a hundred checkpoints, and a decision is forgotten once entered."""
    account = Account(0.01)
    world = make_world("sphere", n_features=2, n_candidates=3, seed=5)
    auditor = eh.auditors.MahalanobisAuditor(world.A)
    seen: list[weakref.ref[eh.Decision]] = []
    for decision, reviews in decisions(
        eh.FairBandit(2, epsilon=0.01, seed=0, reviewer_error=1e-3), world, auditor, rounds=60, seed=1
    ):
        account.add(decision, world.expected_rewards(decision.contexts), auditor, reviews)
        seen.append(weakref.ref(decision))
    del decision, reviews
    gc.collect()
    assert len(checkpoints(10**6)) < 100
    assert [reference() for reference in seen] == [None] * 60
