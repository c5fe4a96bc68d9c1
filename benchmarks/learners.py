"""What each metric learner costs in unfair pairs, flags and regret: `python -m benchmarks.learners`.

d = k = 5, exact reviewer, contexts on the sphere, ||G||_F = 0.7, epsilon 0.01, unknown rewards; equal worlds for all.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import evenhand as eh
from evenhand.lab import Account, play

EPSILON = 0.01

CONTENDERS: dict[str, Callable[[int], eh.FairBandit]] = {
    "BayesPoint": lambda s: _with(eh.metrics.BayesPoint(5, epsilon=EPSILON), s),
    "BayesPoint, epsilon=None": lambda s: _with(eh.metrics.BayesPoint(5), s),
    "the default": lambda s: eh.FairBandit(5, epsilon=EPSILON, seed=s),
    "BayesPoint, caution 0.5": lambda s: _with(eh.metrics.BayesPoint(5, epsilon=EPSILON, caution=0.5), s),
    "BayesPoint, caution 0.02": lambda s: _with(eh.metrics.BayesPoint(5, epsilon=EPSILON, caution=0.02), s),
    "VersionSpace": lambda s: _with(eh.metrics.VersionSpace(5, epsilon=EPSILON, seed=s), s),
    "VersionSpace, error rate 0": lambda s: _with(
        eh.metrics.VersionSpace(5, epsilon=EPSILON, error_rate=0.0, seed=s), s
    ),
    "ProjectedVolume": lambda s: _with(eh.metrics.ProjectedVolume(5, epsilon=EPSILON, seed=s), s),
    "Ellipsoid": lambda s: _with(eh.metrics.Ellipsoid(5, epsilon=EPSILON), s),
    "the paper's form": lambda s: eh.paper.full(5, epsilon=EPSILON, seed=s),
}


def _with(metric: eh.metrics.MetricLearner, seed: int) -> eh.FairBandit:
    return eh.FairBandit(5, metric=metric, seed=seed)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3000)
    options = parser.parse_args()
    print("| learner | unfair pairs | flags of any size | last unfair round | regret | time a round, BayesPoint = 1 |")
    print("|---|---|---|---|---|---|")
    first = 0.0
    for name, make in CONTENDERS.items():
        started = time.perf_counter()
        accounts = [_run(make(seed), seed, options.rounds) for seed in range(options.seeds)]
        elapsed = time.perf_counter() - started
        first = first or elapsed
        pairs, flags, regret = (
            np.mean([np.sum(getattr(account, column)) for account in accounts])
            for column in ("unfair_pairs", "flagged_pairs", "regret")
        )
        last = max(account.last_unfair_round or 0 for account in accounts)
        print(f"| {name} | {pairs:.1f} | {flags:.0f} | {last} | {regret:.1f} | {elapsed / first:.1f} |", flush=True)


def _run(policy: eh.FairBandit, seed: int, rounds: int) -> Account:
    theta_rng, metric_rng, world_rng = (np.random.default_rng([seed, number]) for number in range(3))
    theta = eh.environments.random_direction(5, seed=theta_rng)
    A = eh.environments.random_metric(5, seed=metric_rng)
    world = eh.environments.LinearEnvironment(theta, n_candidates=5)
    return play(policy, world, eh.auditors.MahalanobisAuditor(A), rounds=rounds, epsilon=EPSILON, seed=world_rng)


if __name__ == "__main__":
    main()
