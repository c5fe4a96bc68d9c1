"""Coba's own experiment: its learners beside ours on three of its environments and on a world of evenhand.

python -m scripts.coba_experiment [--rounds 1000] [--seeds 5] [--metric full]

Prints the two tables of docs/adapters.md: mean reward, and unfair pairs per 100 rounds in the second half of the
rounds, with standard errors over seeds.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from coba import BanditEpsilonLearner, Experiment, LinUCBLearner, RandomLearner, VowpalEpsilonLearner
from coba.environments import KernelSyntheticSimulation, LinearSyntheticSimulation, NeighborsSyntheticSimulation

from evenhand.adapters.coba_learner import CobaLearner
from evenhand.adapters.coba_watched import WatchedLearner
from evenhand.adapters.coba_world import WorldSimulation
from evenhand.auditors import MahalanobisAuditor
from evenhand.baselines import ignore_fairness
from evenhand.environments import METRIC_KINDS, metric_of_kind

TERMS = (1, "a", "xa")
SHAPE: dict[str, Any] = {"n_actions": 5, "n_context_features": 2, "n_action_features": 3}
NORM = 2.0
"""The length that counts as 1: about the longest vector of features in these environments."""

EPSILON = 0.05
"""Unfairness up to this does not matter, to the reviewed learner and in the table."""

ENVIRONMENTS: dict[str, Callable[[int, int], Any]] = {
    "linear": lambda rounds, seed: LinearSyntheticSimulation(rounds, **SHAPE, seed=seed),
    "neighbors": lambda rounds, seed: NeighborsSyntheticSimulation(rounds, **SHAPE, seed=seed),
    "kernel": lambda rounds, seed: KernelSyntheticSimulation(rounds, **SHAPE, seed=seed),
    "lending": lambda rounds, seed: WorldSimulation(rounds, "lending", seed=seed),
}


def hidden_metric(kind: str, n_features: int) -> MahalanobisAuditor:
    """The reviewer's metric, which nobody is told, of the default size of our worlds."""
    return MahalanobisAuditor(metric_of_kind(kind, n_features, norm=0.7, seed=0))


def learners(features: Sequence[str | int], norm: float, truth: Callable[[int], Any]) -> dict[str, Any]:
    """Coba's learners and ours, every one of them watched."""
    ours: dict[str, Any] = {"features": features, "norm": norm}
    plain = {
        "Coba: random": RandomLearner(),
        "Coba: epsilon-greedy": BanditEpsilonLearner(0.05),
        "Coba: LinUCB": LinUCBLearner(1, list(features)),
        "Coba: VW epsilon-greedy": VowpalEpsilonLearner(0.05, features=list(features)),
        "evenhand: ignore fairness": CobaLearner(ignore_fairness, **ours),
        "evenhand: not reviewed": CobaLearner(**ours),
        "evenhand: reviewed": CobaLearner(auditor=truth, epsilon=EPSILON, **ours),
    }
    return {
        name: WatchedLearner(learner, truth, features=features, norm=norm, epsilon=EPSILON)
        for name, learner in plain.items()
    }


def run(name: str, rounds: int, seeds: Sequence[int], metric: str) -> dict[str, list[tuple[float, float]]]:
    """For each learner (mean reward, unfair pairs per 100 later rounds) of every seed, by Coba's Experiment."""
    if name == "lending":
        world = WorldSimulation(1, "lending").make()
        named = learners(("a",), 1.0, partial(_auditor_of, world.A))
    else:
        named = learners(TERMS, NORM, partial(hidden_metric, metric))
    environments = [ENVIRONMENTS[name](rounds, seed) for seed in seeds]
    result = Experiment(environments, list(named.values())).run(quiet=True, processes=1)
    rows: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for row in result.interactions.to_dicts():
        rows[row["learner_id"], row["environment_id"]].append((row["reward"], row["unfair_pairs"]))
    found: dict[str, list[tuple[float, float]]] = {}
    for at, learner in enumerate(named):
        played = [np.array(rows[at, environment]) for environment in range(len(seeds))]
        found[learner] = [(float(run[:, 0].mean()), 100 * float(run[rounds // 2 :, 1].mean())) for run in played]
    return found


def _auditor_of(A: Any, n_features: int) -> MahalanobisAuditor:
    return MahalanobisAuditor(A)


def main() -> None:
    """Run all environments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--metric", default="full", choices=METRIC_KINDS, help="of the reviewer on Coba's environments")
    options = parser.parse_args()
    seeds = range(1, options.seeds + 1)
    tables = {name: run(name, options.rounds, seeds, options.metric) for name in ENVIRONMENTS}
    for column, (what, digits) in enumerate((("mean reward", 3), ("unfair pairs per 100 later rounds", 1))):
        print(f"\n| {what} | {' | '.join(tables)} |\n|---|" + "---|" * len(tables))
        for learner in next(iter(tables.values())):
            cells = [_cell(np.array(table[learner])[:, column], digits) for table in tables.values()]
            print(f"| {learner} | {' | '.join(cells)} |")


def _cell(values: Any, digits: int) -> str:
    """The mean over seeds, with its standard error."""
    return f"{values.mean():.{digits}f} ± {values.std(ddof=1) / len(values) ** 0.5:.{digits}f}"


if __name__ == "__main__":
    main()
