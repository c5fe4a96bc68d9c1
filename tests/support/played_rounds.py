"""Rounds in which a learner's guesses are played and judged by a true metric, and metrics to judge by."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evenhand.metrics.projected_volume import ProjectedVolume
from evenhand.metrics.verdicts import Pairs, Verdicts
from evenhand.records.decision import PROBABILITY_TOLERANCE

Floats = NDArray[np.float64]


@dataclass
class World:
    """A true metric, and rounds in which some pairs are played at the learner's guess."""

    G: Floats
    seed: int = 0
    radius: float = 1.0
    n_candidates: int = 5
    n_pairs: int = 3
    choices: int = 1
    mistakes: list[int] = field(default_factory=list)
    conflicts: int = 0

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def contexts(self) -> Floats:
        """Candidates on a sphere."""
        x = self.rng.standard_normal((self.n_candidates, len(self.G)))
        return np.asarray(self.radius * x / np.linalg.norm(x, axis=1, keepdims=True))

    def squared(self, pairs: Pairs) -> Floats:
        """The true squared distances."""
        return np.asarray(np.sum((pairs.differences @ self.G) * pairs.differences, axis=1))

    def hardest(self, learner: ProjectedVolume) -> Pairs:
        """Of several rounds the one on which the learner errs most, its worst pairs first."""
        rounds = [Pairs.of(self.contexts()) for _ in range(self.choices)]
        errors = [np.abs(np.clip(learner.guess(pairs), 0, 1) - np.clip(self.squared(pairs), 0, 1)) for pairs in rounds]
        worst = int(np.argmax([error.max() for error in errors]))
        order = np.argsort(-errors[worst]) if self.choices > 1 else self.rng.permutation(len(rounds[worst]))
        return rounds[worst].take(order[: self.n_pairs])

    def verdicts(self, learner: ProjectedVolume, pairs: Pairs) -> Verdicts:
        """Every pair at its guess, judged by the truth."""
        gaps = np.sqrt(np.clip(learner.guess(pairs), 0.0, 1.0))
        distances = np.sqrt(self.squared(pairs))
        self.mistakes.append(int(np.sum(np.abs(gaps - np.minimum(distances, 1.0)) > 0.01)))
        return Verdicts(pairs, gaps, gaps > distances + PROBABILITY_TOLERANCE, np.ones(len(pairs), dtype=np.bool_))

    def play(self, learner: ProjectedVolume, rounds: int, *, check_every: int = 1) -> None:
        """Rounds in which the ends must contain the truth, of the pairs played and of others."""
        for t in range(rounds):
            pairs = self.hardest(learner)
            learned = learner.learn(self.verdicts(learner, pairs))
            self.conflicts += len(learned.conflicts)
            if t % check_every == 0:
                self.check(learner, pairs)

    def check(self, learner: ProjectedVolume, pairs: Pairs) -> None:
        """The ends contain the truth."""
        low, high = learner.ends(pairs)
        truth = self.squared(pairs)
        assert np.all(low <= truth)
        assert np.all(truth <= high)


def full(d: int, norm: float = 0.7) -> Floats:
    """A metric of full rank."""
    A = np.random.default_rng(d).standard_normal((d, d))
    return np.asarray(A @ A.T * (norm / np.linalg.norm(A @ A.T)))


def rank_one(d: int) -> Floats:
    """A metric that sees one direction only."""
    v = np.random.default_rng(d).standard_normal(d)
    return np.asarray(0.7 * np.outer(v, v) / (v @ v))


def zero(d: int) -> Floats:
    """A metric to which all are alike."""
    return np.zeros((d, d))
