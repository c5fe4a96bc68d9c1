"""Structures of the metric against each other: few answers, many unknowns, three kinds of truth.

    python -m benchmarks.structures [--features 16] [--candidates 12] [--capacity 3] [--pairs 3] [--decisions 150]

An exact reviewer answers on the pairs that the bandit proposes. Printed for each truth and structure: unfair pairs by
more than 0.01 over all decisions, the reward, and the time of deciding, proposing and learning.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np

import evenhand as eh
from evenhand._internal.arrays import Floats
from evenhand._internal.factorisations import eigh
from evenhand.metrics import BayesPoint, Pairs
from evenhand.metrics.features import Structure

EPSILON = 0.01
TRUTHS = ("diagonal", "interactions", "rank2")
STRUCTURES: tuple[Structure, ...] = ("full", "diagonal", "auto")


@dataclass(frozen=True)
class Size:
    """The size of a run."""

    features: int
    candidates: int
    capacity: int
    pairs: int
    decisions: int
    norm: float


@dataclass(frozen=True)
class Played:
    """What came of a run."""

    unfair: int
    reward: float
    milliseconds: float
    """A decision, without the reviewer."""
    conflicts: int


def truth(kind: str, d: int, norm: float, rng: np.random.Generator) -> Floats:
    """G of one kind, (d, d): diagonal; with four interactions of strength 0.8; or a dense one of rank 2."""
    weights = rng.exponential(size=d) + (0.05 if kind == "interactions" else 0.0)
    G = np.diag(weights)
    if kind == "interactions":
        for _ in range(4):
            i, j = rng.choice(d, 2, replace=False)
            G[i, j] = G[j, i] = 0.8 * rng.choice([-1, 1]) * np.sqrt(weights[i] * weights[j])
        values, vectors = eigh(G)
        G = (vectors * np.maximum(values, 0.0)) @ vectors.T
    elif kind == "rank2":
        A = rng.normal(size=(2, d))
        G = A.T @ A
    return np.asarray(G * norm / np.linalg.norm(G))


def in_ball(rng: np.random.Generator, k: int, d: int) -> Floats:
    """Uniform in the unit ball, (k, d)."""
    x = rng.normal(size=(k, d))
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True) * rng.uniform(size=(k, 1)) ** (1.0 / d))


def play(structure: Structure, kind: str, size: Size, seed: int) -> Played:
    """One run."""
    rng, d = np.random.default_rng([seed, 17]), size.features
    G, theta = truth(kind, d, size.norm, rng), rng.normal(size=d)
    theta /= np.linalg.norm(theta)
    metric = BayesPoint(d, structure=structure, epsilon=EPSILON)
    bandit = eh.FairBandit(d, capacity=size.capacity, seed=seed, metric=metric)
    unfair, reward, seconds = 0, 0.0, 0.0
    for _ in range(size.decisions):
        contexts = in_ball(rng, size.candidates, d)
        start = time.perf_counter()
        decision = bandit.decide(contexts)
        proposed = [each.pair for each in bandit.pairs_to_review(decision, size.pairs)]
        seconds += time.perf_counter() - start
        pairs, p = Pairs.of(contexts), decision.probabilities
        distances = np.sqrt(np.maximum(np.sum((pairs.differences @ G) * pairs.differences, axis=1), 0.0))
        gaps = np.abs(p[pairs.indices[:, 0]] - p[pairs.indices[:, 1]])
        unfair += int(np.sum(gaps > distances + EPSILON))
        reward += float(p @ contexts @ theta)
        is_unfair = dict(zip(pairs.names(), gaps > distances, strict=True))
        flagged = [pair for pair in proposed if is_unfair[pair]]
        fair = [pair for pair in proposed if not is_unfair[pair]]
        outcomes = {c: float(np.clip(contexts[c] @ theta + 0.1 * rng.normal(), -1, 1)) for c in decision.chosen}
        review = eh.Review.partial(unfair=flagged, fair=fair)
        start = time.perf_counter()
        bandit.learn(decision, rewards=outcomes, review=review)
        seconds += time.perf_counter() - start
    return Played(unfair, reward, 1e3 * seconds / size.decisions, bandit.conflicts)


def main() -> None:
    """Print a line for each truth and structure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usual = {"features": 16, "candidates": 12, "capacity": 3, "pairs": 3, "decisions": 150}
    for name, value in usual.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--norm", type=float, default=1.0, help="of G, Frobenius")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--structures", nargs="+", default=STRUCTURES)
    options = vars(parser.parse_args())
    seeds, structures = range(options.pop("seeds")), options.pop("structures")
    size = Size(**options)
    for kind in TRUTHS:
        for structure in structures:
            runs = [play(structure, kind, size, seed) for seed in seeds]
            each = ", ".join(str(run.unfair) for run in runs)
            unfair, reward, ms = (np.mean([getattr(r, n) for r in runs]) for n in ("unfair", "reward", "milliseconds"))
            conflicts = sum(run.conflicts for run in runs)
            print(
                f"{kind:12} {structure:8} unfair {unfair:6.0f} ({each})  reward {reward:5.1f}  {ms:5.1f} ms  "
                f"conflicts {conflicts}",
                flush=True,
            )


if __name__ == "__main__":
    main()
