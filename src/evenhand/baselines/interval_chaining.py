"""IntervalChaining: meritocratic fairness; candidates that cannot be separated from the best are equally likely."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.arrays import Floats
from evenhand._internal.randomness import Seed
from evenhand.baselines.lottery import Lottery, Play
from evenhand.metrics import KnownMetric
from evenhand.metrics.features import MetricSpace
from evenhand.rewards import RewardModel


def chains(lower: Floats, upper: Floats) -> list[NDArray[np.int64]]:
    """Candidates linked by overlapping intervals [lower, upper], directly or through others, the highest chain first.

    lower, upper: (k,). Intervals that only touch overlap: both rewards may be equal. These are the connected
    components of the interval graph. In order of falling upper end, an interval overlaps somebody before it in its
    chain exactly when it reaches their lowest lower end. Cost: O(k log k).

    >>> [chain.tolist() for chain in chains(np.array([0.5, 0.0, 0.4, 0.1]), np.array([0.9, 0.2, 0.6, 0.3]))]
    [[0, 2], [3, 1]]
    """
    order = np.argsort(-upper, kind="stable")
    lowest = np.minimum.accumulate(lower[order])
    # What lies before a break is above all that follows, so the lowest end so far is that of the chain itself.
    breaks = np.flatnonzero(upper[order][1:] < lowest[:-1]) + 1
    return np.split(order, breaks)


def chained_probabilities(lower: Floats, upper: Floats, capacity: float | None) -> Floats:
    """Probabilities (k,), equal within a chain: places go to the chains from the top until none is left.

    Everybody in a chain that fits has probability 1; the chain at which places run out shares what is left; chains
    wholly below 0 have probability 0, since choosing nobody is worth more. Capacity None has a place for everybody.

    >>> chained_probabilities(np.array([0.8, 0.1, 0.2]), np.array([0.9, 0.3, 0.4]), 2).tolist()
    [1.0, 0.5, 0.5]
    """
    p = np.zeros(len(lower))
    places = float(len(lower) if capacity is None else capacity)
    for chain in chains(lower, upper):
        if np.max(upper[chain]) < 0:
            break
        p[chain] = min(1.0, places / len(chain))
        places = max(0.0, places - len(chain))
    return p


class IntervalChaining(Lottery):
    """Favours nobody over a better candidate: all whose reward might be the best are equally likely to be chosen.

    Joseph, Kearns, Morgenstern, Roth, "Fairness in Learning: Classic and Contextual Bandits" (2016), in the form for
    one shared linear model with ridge intervals of Joseph, Kearns, Morgenstern, Neel, Roth, "Fair Algorithms for
    Infinite and Contextual Bandits" (2016). Intervals are estimate -+ width of the `reward` model; those that
    overlap, directly or through others, form chains; capacity 1 draws uniformly from the chain that holds the highest
    upper end. Those papers also choose m, or any number; here places go to whole chains from the top, the last
    chain sharing what is left. Unlike theirs, ours may choose nobody, and does when all is surely below 0.

    As long as all intervals hold, p_i >= p_j whenever candidate i's expected reward is at least j's.
    Similarity plays no part: reviews change nothing, and under a metric that ignores a feature which pays it stays
    unfair. It is slow: probabilities stay equal until intervals separate.

    >>> IntervalChaining(2, seed=0).decide([[1.0, 0.0], [0.0, 1.0]]).probabilities.tolist()
    [0.5, 0.5]
    """

    def __init__(
        self, n_features: int, *, capacity: int | None = 1, reward: RewardModel | None = None, seed: Seed = None
    ) -> None:
        merit_alone = KnownMetric(np.zeros((1, MetricSpace(n_features).n_features)))
        super().__init__(n_features, capacity=capacity, metric=merit_alone, reward=reward, seed=seed)

    def play(self, contexts: Floats) -> Play:
        """Equal probabilities within each chain, from the top."""
        middle, width = self.reward.estimate(contexts), self.reward.widths(contexts)
        return Play(chained_probabilities(middle - width, middle + width, self.capacity), middle + width)
