"""Rounds for metric learners to learn from: contexts, a true metric, and the verdicts of an exact reviewer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.metrics import MetricLearner, Pairs, Verdicts
from evenhand.records.decision import PROBABILITY_TOLERANCE


def random_contexts(rng: np.random.Generator, k: int, d: int) -> Floats:
    """k contexts, uniform on the unit sphere."""
    raw = rng.normal(size=(k, d))
    return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True))


def random_A(rng: np.random.Generator, d: int, *, rank: int | None = None, norm: float = 0.7) -> Floats:
    """A random (rank, d) matrix with ||A'A||_F = norm; rank 0 is the metric under which all are alike."""
    if rank == 0:
        return np.zeros((1, d))
    A = rng.normal(size=(rank or d, d))
    return np.asarray(A * np.sqrt(norm / np.linalg.norm(A.T @ A)))


def true_squares(pairs: Pairs, A: Floats) -> Floats:
    """The squared distances of pairs under A."""
    return np.asarray(np.sum((pairs.differences @ A.T) ** 2, axis=1))


def verdicts_at_the_guess(learner: MetricLearner, contexts: Floats, A: Floats, *, share: float = 1.0) -> Verdicts:
    """Every pair with a gap of `share` times its guessed distance, and the exact reviewer's verdicts."""
    pairs = Pairs.of(contexts)
    gaps = np.minimum(np.sqrt(np.maximum(learner.guess(pairs), 0.0)), 1.0) * share
    unfair = gaps > np.sqrt(true_squares(pairs, A)) + PROBABILITY_TOLERANCE
    return Verdicts(pairs, gaps, unfair, np.full(len(pairs), share == 1.0)).take(gaps > PROBABILITY_TOLERANCE)


def hardest_contexts(learner: MetricLearner, rng: np.random.Generator, A: Floats, *, k: int, tries: int = 30) -> Floats:
    """Of many context sets, the one where the learner's guess is most wrong: an adversary's choice."""
    sets = [random_contexts(rng, k, A.shape[1]) for _ in range(tries)]

    def error(contexts: Floats) -> float:
        pairs = Pairs.of(contexts)
        return float(np.max(np.abs(learner.guess(pairs) - true_squares(pairs, A))))

    return max(sets, key=error)


def played_rounds(learner: MetricLearner, A: Floats, *, n: int, k: int, seed: int, adversary: bool) -> Iterator[Floats]:
    """The contexts of n rounds, after each of which the learner learns from all verdicts."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        contexts = hardest_contexts(learner, rng, A, k=k) if adversary else random_contexts(rng, k, A.shape[1])
        yield contexts
        learner.learn(verdicts_at_the_guess(learner, contexts, A))
