"""Meter: how much is still unknown, in bits, and what it will cost live, in unfair pairs."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from evenhand.interview.choice import doubts
from evenhand.metrics import MetricLearner
from evenhand.metrics.verdicts import Pairs

Floats = NDArray[np.float64]

KNOWN = 2.0
"""A distance is known when so many standard deviations of it make no more than epsilon."""

WASTE = 1.6
"""So many times more unfair pairs than a learner would need who wasted no answer.

Measured over 8 worlds each after 0 to 8 questions an unknown: 1.6 at d = k = 5 and epsilon 0.01, played cautiously or
at the median, 1.2 at epsilon 0.05, 1.4 with 15 candidates a round, 1.8 at d = 3, k = 4, 1.3 at d = 8, k = 10. A
round's pairs are judged at once, and say in part the same.
"""

CHANCES = (0.01, 0.5)
"""The chance that a pair as it is played is unfair is taken to lie between these: bits are bought at that price."""

FAR = 8.0
"""So many standard deviations from the mean nothing is left of a Gaussian."""

NODES = 256
"""Of the integral over x, evenly spaced in log x: it is off by less than a thousandth."""


class Meter:
    """Measures on a fixed set of pairs, which stand for all.

    A pair has log2(KNOWN doubt / epsilon) bits to be learned, doubt being a standard deviation of its distance. All
    pairs share one matrix, so the bits of all of them together are the mean bits of a pair times the number of
    independent pairs.

    Unfair pairs are the price of bits. While doubt shrinks from what it is to nothing, every pair that is played says
    H(p) bits, p being the chance that it is unfair as it is played; and it is unfair by more than epsilon with
    probability Phi(z - epsilon/doubt), z the normal quantile of p. So for every independent pair there will be

        1/(H(p) ln 2) * integral of Phi(z - x) dx/x over x from epsilon/doubt to infinity

    unfair pairs, times WASTE. At p = 1/10, the default, a bit costs 0.21 flags, at p = 1/2 it costs 0.5.
    """

    def __init__(self, metric: MetricLearner, pairs: Pairs, epsilon: float) -> None:
        self.pairs, self.epsilon = pairs, epsilon
        features = metric.space.features(pairs.differences)
        self.n_independent = int(np.linalg.matrix_rank(features)) if features.any() else 0

    def bits(self, metric: MetricLearner) -> float:
        """What is left to be learned until every pair is known to within epsilon."""
        ratio = KNOWN * doubts(metric, self.pairs) / self.epsilon
        return self.n_independent * float(np.mean(np.log2(np.maximum(ratio, 1.0))))

    def unfair_pairs(self, metric: MetricLearner) -> float:
        """How many live pairs to expect, over all time, that are unfair by more than epsilon."""
        doubt = doubts(metric, self.pairs)
        played = np.sqrt(np.clip(metric.guess(self.pairs), 0.0, 1.0))
        open_ = doubt > self.epsilon / FAR
        if not open_.any():
            return 0.0
        chance = float(np.clip(np.mean(metric.chance_unfair(self.pairs, played)[open_]), *CHANCES))
        beyond = _tail(self.epsilon / doubt[open_], float(ndtri(chance)))
        each = float(np.sum(beyond)) / len(doubt) / (_entropy(chance) * math.log(2.0))
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
