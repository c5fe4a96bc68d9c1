"""Whole and partial profiles against each other: what an interview costs in answers, and what it gains in right ones.

    python -m benchmarks.profiles [--columns 8 16 46] [--questions 50 100 200] [--differ-in 0 3] [--seeds 5]

Two reviewers answer: one is exact, the other errs more often the more features differ (2% each, at most 40%). Printed
after so many questions: the unfair pairs that the interview expects live, those that were found in live decisions with
an exact reviewer of three pairs each, and the share of wrong answers. Seven minutes on one core.
"""

from __future__ import annotations

import argparse
import copy
import math
import time
import warnings
from dataclasses import dataclass

import numpy as np

import evenhand as eh
from evenhand._internal.arrays import Floats
from evenhand.metrics import BayesPoint, Pairs
from evenhand.metrics.features import Structure

EPSILON, MEDIAN = 0.02, 0.25  # The accuracy aimed at, and the median distance of two people.
PEOPLE, CANDIDATES, CAPACITY, REVIEWED = 500, 12, 3, 3
ERROR_OF_A_FEATURE, MOST_ERRORS = 0.02, 0.4
TABLES = {8: (4, (4,)), 16: (8, (4, 4)), 46: (16, (3, 3, 3, 4, 4, 4, 4, 5))}
"""Columns: so many numbers, and categories with so many levels."""


@dataclass(frozen=True)
class World:
    """People, the reviewer's metric and the rewards."""

    schema: eh.Schema
    contexts: Floats
    G: Floats
    theta: Floats

    def distance(self, difference: Floats) -> float:
        """Of two people, by the reviewer's metric."""
        return math.sqrt(max(float(difference @ self.G @ difference), 0.0))


@dataclass(frozen=True)
class Row:
    """Where an interview stands after so many questions."""

    questions: int
    expected: float
    found: int
    wrong: float
    seconds: float
    """Per question, answering included."""


def world_of(columns: int, seed: int) -> World:
    """A table of people with correlated numbers, and a metric: exponential weights, and four interactions."""
    rng, (n_numbers, levels) = np.random.default_rng([seed, 29]), TABLES[columns]
    features = [eh.Number(f"number {i}", low=-3, high=3, clip=True) for i in range(n_numbers)]
    kinds = [eh.Category(f"kind {i}", levels=tuple("abcde"[:n])) for i, n in enumerate(levels)]
    schema = eh.Schema([*features, *kinds], intercept=False)
    common = rng.normal(size=(PEOPLE, 1))
    numbers = 0.6 * common + 0.8 * rng.normal(size=(PEOPLE, n_numbers))
    rows = [[*row, *("abcde"[rng.integers(n)] for n in levels)] for row in numbers.tolist()]
    contexts, d = schema.encode(rows), columns
    weights = rng.exponential(size=len(schema.features))[[schema.names.index(x) for x in schema.block_labels]]
    A = np.diag(np.sqrt(weights))
    for _ in range(4):
        i, j = rng.choice(n_numbers, 2, replace=False)
        A[i, j] = 0.8 * rng.choice([-1, 1]) * A[j, j]
    G, theta = A.T @ A, rng.normal(size=d)
    pairs = Pairs.of(contexts[:100]).differences
    G *= MEDIAN**2 / np.median(np.sum((pairs @ G) * pairs, axis=1))
    return World(schema, contexts, G, theta / np.linalg.norm(theta))


def bandit_for(world: World, structure: Structure, seed: int) -> eh.FairBandit:
    """A bandit that learns the reviewer's error rate, as people have one."""
    d, labels = len(world.theta), world.schema.block_labels
    metric = BayesPoint(d, structure=structure, epsilon=EPSILON, error_rate=None, blocks=labels)
    return eh.FairBandit(d, capacity=CAPACITY, metric=metric, seed=seed)


