"""The run most experiments are made of: one policy in one world, a complete review of every decision."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from evenhand.auditors import MahalanobisAuditor
from evenhand.baselines import Facts
from evenhand.environments import make_world
from evenhand.errors import InconsistentReviews
from evenhand.lab.curve import Curve
from evenhand.lab.play import decisions
from evenhand.lab.policies import make_policy
from evenhand.lab.store import Columns


def standard_run(
    *,
    policy: str,
    d: int,
    k: int,
    rounds: int,
    epsilon: float,
    seed: int,
    world: str = "sphere",
    metric: str = "full",
    norm: float = 0.7,
    reward: str = "gaussian",
    capacity: int | None = 1,
    reveal_at: int | None = None,
) -> Columns:
    """Play `policy` and keep its curve. The seed settles the truth, the candidates, their luck and the draws.

    Streams are separate, so every policy with the same seed meets the same truth, candidates and luck.
    reveal_at: the round at which "direction-hider" shows what it hid. "lending" has a truth of its own; of d, metric
    and norm it takes none. The column `conflicts` has the whole run's number of verdicts that were not believed.

    >>> curve = standard_run(policy="equal-probabilities", d=2, k=3, rounds=8, epsilon=0.01, seed=0)
    >>> curve["round"][-1], curve["unfair_pairs"][-1]
    (8.0, 0.0)
    """
    truth, luck, own = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(3))
    shape: dict[str, Any] = {} if world == "lending" else {"n_features": d, "metric": metric, "norm": norm}
    extra: dict[str, Any] = {} if reveal_at is None else {"reveal_at": (reveal_at,)}
    place = make_world(world, n_candidates=k, reward=reward, seed=truth, **shape, **extra)
    facts = Facts(theta=place.theta, A=place.A, rounds=rounds, epsilon=epsilon, capacity=capacity)
    auditor, curve, player = MahalanobisAuditor(place.A), Curve(epsilon, rounds), make_policy(policy, facts, own)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentReviews)  # counted instead
        for decision, reviews in decisions(player, place, auditor, rounds=rounds, seed=luck):
            curve.add(decision, place.expected_rewards(decision.contexts), auditor, reviews)
    columns = curve.columns()
    return columns | {"conflicts": [float(getattr(player, "conflicts", 0))] * len(columns["round"])}
