"""Decisions that an exact reviewer looked at, for evidence: played by a bandit, or made up near what is just fair."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from evenhand import Decision, FairBandit, Review
from evenhand.auditors import MahalanobisAuditor
from evenhand.certificates import Evidence
from evenhand.metrics import Pairs, Verdicts
from evenhand.metrics.features import MetricSpace, Structure
from evenhand.testing.metric_worlds import random_contexts
from tests.support.simulation import standard_world

Floats = NDArray[np.float64]
Reviewed = tuple[Decision, Review]


def _ball(rng: np.random.Generator, k: int, d: int) -> Floats:
    return random_contexts(rng, k, d) * rng.uniform(0.0, 1.0, (k, 1))


def _twins(rng: np.random.Generator, k: int, d: int) -> Floats:
    """All nearly the same, and some a little nearer than others."""
    return 0.9 * random_contexts(rng, 1, d) + 10.0 ** rng.uniform(-6, -2, (k, 1)) * random_contexts(rng, k, d)


def _lattice(rng: np.random.Generator, k: int, d: int) -> Floats:
    """Few places, so that differences repeat, and are parallel, to the bit."""
    return np.asarray(rng.integers(-2, 3, (k, d)) / (4.0 * d))


def _levels(rng: np.random.Generator, k: int, d: int) -> Floats:
    """A category: each candidate has one level, so all differences lie in a plane."""
    return 0.5 * np.eye(d)[rng.integers(0, d, k)]


def _lopsided(rng: np.random.Generator, k: int, d: int) -> Floats:
    """Features of very different size."""
    return random_contexts(rng, k, d) * 10.0 ** -np.arange(d)


CONTEXTS: dict[str, Callable[[np.random.Generator, int, int], Floats]] = {
    "sphere": random_contexts,
    "ball": _ball,
    "twins": _twins,
    "lattice": _lattice,
    "levels": _levels,
    "lopsided": _lopsided,
}


def made_up(A: Floats, kind: str, *, k: int, rounds: int, seed: int) -> Iterator[Reviewed]:
    """Decisions whose widest gap, relative to its distance, is from a fifth of what is fair to a third more."""
    rng, auditor = np.random.default_rng(seed), MahalanobisAuditor(A)
    for number in range(rounds):
        contexts = CONTEXTS[kind](rng, k, A.shape[1])
        probabilities = rng.uniform(0.0, 1.0, k) * (rng.uniform(size=k) < 0.8)
        gaps, distances = np.abs(probabilities[:, None] - probabilities[None, :]), auditor.distances(contexts)
        apart = distances > 1e-12
        widest = float(np.max(gaps[apart] / distances[apart], initial=1e-12))
        probabilities *= min(rng.choice([0.2, 0.6, 0.95, 1.0, 1.05, 1.3]) / widest, 1.0)
        decision = Decision(f"{kind}-{seed}-{number}", number, contexts, probabilities, (), None, np.zeros(k), ())
        yield decision, auditor.review(decision)


def played(
    d: int, k: int, rounds: int, *, seed: int, rank: int | None = None, epsilon: float | None = 0.01
) -> tuple[FairBandit, Floats, list[Reviewed]]:
    """A bandit in the standard world, the truth A, and all its decisions with their reviews."""
    theta, A = standard_world(d, seed=seed, rank=rank)
    rng, auditor = np.random.default_rng([seed, 1]), MahalanobisAuditor(A)
    bandit, history = FairBandit(d, epsilon=epsilon, seed=seed, reviewer_error=1e-3), []
    for _ in range(rounds):
        contexts = random_contexts(rng, k, d)
        decision = bandit.decide(contexts)
        review = auditor.review(decision)
        luck = 0.1 * rng.normal(size=k)
        bandit.learn(decision, rewards={i: theta @ contexts[i] + luck[i] for i in decision.chosen}, review=review)
        history.append((decision, review))
    return bandit, A, history


def evidence_of(history: list[Reviewed], d: int, structure: Structure = "full") -> Evidence:
    """The evidence from the reviews of all these decisions."""
    evidence = Evidence(MetricSpace(d, structure))
    for decision, review in history:
        evidence.update(Verdicts.of(decision, review), decision.id)
    return evidence


def evidence_from(*verdicts: tuple[list[float], float, bool], structure: Structure = "full") -> Evidence:
    """Evidence from differences with their gaps, and whether that was unfair."""
    evidence = Evidence(MetricSpace(len(verdicts[0][0]), structure))
    for number, (z, gap, unfair) in enumerate(verdicts):
        nothing = np.zeros(len(z))
        evidence.update(Verdicts.between(np.array(z), nothing, gap=gap, unfair=unfair), str(number))
    return evidence


def half(pairs: Pairs, gaps: Floats) -> Floats:
    """Nothing is known of any pair."""
    return np.full(len(gaps), 0.5)
