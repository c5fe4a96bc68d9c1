"""Made-up reviewers for checks of the fit: people who rate in five steps, and those who follow a metric and slip."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

import evenhand as eh
from evenhand._internal.arrays import Floats, Indices, Mask

Flags = Callable[[Indices, Indices, Floats], Mask]
"""Who was shown, pairs of them, gaps -> which pairs are flagged."""


class Rater:
    """Rates 200 candidates from 0 to 4, by a score of their features and a residual that no feature explains.

    A gap is unfair if it exceeds the difference of the two ratings, as a share of the scale, by more than 0.05.
    """

    def __init__(self, seed: int, *, n_features: int = 4, residual: float = 1.0) -> None:
        rng = np.random.default_rng(seed)
        raw = rng.normal(size=(200, n_features))
        self.contexts = raw / (np.linalg.norm(raw, axis=1, keepdims=True) + 1e-9)
        score = self.contexts @ rng.normal(size=n_features)
        score = score / score.std() + residual * rng.normal(size=200)
        self.ratings = np.searchsorted(np.quantile(score, [0.2, 0.4, 0.6, 0.8]), score)

    def flags(self, shown: Indices, pairs: Indices, gaps: Floats) -> Mask:
        """Which of these pairs of candidates are flagged."""
        first, second = self.ratings[shown[pairs[:, 0]]], self.ratings[shown[pairs[:, 1]]]
        return np.asarray(gaps > np.abs(first - second) / 4.0 + 0.05)


class Slipping:
    """Follows a Mahalanobis metric on 200 candidates, and errs in this share of answers."""

    def __init__(self, seed: int, rate: float, *, n_features: int = 4) -> None:
        self._rng, self.rate = np.random.default_rng(seed), rate
        raw = self._rng.normal(size=(200, n_features))
        self.contexts = raw / (np.linalg.norm(raw, axis=1, keepdims=True) + 1e-9)
        self.A = eh.environments.truths.random_metric(n_features, seed=self._rng)

    def flags(self, shown: Indices, pairs: Indices, gaps: Floats) -> Mask:
        """Which of these pairs of candidates are flagged."""
        z = self.contexts[shown[pairs[:, 0]]] - self.contexts[shown[pairs[:, 1]]]
        unfair = gaps > np.linalg.norm(z @ self.A.T, axis=1)
        return np.asarray(unfair ^ (self._rng.random(len(gaps)) < self.rate))


def play(
    bandit: eh.FairBandit, reviewer: Rater | Slipping, rounds: int, *, seed: int = 0, per_round: int = 3, k: int = 8
) -> list[type[Warning]]:
    """Let the reviewer answer on the proposed pairs of each round; return the categories of warnings."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        for _ in range(rounds):
            shown = rng.choice(len(reviewer.contexts), k, replace=False)
            decision = bandit.decide(reviewer.contexts[shown])
            pairs = np.array([pair.pair for pair in bandit.pairs_to_review(decision, per_round)], int).reshape(-1, 2)
            gaps = np.array([decision.gap(int(i), int(j)) for i, j in pairs])
            flagged = reviewer.flags(shown, pairs, gaps)
            names = [(int(i), int(j)) for i, j in pairs]
            review = eh.Review.partial(
                unfair=[pair for pair, bad in zip(names, flagged, strict=True) if bad],
                fair=[pair for pair, bad in zip(names, flagged, strict=True) if not bad],
            )
            rewards = {i: float(reviewer.contexts[shown[i], 0]) for i in decision.chosen}
            bandit.learn(decision, rewards=rewards, review=review)
    return [warning.category for warning in caught]
