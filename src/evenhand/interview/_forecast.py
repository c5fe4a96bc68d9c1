"""What is still unknown, in bits, and the unfair pairs to expect live: by a formula, and in simulations."""

from __future__ import annotations

import copy
import math
import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from evenhand._internal.arrays import Floats
from evenhand._internal.independent_rows import independent_rows
from evenhand.bandit import FairBandit
from evenhand.errors import InconsistentReviews, MisleadingReviewer, NoMetricFits
from evenhand.interview.question import uncertainties
from evenhand.metrics import MetricLearner
from evenhand.metrics.verdicts import Pairs
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Review

KNOWN = 2.0  # A distance is known when this many standard deviations make no more than epsilon.

WASTE = 1.6
"""The ratio of unfair pairs to those of a learner that wastes no verdict.

Measured over 8 worlds each after 0 to 8 questions an unknown: 1.6 at d = k = 5 and epsilon 0.01, played cautiously or
at the median, 1.2 at epsilon 0.05, 1.4 with 15 candidates a round, 1.8 at d = 3, k = 4, 1.3 at d = 8, k = 10. The
pairs of a round are reviewed together, and their verdicts overlap.
"""

CHANCES = (0.01, 0.5)  # Limits on the assumed chance that a pair as played is unfair.
FAR = 8.0  # Standard deviations beyond which a Gaussian is negligible.
NODES = 256  # Nodes of the integral over x, evenly spaced in log x; the error is below a thousandth.


class Meter:
    """Measures on a fixed sample of pairs.

    A pair has log2(KNOWN sd / epsilon) bits to be learned, sd being the standard deviation of its distance. All pairs
    share one matrix, so together they have the mean bits of a pair times the number of independent pairs.

    Learning costs unfair pairs. While sd shrinks to zero, every pair played has H(p) bits of information, p being the
    chance that it is unfair as played; and it is unfair by more than epsilon with probability Phi(z - epsilon/sd), z
    the normal quantile of p. So for every independent pair there will be

        1/(H(p) ln 2) * integral of Phi(z - x) dx/x over x from epsilon/sd to infinity

    unfair pairs, times WASTE. At p = 1/10, the default, a bit costs 0.21 flags, at p = 1/2 it costs 0.5.
    """

    def __init__(self, metric: MetricLearner, pairs: Pairs, epsilon: float) -> None:
        self.pairs, self.epsilon = pairs, epsilon
        self.n_independent = independent_rows(metric.space.features(pairs.differences))

    def bits(self, metric: MetricLearner) -> float:
        """Bits left to be learned until every pair is known to within epsilon."""
        ratio = KNOWN * uncertainties(metric, self.pairs) / self.epsilon
        return self.n_independent * float(np.mean(np.log2(np.maximum(ratio, 1.0))))

    def unfair_pairs(self, metric: MetricLearner) -> float:
        """The expected number of live pairs, over all time, that are unfair by more than epsilon."""
        sd = uncertainties(metric, self.pairs)
        played = np.sqrt(np.clip(metric.guess(self.pairs), 0.0, 1.0))
        open_ = sd > self.epsilon / FAR
        if not open_.any():
            return 0.0
        chance = float(np.clip(np.mean(metric.chance_unfair(self.pairs, played)[open_]), *CHANCES))
        beyond = _tail(self.epsilon / sd[open_], float(ndtri(chance)))
        each = float(np.sum(beyond)) / len(sd) / (_entropy(chance) * math.log(2.0))
        return WASTE * self.n_independent * each


def _tail(start: Floats, z: float) -> Floats:
    """The integral of Phi(z - x) dx/x from each start, all below FAR, to infinity, (n,)."""
    log_x = np.linspace(math.log(float(np.min(start))), math.log(FAR), NODES)
    heights = ndtr(z - np.exp(log_x))
    pieces = (heights[1:] + heights[:-1]) / 2.0 * np.diff(log_x)
    from_right = np.append(np.cumsum(pieces[::-1])[::-1], 0.0)
    return np.asarray(np.interp(np.log(start), log_x, from_right))


def _entropy(p: float) -> float:
    """H(p) in bits."""
    return -(p * math.log2(p) + (1.0 - p) * math.log2(1.0 - p))


@dataclass(frozen=True)
class Forecast:
    """How many pairs simulated reviewers found unfair by more than epsilon, one count each.

    >>> Forecast((2, 0, 1), rounds=300).expected
    1.0
    """

    unfair_pairs: tuple[int, ...]
    rounds: int

    @property
    def expected(self) -> float:
        """The mean of the counts."""
        return float(np.mean(self.unfair_pairs))


def unfair_pairs_live(
    bandit: FairBandit, candidates: Floats, *, epsilon: float, rounds: int, n_candidates: int, rng: np.random.Generator
) -> int:
    """Let a copy of the bandit decide about random candidates, with a reviewer sampled from its belief.

    The reviewer flags every unfair pair. Rewards lie within the reward model's widths, in a random direction.
    """
    G = bandit.metric.sample_matrix(rng)
    direction = rng.normal(size=bandit.n_features)
    direction /= np.linalg.norm(direction)
    trial = copy.deepcopy(bandit)
    trial.reseed(np.random.default_rng(rng.integers(2**63)))
    count = 0
    with warnings.catch_warnings():  # a belief may be wrong about a metric sampled from it
        warnings.simplefilter("ignore", InconsistentReviews)
        warnings.simplefilter("ignore", MisleadingReviewer)
        warnings.simplefilter("ignore", NoMetricFits)
        for _ in range(rounds):
            decision = trial.decide(candidates[rng.choice(len(candidates), n_candidates, replace=False)])
            review, unfair = _reviewed(decision, G, epsilon)
            count += unfair
            trial.learn(decision, rewards=_outcomes(bandit, decision, direction), review=review)
    return count


def _reviewed(decision: Decision, G: Floats, epsilon: float) -> tuple[Review, int]:
    """The exact review under G, and how many pairs are unfair by more than epsilon."""
    pairs = Pairs.of(decision.contexts)
    first, second = pairs.indices.T
    gaps = np.abs(decision.probabilities[first] - decision.probabilities[second])
    squared = np.sum((pairs.differences @ G) * pairs.differences, axis=1)
    excess = gaps - np.sqrt(np.maximum(squared, 0.0))
    unfair = pairs.take(excess > PROBABILITY_TOLERANCE).names()
    return Review.complete(unfair=unfair), int(np.sum(excess > epsilon))


def _outcomes(bandit: FairBandit, decision: Decision, direction: Floats) -> dict[int, float]:
    contexts = decision.contexts[list(decision.chosen)]
    rewards = bandit.reward.estimate(contexts) + bandit.reward.widths(contexts) * (contexts @ direction)
    return dict(zip(decision.chosen, rewards.tolist(), strict=True))
