"""Made-up people: a score, a residual no feature explains, and ratings in five steps."""

from __future__ import annotations

import numpy as np

from evenhand._internal.arrays import Floats, Mask
from evenhand.metrics import Pairs, Ratings, Verdicts

TOLERANCE = 0.05


class MadeUpPerson:
    """Rates candidates in five steps; flags a pair whose gap exceeds the difference of the ratings and a tolerance."""

    def __init__(self, weights: Floats, residual: float = 0.5, seed: int = 0) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        self._residual, self._rng = residual, np.random.default_rng(seed)

    def ratings(self, contexts: Floats) -> Floats:
        """Scores of contexts (k, d), in 0, 1/4, ..., 1."""
        raw = contexts @ self.weights + self._residual * self._rng.normal(size=len(contexts))
        return np.clip(np.round(2.0 + raw), 0, 4) / 4.0

    def verdicts(self, n: int, rng: np.random.Generator, reviewer: str | None = None) -> Verdicts:
        """Verdicts on n pairs of two people each, at random gaps."""
        contexts = random_people(rng, 2 * n, len(self.weights))
        pairs = Pairs.named(contexts, np.arange(2 * n).reshape(n, 2))
        scores = self.ratings(contexts)
        gaps = rng.uniform(0.05, 0.9, n)
        unfair = gaps > np.abs(scores[::2] - scores[1::2]) + TOLERANCE
        return Verdicts(pairs, gaps, unfair, np.ones(n, np.bool_), reviewer)

    def rated(self, n: int, rng: np.random.Generator, reviewer: str | None = None) -> Ratings:
        """Ratings of n people."""
        contexts = random_people(rng, n, len(self.weights))
        return Ratings(contexts, self.ratings(contexts), TOLERANCE, reviewer)


def random_people(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Contexts of n people within the unit ball, (n, d)."""
    return np.asarray(rng.uniform(-1.0, 1.0, (n, d)) / np.sqrt(d))


def area_under_curve(chances: Floats, flags: Mask) -> float:
    """The probability that a flagged pair has a higher chance than one that is not."""
    order = np.argsort(np.argsort(chances, kind="stable"), kind="stable")
    n, total = int(flags.sum()), len(flags)
    return float((order[flags].sum() - n * (n - 1) / 2) / (n * (total - n)))


def log_loss(chances: Floats, flags: Mask) -> float:
    """The mean surprise about flags."""
    return float(-np.mean(np.log(np.where(flags, chances, 1.0 - chances))))
