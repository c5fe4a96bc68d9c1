"""The long runs with reviewers as they are: wrong now and then, one bit a round, two pairs a round.

Run by `make proofs`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

import evenhand as eh
from evenhand.auditors import Auditor, MahalanobisAuditor, NoisyAuditor, OneBitAuditor, PartialAuditor
from evenhand.environments import make_world
from evenhand.lab import play

SEEDS = range(5)
EPSILON = 0.01

MakeAuditor = Callable[[eh.FairBandit, MahalanobisAuditor, int], Auditor]


class Runs(NamedTuple):
    """What several runs had, each on its own seed."""

    unfair: list[int]
    """Unfair pairs, all of them."""
    late: list[int]
    """Those of the second half."""
    regret: list[float]
    bandits: list[eh.FairBandit]

    @property
    def mean(self) -> float:
        """The mean number of unfair pairs."""
        return float(np.mean(self.unfair))

    @property
    def late_share(self) -> float:
        """The share of unfair pairs that fell into the second half, over all runs."""
        return sum(self.late) / max(sum(self.unfair), 1)

    def summary(self, name: str) -> str:
        """One line to print."""
        return (
            f"\n{name}: {self.mean:.1f} unfair pairs {self.unfair}, in the second half {self.late}, "
            f"regret {np.mean(self.regret):.1f}"
        )


def _runs(d: int, k: int, rounds: int, reviewer_error: float | None, make: MakeAuditor) -> Runs:
    runs = Runs([], [], [], [])
    for seed in SEEDS:
        world = make_world(
            "sphere", n_features=d, n_candidates=k, metric="full", norm=0.7, reward="gaussian", seed=seed
        )
        bandit = eh.FairBandit(d, epsilon=EPSILON, reviewer_error=reviewer_error, seed=seed)
        exact = MahalanobisAuditor(world.A)
        auditor = make(bandit, exact, seed)
        account = play(bandit, world, auditor, rounds=rounds, epsilon=EPSILON, seed=1000 + seed, truth=exact)
        runs.unfair.append(int(np.sum(account.unfair_pairs)))
        runs.late.append(int(np.sum(account.unfair_pairs[rounds // 2 :])))
        runs.regret.append(float(np.sum(account.regret)))
        runs.bandits.append(bandit)
    return runs


@pytest.mark.slow
@pytest.mark.parametrize(("wrong", "most"), [(0.0, 50), (0.1, 120), (0.2, 330), (0.3, 560)])
def test_errors_at_an_unknown_rate(wrong: float, most: int, capsys: pytest.CaptureFixture[str]) -> None:
    """d = 5, k = 10, 6,000 rounds: few unfair pairs at any rate of errors, next to none late, and the rate is found."""

    def noisy(bandit: eh.FairBandit, exact: MahalanobisAuditor, seed: int) -> Auditor:
        return NoisyAuditor(exact, wrong, seed=2000 + seed)

    runs = _runs(5, 10, 6000, None, noisy)
    found = [bandit.reviewers()[None].error_rate for bandit in runs.bandits]
    with capsys.disabled():
        print(runs.summary(f"{wrong:.0%} wrong"), "rates found", [round(rate, 4) for rate in found])
    assert runs.mean <= most
    assert runs.late_share < 0.02
    assert all(abs(rate - wrong) <= 0.02 for rate in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("d", "k", "wrong", "most"), [(3, 5, 0.0, 110), (3, 5, 0.05, None), (5, 10, 0.0, 450), (5, 10, 0.05, None)]
)
def test_one_bit_a_round(d: int, k: int, wrong: float, most: int | None, capsys: pytest.CaptureFixture[str]) -> None:
    """4,000 rounds of one bit each, right or wrong in one of twenty: a bounded number of unfair pairs, none late."""

    def bits(bandit: eh.FairBandit, exact: MahalanobisAuditor, seed: int) -> Auditor:
        return NoisyAuditor(OneBitAuditor(exact), wrong, seed=2000 + seed)

    runs = _runs(d, k, 4000, 1e-3, bits)
    with capsys.disabled():
        print(runs.summary(f"one bit, d = {d}, k = {k}, {wrong:.0%} of bits wrong"))
    if most is not None:
        assert runs.mean <= most
    assert sum(runs.late) == 0


@pytest.mark.slow
def test_two_proposed_pairs_a_round(capsys: pytest.CaptureFixture[str]) -> None:
    """d = 5, k = 10, 5,000 rounds: with verdicts on the two pairs it proposes, little more unfair than with all 45.

    Of two pairs drawn by lot it learns less.
    """

    def proposed(bandit: eh.FairBandit, exact: MahalanobisAuditor, seed: int) -> Auditor:
        def choose(decision: eh.Decision, n: int) -> list[tuple[int, int]]:
            return [question.pair for question in bandit.pairs_to_review(decision, n)]

        return PartialAuditor(exact, 2, choose=choose)

    def by_lot(bandit: eh.FairBandit, exact: MahalanobisAuditor, seed: int) -> Auditor:
        return PartialAuditor(exact, 2, seed=2000 + seed)

    runs, drawn = _runs(5, 10, 5000, 1e-3, proposed), _runs(5, 10, 5000, 1e-3, by_lot)
    with capsys.disabled():
        print(runs.summary("two proposed pairs"), drawn.summary("two pairs by lot"))
    assert runs.mean <= 110
    assert sum(runs.late) == 0
    assert runs.mean < 0.7 * drawn.mean