def live(bandit: eh.FairBandit, world: World, decisions: int, seed: int) -> int:
    """Unfair pairs by more than epsilon in so many decisions of a copy, three pairs of each being reviewed exactly."""
    trial, rng, unfair = copy.deepcopy(bandit), np.random.default_rng([seed, 31]), 0
    trial.reseed(np.random.default_rng([seed, 37]))
    for _ in range(decisions):
        contexts = world.contexts[rng.choice(PEOPLE, CANDIDATES, replace=False)]
        decision = trial.decide(contexts)
        pairs, p = Pairs.of(contexts), decision.probabilities
        distances = np.sqrt(np.maximum(np.sum((pairs.differences @ world.G) * pairs.differences, axis=1), 0.0))
        gaps = np.abs(p[pairs.indices[:, 0]] - p[pairs.indices[:, 1]])
        unfair += int(np.sum(gaps > distances + EPSILON))
        is_unfair = dict(zip(pairs.names(), gaps > distances, strict=True))
        shown = [each.pair for each in trial.pairs_to_review(decision, REVIEWED)]
        review = eh.Review.partial(
            unfair=[pair for pair in shown if is_unfair[pair]], fair=[pair for pair in shown if not is_unfair[pair]]
        )
        outcomes = {c: float(np.clip(contexts[c] @ world.theta + 0.1 * rng.normal(), -1, 1)) for c in decision.chosen}
        trial.learn(decision, rewards=outcomes, review=review)
    return unfair


def hold(world: World, differ_in: int | None, errs: bool, options: argparse.Namespace, seed: int) -> list[Row]:
    """One interview, with live decisions after each of the numbers of questions."""
    bandit, rng = bandit_for(world, options.structure, seed), np.random.default_rng([seed, 41])
    settings = {"epsilon": EPSILON, "enough": 0.0, "n_pairs": options.pairs, "seed": seed, "differ_in": differ_in}
    interview = eh.Interview(bandit, world.contexts, features=world.schema, **settings)
    rows, wrong, seconds = [], 0, 0.0
    for n in range(1, max(options.questions) + 1):
        start = time.perf_counter()
        question = interview.question
        if question is not None:  # else all is known, and nothing changes any more
            first, second = interview.contexts_of(question)
            differing = sum(bool((first - second)[block].any()) for block in world.schema.blocks.values())
            slips = errs and rng.random() < min(ERROR_OF_A_FEATURE * differing, MOST_ERRORS)
            wrong += bool(slips)
            unfair = question.gap > world.distance(first - second)
            interview.answer("unfair" if unfair != slips else "acceptable")
        seconds += time.perf_counter() - start
        if n in options.questions:
            found = live(bandit, world, options.decisions, seed)
            rows.append(Row(n, interview.expected_unfair_pairs, found, wrong / len(interview.answers), seconds / n))
    return rows


def main() -> None:
    """Print a line for each size, reviewer, kind of profile and number of questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, nargs="+", default=[8, 16, 46], choices=TABLES)
    parser.add_argument("--questions", type=int, nargs="+", default=[50, 100, 200])
    parser.add_argument("--differ-in", type=int, nargs="+", default=[0, 3], help="0 for whole profiles")
    parser.add_argument("--decisions", type=int, default=100, help="live, after each number of questions")
    parser.add_argument("--pairs", type=int, default=500, help="from which a question is chosen")
    parser.add_argument("--structure", choices=("full", "diagonal", "auto"), default="auto")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", module="evenhand")
    for columns in options.columns:
        worlds = [world_of(columns, seed) for seed in range(options.seeds)]
        none = [live(bandit_for(w, options.structure, s), w, options.decisions, s) for s, w in enumerate(worlds)]
        print(f"{columns} columns, {len(worlds[0].schema.features)} features; no questions: found {none}", flush=True)
        for errs in (False, True):
            for differ_in in options.differ_in:
                runs = [hold(world, differ_in or None, errs, options, seed) for seed, world in enumerate(worlds)]
                for rows in zip(*runs, strict=True):
                    kind, who = f"differ in {differ_in}" if differ_in else "whole", "errs" if errs else "exact"
                    print(
                        f"{columns:3} {who:5} {kind:11} {rows[0].questions:4} questions: "
                        f"expected {np.mean([row.expected for row in rows]):6.1f}  "
                        f"found {np.mean([row.found for row in rows]):6.1f} {[row.found for row in rows]}  "
                        f"wrong {np.mean([row.wrong for row in rows]):4.0%}  "
                        f"{1e3 * np.mean([row.seconds for row in rows]):4.0f} ms",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
