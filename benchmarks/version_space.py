"""What VersionSpace costs, beside ProjectedVolume, and how far its points walk: `python -m benchmarks.version_space`.

k = 10, exact reviewer who reviews everything, ||G||_F = 0.7, epsilon 0.01. Processor time a round, on average up to
rounds 20, 50, 100 and so on; then the correlation of points with where they were so many sweeps before, mean over axes
and worst.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import evenhand as eh
from evenhand._internal.randomness import separate_streams
from evenhand.auditors import MahalanobisAuditor
from evenhand.environments import make_world
from evenhand.metrics import MetricLearner, ProjectedVolume, VersionSpace

EPSILON, K = 0.01, 10
AT = (2, 5, 10, 20, 50, 100, 200, 500)
"""Rounds up to which times are printed; the first round compiles and is left out."""
SWEEPS = (1, 2, 3, 4)


def main() -> None:
    """Print a line for each learner, size and number of rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=int, nargs="*", default=[5, 10])
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    for d in options.sizes:
        space = VersionSpace(d, epsilon=EPSILON, error_rate=0.0, seed=0)
        play(space, options.rounds)
        play(ProjectedVolume(d, epsilon=EPSILON, seed=0), options.rounds)


def play(metric: MetricLearner, rounds: int) -> None:
    """Print the processor time of a round, and at the end how far points walk."""
    d, (of_world, of_rounds, of_bandit) = metric.n_features, separate_streams(7, 3)
    world = make_world("sphere", n_features=d, n_candidates=K, norm=0.7, seed=of_world)
    bandit, auditor, seconds = eh.FairBandit(d, metric=metric, seed=of_bandit), MahalanobisAuditor(world.A), 0.0
    contexts, _ = world.reset(seed=of_rounds)
    for number in range(1, rounds + 1):
        started = time.process_time()
        decision = bandit.decide(contexts)
        bandit.learn(decision, rewards=world.settle(decision.chosen), review=auditor.review(decision))
        seconds += (time.process_time() - started) * (number > 1)
        contexts = world.advance()
        if number in AT or number == rounds > 1:
            print(
                f"{type(metric).__name__}, d = {d}: {1e3 * seconds / (number - 1):.1f} ms, {number} rounds", flush=True
            )
    if isinstance(bandit.metric, VersionSpace):
        _print_correlations(bandit.metric)


def _print_correlations(metric: VersionSpace) -> None:
    density, rng = metric._density, np.random.default_rng(0)
    points = density._walked(density.points, density.answers, rng, 20)
    to_axes = np.linalg.inv(density._axes(points))
    before = (points - points.mean(axis=0)) @ to_axes
    for sweeps in SWEEPS:
        after = density._walked(points, density.answers, rng, sweeps)
        after = (after - after.mean(axis=0)) @ to_axes
        found = np.mean(before * after, axis=0) / (np.std(before, axis=0) * np.std(after, axis=0))
        print(f"{sweeps} sweeps: correlation {np.mean(found):.2f}, at most {np.max(found):.2f}", flush=True)


if __name__ == "__main__":
    main()
