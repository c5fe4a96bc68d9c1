"""Structures of the metric against each other: few answers, many unknowns, three kinds of truth.

    python -m benchmarks.structures [--features 16] [--candidates 12] [--capacity 3] [--pairs 3] [--decisions 150]
    python -m benchmarks.structures --applicants --candidates 50 --capacity 10 --decisions 200 --rank 3 --seeds 5
    python -m benchmarks.structures ... --structures full --choice uncertain
    python -m benchmarks.structures ... --structures auto --ratios 0.3

Candidates are uniform in a ball, or mortgage applicants with 46 columns. A reviewer answers on the pairs that the
bandit proposes, exactly or with some answers wrong. Printed for each truth and structure: pairs unfair by more than
0.01 over all decisions, of these the binding ones and those in the last third, the gain, and the time of deciding,
proposing and learning. The gain is the reward of those chosen beyond that of the average candidate, in deviations of
the candidates' rewards, a decision. `--choice uncertain` asks about the most uncertain tight pairs instead. `--ratios`:
the shapes of the prior that "auto" learns side by side, in place of the usual ones.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace

import numpy as np

import evenhand as eh
from benchmarks.applicants import mortgage_applicants
from evenhand._internal.arrays import Floats
from evenhand._internal.factorisations import eigh
from evenhand.metrics import BayesPoint, Pairs
from evenhand.metrics.features import Structure
from evenhand.records.decision import PROBABILITY_TOLERANCE, Pair

EPSILON = 0.01
TRUTHS = ("diagonal", "interactions", "low rank")
STRUCTURES: tuple[Structure, ...] = ("full", "diagonal", "auto")


def telling(bandit: eh.FairBandit, decision: eh.Decision, n: int, rng: np.random.Generator) -> list[Pair]:
    """The pairs that the bandit proposes."""
    return [each.pair for each in bandit.pairs_to_review(decision, n)]


def uncertain(bandit: eh.FairBandit, decision: eh.Decision, n: int, rng: np.random.Generator) -> list[Pair]:
    """The tight pairs whose squared distances are the most uncertain."""
    tight = np.array([pair for pair in decision.tight_pairs if decision.gap(*pair) > PROBABILITY_TOLERANCE], np.int64)
    pairs = Pairs.named(decision.contexts, tight.reshape(-1, 2))
    _, sd = bandit.metric.moments(pairs)
    return pairs.take(np.argsort(-sd, kind="stable")[:n]).names()


def by_lot(bandit: eh.FairBandit, decision: eh.Decision, n: int, rng: np.random.Generator) -> list[Pair]:
    """Tight pairs drawn at random."""
    tight = [pair for pair in decision.tight_pairs if decision.gap(*pair) > PROBABILITY_TOLERANCE]
    return [tight[row] for row in rng.permutation(len(tight))[:n]]


CHOICES = {"telling": telling, "uncertain": uncertain, "random": by_lot}


@dataclass(frozen=True)
class Size:
    """The size of a run."""

    features: int
    candidates: int
    capacity: int
    pairs: int
    decisions: int
    norm: float
    rank: int
    wrong: float
    caution: float
    choice: str
    ratios: tuple[float, ...] | None


@dataclass(frozen=True)
class Played:
    """What came of a run."""

    unfair: int
    binding: int
    """Unfair pairs that limit the probabilities."""
    late: int
    """Unfair pairs in the last third."""
    gain: float
    milliseconds: float
    """A decision, without the reviewer."""
    conflicts: int


def truth(kind: str, d: int, norm: float, rank: int, rng: np.random.Generator) -> Floats:
    """G of one kind, (d, d): diagonal; with four interactions of strength 0.8; or a dense one of low rank."""
    weights = rng.exponential(size=d) + (0.05 if kind == "interactions" else 0.0)
    G = np.diag(weights)
    if kind == "interactions":
        for _ in range(4):
            i, j = rng.choice(d, 2, replace=False)
            G[i, j] = G[j, i] = 0.8 * rng.choice([-1, 1]) * np.sqrt(weights[i] * weights[j])
        values, vectors = eigh(G)
        G = (vectors * np.maximum(values, 0.0)) @ vectors.T
    elif kind == "low rank":
        A = rng.normal(size=(rank, d))
        G = A.T @ A
    return np.asarray(G * norm / np.linalg.norm(G))


def in_ball(rng: np.random.Generator, k: int, d: int) -> Floats:
    """Uniform in the unit ball, (k, d)."""
    x = rng.normal(size=(k, d))
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True) * rng.uniform(size=(k, 1)) ** (1.0 / d))


def _learner(ratios: tuple[float, ...] | None) -> type[BayesPoint]:
    """BayesPoint with these shapes of the prior."""
    if ratios is None:
        return BayesPoint

    with_ratios = replace(BayesPoint.tuning, ratios=ratios, kernel_ratios=ratios)

    class WithRatios(BayesPoint):
        tuning = with_ratios

    return WithRatios


def play(structure: Structure, kind: str, size: Size, applicants: Floats | None, seed: int) -> Played:
    """One run."""
    rng, d = np.random.default_rng([seed, 17]), size.features
    G, theta = truth(kind, d, size.norm, size.rank, rng), rng.normal(size=d)
    theta /= np.linalg.norm(theta)
    rate = 1e-3 if size.wrong == 0.0 else None
    metric = _learner(size.ratios)(d, structure=structure, epsilon=EPSILON, error_rate=rate, caution=size.caution)
    choose, lots = CHOICES[size.choice], np.random.default_rng([seed, 18])
    bandit = eh.FairBandit(d, capacity=size.capacity, seed=seed, metric=metric)
    unfair, binding, gain, seconds = [], 0, 0.0, 0.0
    for _ in range(size.decisions):
        if applicants is None:
            contexts = in_ball(rng, size.candidates, d)
        else:
            contexts = applicants[rng.choice(len(applicants), size.candidates, replace=False)]
        start = time.perf_counter()
        decision = bandit.decide(contexts)
        proposed = choose(bandit, decision, size.pairs, lots)
        seconds += time.perf_counter() - start
        pairs, p = Pairs.of(contexts), decision.probabilities
        distances = np.sqrt(np.maximum(np.sum((pairs.differences @ G) * pairs.differences, axis=1), 0.0))
        gaps = np.abs(p[pairs.indices[:, 0]] - p[pairs.indices[:, 1]])
        unfair.append(int(np.sum(gaps > distances + EPSILON)))
        worth = contexts @ theta
        gain += float(p @ (worth - np.mean(worth)) / np.std(worth))
        is_unfair = dict(zip(pairs.names(), gaps > distances, strict=True))
        by_more = dict(zip(pairs.names(), gaps > distances + EPSILON, strict=True))
        binding += sum(bool(by_more[pair]) for pair in decision.tight_pairs)
        said = {pair: bool(is_unfair[pair]) != bool(rng.random() < size.wrong) for pair in proposed}
        outcomes = {c: float(np.clip(worth[c] + 0.1 * rng.normal(), -1, 1)) for c in decision.chosen}
        review = eh.Review.partial(unfair=[q for q in said if said[q]], fair=[q for q in said if not said[q]])
        start = time.perf_counter()
        bandit.learn(decision, rewards=outcomes, review=review)
        seconds += time.perf_counter() - start
    n, late = size.decisions, sum(unfair[-(size.decisions // 3) :])
    return Played(sum(unfair), binding, late, gain / n, 1e3 * seconds / n, bandit.conflicts)


def main() -> None:
    """Print a line for each truth and structure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usual = {"features": 16, "candidates": 12, "capacity": 3, "pairs": 3, "decisions": 150}
    for name, value in usual.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--applicants", action="store_true", help="real ones, in place of --features")
    parser.add_argument("--norm", type=float, default=1.0, help="of G, Frobenius")
    parser.add_argument("--rank", type=int, default=2, help="of the metric of low rank")
    parser.add_argument("--wrong", type=float, default=0.0, help="share of wrong answers, not known to the learner")
    parser.add_argument("--caution", type=float, default=0.1, help="the quantile to play")
    parser.add_argument("--choice", choices=CHOICES, default="telling", help="of the pairs to review")
    parser.add_argument("--ratios", type=float, nargs="+", help="deviations of off-diagonal entries, with auto")
    parser.add_argument("--first", type=int, default=0, help="the first seed; from 100 on to tune")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--structures", nargs="+", default=STRUCTURES)
    parser.add_argument("--truths", nargs="+", default=TRUTHS)
    options = vars(parser.parse_args())
    first, ratios = options.pop("first"), options.pop("ratios")
    options["ratios"] = None if ratios is None else tuple(ratios)
    seeds = range(first, first + options.pop("seeds"))
    structures, truths = options.pop("structures"), options.pop("truths")
    applicants = mortgage_applicants() if options.pop("applicants") else None
    size = Size(**options)
    if applicants is not None:
        size = replace(size, features=applicants.shape[1])
    for kind in truths:
        for structure in structures:
            runs = [play(structure, kind, size, applicants, seed) for seed in seeds]
            each = ", ".join(str(run.unfair) for run in runs)
            names = ("unfair", "binding", "late", "gain", "milliseconds")
            unfair, binding, late, gain, ms = (np.mean([getattr(run, name) for run in runs]) for name in names)
            conflicts = sum(run.conflicts for run in runs)
            print(
                f"{kind:12} {structure:8} unfair {unfair:6.0f} ({each}), binding {binding:5.0f}, late {late:5.0f}  "
                f"gain {gain:5.2f}  {ms:5.1f} ms  conflicts {conflicts}",
                flush=True,
            )


if __name__ == "__main__":
    main()
