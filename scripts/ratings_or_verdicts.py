"""What ratings teach beyond verdicts at the decision's gaps: `python -m scripts.ratings_or_verdicts [--seeds 8]`.

A simulated person rates candidates from 1 to 5 by a weighted sum of five features, rounded ("score"), or by that sum
and something that no feature shows ("residual"). Each round BayesPoint plays ten candidates and proposes three pairs,
whose candidates are rated. A pair is unfair if its gap exceeds the share of the scale between its ratings + 0.05. Ways
to learn the same ratings:

- pairs: as verdicts on the three pairs, at their gaps
- verdicts: as verdicts on all pairs of rated candidates, at their gaps
- ratings: as `Ratings.verdicts` does, with what would be unfair just above the acceptable gap
- brackets: and with what would be acceptable half a step below it

Printed are unfair pairs per round in the first and the last 100 of 300 rounds, and the share of the attainable gain in
the last 100, with standard errors over seeds. c is a factor on the distances played: it moves along the frontier.
"""

from __future__ import annotations

import argparse
import warnings
from unittest import mock

import numpy as np

from evenhand import FairBandit, Review, fair_distribution
from evenhand._internal.arrays import Floats
from evenhand.errors import InconsistentReviews, MisleadingReviewer
from evenhand.metrics import BayesPoint, Ratings, Verdicts
from evenhand.metrics.ratings import _joined, _unfair_above

ROUNDS, PART, CANDIDATES, FEATURES, PAIRS = 300, 100, 10, 5, 3
HALF_A_STEP = 0.125
RESIDUALS = {"score": 0.0, "residual": 0.1}


def with_brackets(ratings: Ratings) -> Verdicts:
    """The verdicts at the decision's gaps, unfair half a step above the acceptable gap, and fair half a step below."""
    gaps, n = ratings.acceptable_gaps, len(ratings.pairs)
    fair = Verdicts(ratings.pairs, gaps - HALF_A_STEP, np.zeros(n, np.bool_), np.ones(n, np.bool_), ratings.reviewer)
    unfair = _unfair_above(ratings.pairs, gaps + HALF_A_STEP, ratings.reviewer)
    return _joined(ratings.implied, unfair, fair.take(gaps > HALF_A_STEP))


class Person:
    """Rates by a weighted sum, rounded to whole numbers from 1 to 5."""

    def __init__(self, residual: float, rng: np.random.Generator) -> None:
        weights = rng.normal(size=FEATURES)
        self.weights, self.residual, self.rng = 0.6 * weights / np.linalg.norm(weights), residual, rng

    def rate(self, contexts: Floats) -> Floats:
        """A rating of each candidate, (k,)."""
        score = 0.5 + contexts @ self.weights + self.residual * self.rng.normal(size=len(contexts))
        return np.asarray(np.clip(np.rint(4 * score), 0, 4) + 1)


def play(way: str, residual: float, *, error: float | None, seed: int) -> tuple[float, float, float]:
    """Unfair pairs per round at first and at last, and the share of the attainable gain at last."""
    rng = np.random.default_rng(seed)
    person, theta = Person(residual, rng), rng.normal(size=FEATURES)
    theta /= np.linalg.norm(theta)
    bandit = FairBandit(FEATURES, seed=seed, reviewer_error=error, epsilon=0.05)
    unfair, gains, attainable = [], [], []
    first, second = np.triu_indices(CANDIDATES, 1)
    for _ in range(ROUNDS):
        contexts = rng.normal(size=(CANDIDATES, FEATURES))
        contexts *= rng.uniform(0.3, 1, (CANDIDATES, 1)) / np.linalg.norm(contexts, axis=1, keepdims=True)
        ratings = person.rate(contexts)
        decision = bandit.decide(contexts)
        p, rewards = decision.probabilities, contexts @ theta
        acceptable = (np.abs(ratings[:, None] - ratings) / 4 + 0.05) * (1 - np.eye(CANDIDATES))
        unfair.append(np.sum(np.abs(p[first] - p[second]) > acceptable[first, second] + 1e-9))
        gains.append(p @ rewards - rewards.mean())
        attainable.append(fair_distribution(rewards, acceptable, capacity=1).probabilities @ rewards - rewards.mean())
        proposed = {pair.pair for pair in bandit.pairs_to_review(decision, PAIRS)}
        review = Review.ratings({i: float(ratings[i]) for pair in proposed for i in pair}) if proposed else None
        if review is not None and way in ("pairs", "verdicts"):
            review = review.as_verdicts(p)
            if way == "pairs":
                review = Review.partial([q for q in review.unfair if q in proposed], proposed - set(review.unfair))
        outcomes = {i: float(rewards[i] + 0.1 * rng.normal()) for i in decision.chosen}
        bandit.learn(decision, rewards=outcomes, review=review)
    late = float(np.sum(gains[-PART:]) / np.sum(attainable[-PART:]))
    return float(np.mean(unfair[:PART])), float(np.mean(unfair[-PART:])), late


def measure(way: str, residual: float, *, c: float, error: float | None, seeds: int) -> str:
    """A line of the table."""
    played, learn = BayesPoint.playable_distances, with_brackets if way == "brackets" else Ratings.verdicts
    with (
        mock.patch.object(BayesPoint, "playable_bounds", return_value=None),
        mock.patch.object(BayesPoint, "playable_distances", lambda self, contexts: c * played(self, contexts)),
        mock.patch.object(Ratings, "verdicts", learn),
        warnings.catch_warnings(),
    ):
        for kind in (InconsistentReviews, MisleadingReviewer):
            warnings.simplefilter("ignore", kind)
        runs = np.array([play(way, residual, error=error, seed=seed) for seed in range(seeds)])
    mean, se = runs.mean(axis=0), runs.std(axis=0, ddof=1) / np.sqrt(seeds)
    return " | ".join(f"{m:.2f} ({s:.2f})" for m, s in zip(mean, se, strict=True))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8)
    seeds = parser.parse_args().seeds
    print("person | learned as | c | reviewer_error | unfair at first | unfair at last | gain at last")
    ways = [("pairs", 1.0), ("verdicts", 1.0), ("ratings", 1.0), ("ratings", 1.3), ("brackets", 1.0), ("brackets", 0.2)]
    for person, residual in RESIDUALS.items():
        for error in (1e-3, None):
            for way, c in ways:
                line = measure(way, residual, c=c, error=error, seeds=seeds)
                print(f"{person} | {way} | {c} | {error} | {line}", flush=True)


if __name__ == "__main__":
    main()
