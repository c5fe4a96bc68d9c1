"""The run of metric-recovery: how far a learned metric is from the truth, at checkpoints."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.randomness import Seed
from evenhand.auditors import MahalanobisAuditor
from evenhand.bandit import FairBandit
from evenhand.baselines import Facts
from evenhand.environments import FairEnvironment, make_world
from evenhand.errors import InconsistentReviews, InvalidInput
from evenhand.lab.curve import checkpoints
from evenhand.lab.policies import make_policy
from evenhand.lab.store import Columns
from evenhand.metrics import MetricLearner

ROUNDING = 1e-6
"""A distance this little outside its ends is not outside: they come from linear programmes."""


def measure(metric: MetricLearner, contexts: NDArray[np.float64], A: NDArray[np.float64]) -> dict[str, float]:
    """How far `metric` is from A (r, d) on the pairs of `contexts` (k, d), and in the norm of its matrix.

    pair_error: mean of |d-hat - d|. matrix_error: ||G-hat - G||_F / ||G||_F. width, coverage: how far the ends of a
    distance lie apart, and the share of distances between them.
    """
    G = A.T @ A
    pairs = np.triu_indices(len(contexts), 1)
    truth = MahalanobisAuditor(A).distances(contexts)[pairs]
    guess, lower, upper = (table[pairs] for table in metric.distances(contexts))
    inside = (lower - ROUNDING <= truth) & (truth <= upper + ROUNDING)
    return {
        "pair_error": float(np.mean(np.abs(guess - truth))),
        "matrix_error": float(np.linalg.norm(metric.matrix() - G) / max(float(np.linalg.norm(G)), 1e-12)),
        "width": float(np.mean(upper - lower)),
        "coverage": float(np.mean(inside)),
    }


def recovery_run(*, policy: str, d: int, k: int, rounds: int, epsilon: float, seed: int) -> Columns:
    """Play in the standard world and measure at checkpoints, before the round's review teaches anything."""
    truth, luck, own = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(3))
    world = make_world("sphere", n_features=d, n_candidates=k, seed=truth)
    bandit = make_policy(policy, Facts(theta=world.theta, A=world.A, rounds=rounds, epsilon=epsilon), own)
    if not isinstance(bandit, FairBandit):
        raise InvalidInput(f"policy is {policy!r}; allowed are those that learn a metric, as 'evenhand' does")
    wanted = checkpoints(rounds)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentReviews)  # counted instead
        for number, contexts in enumerate(_rounds(bandit, world, rounds, luck), start=1):
            if number in wanted:
                so_far = {"round": float(number), "conflicts": float(bandit.conflicts)}
                rows.append(so_far | measure(bandit.metric, contexts, world.A))
    return {name: [row[name] for row in rows] for name in rows[0]}


def _rounds(bandit: FairBandit, world: FairEnvironment, rounds: int, luck: Seed) -> Iterator[NDArray[np.float64]]:
    """The candidates of each round, handed out before the bandit learns from them."""
    auditor = MahalanobisAuditor(world.A)
    contexts, _ = world.reset(seed=luck)
    for _ in range(rounds):
        decision = bandit.decide(contexts)
        yield decision.contexts
        bandit.learn(decision, rewards=world.settle(decision.chosen), review=auditor.review(decision))
        contexts = world.advance()
