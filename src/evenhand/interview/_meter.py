"""What is still unknown, in bits, and the unfair pairs to expect live, by a formula that takes milliseconds."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr, ndtri

from evenhand._internal.arrays import Floats
from evenhand._internal.positive_factors import independent_rows
from evenhand.interview.plan import ReviewPlan
from evenhand.interview.question import uncertainties
from evenhand.metrics import MetricLearner
from evenhand.metrics.verdicts import Pairs

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

    That is if every pair is reviewed. If few are, the others are unfair as often, and nobody says so. A decision with k
    candidates has k - 1 tight pairs, a tree; with r of them reviewed, there are (k - 1)/r as many unfair pairs. And
    there are no more than if nothing were learned: the chance now, times k - 1, times the plan's decisions.
    """

    def __init__(self, metric: MetricLearner, pairs: Pairs, epsilon: float, plan: ReviewPlan | None = None) -> None:
        self.pairs, self.epsilon, self.plan = pairs, epsilon, ReviewPlan() if plan is None else plan
        self.n_independent = independent_rows(metric.space.features(pairs.differences))

    def bits(self, metric: MetricLearner) -> float:
        """Bits left to be learned until every pair is known to within epsilon."""
        ratio = KNOWN * uncertainties(metric, self.pairs) / self.epsilon
        return self.n_independent * float(np.mean(np.log2(np.maximum(ratio, 1.0))))

    def unfair_pairs(self, metric: MetricLearner) -> float:
        """The expected number of pairs, in the plan's decisions, that are unfair by more than epsilon."""
        sd = uncertainties(metric, self.pairs)
        played = np.sqrt(np.clip(metric.guess(self.pairs), 0.0, 1.0))
        open_ = sd > self.epsilon / FAR
        if not open_.any():
            return 0.0
        chance = float(np.clip(np.mean(metric.chance_unfair(self.pairs, played)[open_]), *CHANCES))
        beyond = _tail(self.epsilon / sd[open_], float(ndtri(chance)))
        each = float(np.sum(beyond)) / len(sd) / (_entropy(chance) * math.log(2.0))
        tight, reviewed = self.plan.candidates - 1, self.plan.pairs
        now = float(np.sum(ndtr(ndtri(chance) - self.epsilon / sd[open_]))) / len(sd)
        without_learning = self.plan.decisions * tight * now
        if reviewed == 0:
            return without_learning
        unseen = 1.0 if reviewed is None else max(1.0, tight / reviewed)
        return min(WASTE * self.n_independent * each * unseen, without_learning)


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
