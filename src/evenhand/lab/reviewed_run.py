"""The run of experiments on reviewers: one policy in one world, reviewed by whom a case names."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from evenhand._internal.randomness import Seed
from evenhand.bandit import FairBandit
from evenhand.baselines import Facts, Policy
from evenhand.environments import make_world
from evenhand.errors import InconsistentReviews, MisleadingReviewer
from evenhand.lab.curve import Curve
from evenhand.lab.play import decisions
from evenhand.lab.policies import make_policy
from evenhand.lab.reviewers import PANELS, ReviewerSetting
from evenhand.lab.store import Columns
from evenhand.metrics import ReviewerReport

TOLD = 1e-3
"""What FairBandit takes a reviewer's error rate to be, unless said otherwise."""


def reviewed_run(
    *,
    policy: str,
    d: int,
    k: int,
    rounds: int,
    epsilon: float,
    seed: int,
    world: str = "sphere",
    norm: float = 0.7,
    reveal_at: int | None = None,
    reviewer_error: float | None = TOLD,
    target_unfair_share: float | None = None,
    max_unfair_rounds: int | None = None,
    **reviewer: Any,
) -> Columns:
    """Play `policy` under a reviewer and keep its curve; unfair is what the truth calls so, whatever she says.

    policy: "evenhand" is FairBandit with the three settings that have its names; any other of POLICIES takes none of
    them. reviewer: the fields of ReviewerSetting. The truth is the world's metric, unless she follows another distance.
    Streams are those of `standard_run`, and one more for the reviewer: all who play meet the same candidates and luck.

    Beside the curve, of the whole run: `conflicts`, verdicts not believed; `lies_told`; and what is known of reviewers
    at last, `found_rate` and `found_out` (misleads), for members of a panel `found_rate_NAME` and `found_out_NAME`.

    >>> shape = {"d": 2, "k": 3, "rounds": 8, "epsilon": 0.05, "seed": 0}
    >>> curve = reviewed_run(policy="evenhand", **shape, shows="proposed pairs", wrong=0.1, reviewer_error=None)
    >>> curve["round"][-1], 0 < curve["found_rate"][-1] < 0.5
    (8.0, True)
    """
    truth, luck, own, chance = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(4))
    extra: dict[str, Any] = {} if reveal_at is None else {"reveal_at": (reveal_at,)}
    place = make_world(world, n_candidates=k, n_features=d, norm=norm, seed=truth, **extra)
    facts = Facts(theta=place.theta, A=place.A, rounds=rounds, epsilon=epsilon)
    promises = {"target_unfair_share": target_unfair_share, "max_unfair_rounds": max_unfair_rounds}
    player = _player(policy, facts, own, reviewer_error=reviewer_error, **promises)
    auditor, known = ReviewerSetting(**reviewer).made(place.A, player, chance)
    curve = Curve(epsilon, rounds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentReviews)  # counted instead
        warnings.simplefilter("ignore", MisleadingReviewer)
        for decision, reviews in decisions(player, place, auditor, rounds=rounds, seed=luck):
            curve.add(decision, place.expected_rewards(decision.contexts), known, reviews)
    columns = curve.columns()
    ends = {"conflicts": float(getattr(player, "conflicts", 0)), "lies_told": float(getattr(auditor, "lies_told", 0))}
    ends |= _found(player, reviewer.get("panel"))
    return columns | {name: [value] * len(columns["round"]) for name, value in ends.items()}


def _player(policy: str, facts: Facts, seed: Seed, **settings: Any) -> Policy:
    if policy == "evenhand":
        return FairBandit(facts.n_features, capacity=facts.capacity, epsilon=facts.epsilon, seed=seed, **settings)
    return make_policy(policy, facts, seed)


def _found(player: Policy, panel: str | None) -> dict[str, float]:
    """What is known of the reviewers at last; not a number where nothing is."""
    reports: dict[str | None, ReviewerReport] = player.reviewers() if isinstance(player, FairBandit) else {}
    names: list[str | None] = [None] if panel is None else list(PANELS[panel])
    ends = {}
    for name in names:
        of, report = "" if name is None else f"_{name}", reports.get(name)
        ends[f"found_rate{of}"] = float("nan") if report is None else report.error_rate
        ends[f"found_out{of}"] = float(report is not None and report.misleads)
    return ends
