"""The long proofs of the whole: ten seeds at d = k = 5, three thousand rounds. Run by `make proofs`."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh
from evenhand.lab import Account
from tests.simulation import simulate

SEEDS = range(10)


def _run(policy: eh.FairBandit, seed: int) -> Account:
    return simulate(policy, d=5, k=5, rounds=3000, epsilon=0.01, seed=seed)


@pytest.mark.slow
def test_the_default_is_rarely_unfair_and_the_paper_eight_times_as_often(capsys: pytest.CaptureFixture[str]) -> None:
    """Means over ten seeds: at most 45 unfair pairs, none of them late, and the paper's form has 8 times as many."""
    accounts = {
        "default": [_run(eh.FairBandit(5, epsilon=0.01, seed=seed), seed) for seed in SEEDS],
        "paper.full": [_run(eh.paper.full(5, epsilon=0.01, seed=seed), seed) for seed in SEEDS],
    }
    pairs = {name: np.mean([np.sum(account.unfair_pairs) for account in run]) for name, run in accounts.items()}
    last = {name: [account.last_unfair_round for account in run] for name, run in accounts.items()}
    with capsys.disabled():
        for name, run in accounts.items():
            regret = np.mean([np.sum(account.regret) for account in run])
            print(f"\n{name}: {pairs[name]:.1f} unfair pairs, last unfair rounds {last[name]}, regret {regret:.1f}")
    assert pairs["default"] <= 45
    assert all(found is None or found <= 1500 for found in last["default"])
    assert pairs["default"] <= pairs["paper.full"] / 8
