"""A world with known truth: past decisions drawn with known chances, binary outcomes, and a policy to evaluate."""

from __future__ import annotations

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.allocation import draw
from evenhand.history import PastLog
from evenhand.history._padded import PaddedRounds
from evenhand.history.inclusion import included

CANDIDATES, FEATURES = 10, 4
OLD, NEW = np.array([1.0, -0.5, 0.0, 0.5]), np.array([-1.0, 1.0, 1.0, 0.0])
"""What the past and the policy look at."""


def people(n: int, rng: np.random.Generator) -> Floats:
    """Contexts of n rounds, (n * CANDIDATES, FEATURES), of norm <= 1."""
    contexts = rng.normal(size=(n * CANDIDATES, FEATURES))
    return np.asarray(contexts / np.maximum(1.0, np.linalg.norm(contexts, axis=1, keepdims=True)))


def chances(contexts: Floats, taste: Floats, capacity: int) -> Floats:
    """Who is chosen with which probability, (N,)."""
    n = len(contexts) // CANDIDATES
    rounds = PaddedRounds.of(np.arange(0, n * CANDIDATES + 1, CANDIDATES))
    return rounds.flat(included(rounds.table(contexts @ taste), rounds, np.full(n, capacity))[0])


def expected_outcome(contexts: Floats) -> Floats:
    """The probability of outcome 1: not linear in the features, so that models of outcomes are wrong."""
    scores = contexts @ np.array([1.5, -0.9, 0.6, 0.3]) + contexts[:, 0] * contexts[:, 1]
    return np.asarray(1.0 / (1.0 + np.exp(-scores)))


def simulated_log(n: int, capacity: int, rng: np.random.Generator) -> PastLog:
    """n rounds that were decided with recorded chances."""
    contexts = people(n, rng)
    b = chances(contexts, OLD, capacity)
    chosen = np.zeros(len(contexts), dtype=np.bool_)
    for start in range(0, len(contexts), CANDIDATES):
        chosen[[start + i for i in draw(b[start : start + CANDIDATES], capacity, rng)]] = True
    happened = (rng.random(len(contexts)) < expected_outcome(contexts)).astype(np.float64)
    starts = np.arange(0, len(contexts) + 1, CANDIDATES)
    names = tuple(map(str, range(n)))
    ids = tuple(f"{name}/{i}" for name in names for i in range(CANDIDATES))
    return PastLog(contexts, starts, chosen, np.where(chosen, happened, np.nan), b, np.full(n, capacity), ids, names)


def true_value(capacity: int, rng: np.random.Generator, rounds: int = 400_000, part: int = 50_000) -> float:
    """What the policy NEW earns per round: the mean over many rounds, of expected outcomes."""
    total = 0.0
    for _ in range(rounds // part):
        contexts = people(part, rng)
        total += float(chances(contexts, NEW, capacity) @ expected_outcome(contexts))
    return total / rounds
