"""Small simulated desks for tests of the bandit."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.auditors import MahalanobisAuditor
from evenhand.baselines import Policy
from evenhand.environments import LinearEnvironment, random_direction, random_metric
from evenhand.lab import Account, play


def simulate(
    policy: Policy, *, d: int, k: int, rounds: int, seed: int, epsilon: float = 0.01, rank: int | None = None
) -> Account:
    """Play a policy in the standard world: a random theta of norm 1, a random metric with ||G||_F = 0.7."""
    theta, A = standard_world(d, seed=seed, rank=rank)
    world = LinearEnvironment(theta, n_candidates=k)
    return play(
        policy, world, MahalanobisAuditor(A), rounds=rounds, epsilon=epsilon, seed=np.random.default_rng([seed, 99])
    )


def standard_world(d: int, *, seed: int, rank: int | None = None) -> tuple[Any, Any]:
    """Theta and A of the standard world of that seed."""
    theta_seed, metric_seed = np.random.SeedSequence(seed).spawn(2)
    theta = random_direction(d, seed=np.random.default_rng(theta_seed))
    return theta, random_metric(d, rank=rank, seed=np.random.default_rng(metric_seed))


def same(a: Any, b: Any) -> bool:
    """Whether two nested records of arrays and numbers are equal to the bit."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
    return bool(a == b)
