"""OfflineMetric: collect flags on random probabilities, learn a metric from them once, then decide with it."""

from __future__ import annotations

import numpy as np

from evenhand._internal.randomness import Seed, as_generator
from evenhand.baselines.batch_metric import BatchMetric, Use
from evenhand.baselines.lottery import Floats, Lottery, Play, phase_length
from evenhand.rewards import RewardModel


def random_probabilities(k: int, capacity: int | None, rng: np.random.Generator) -> Floats:
    """Probabilities (k,) with gaps of every size, the same for each candidate on average.

    As many candidates as there are places, drawn at random, have probability s, uniform on [0, 1]; the others share
    the rest of the capacity. With a place for everybody all probabilities are uniform.

    >>> bool(random_probabilities(5, 1, np.random.default_rng(0)).sum().round(12) == 1.0)
    True
    """
    if capacity is None or capacity >= k:
        return rng.random(k)
    share = rng.random()
    p = np.full(k, min(1.0, capacity * (1.0 - share) / (k - capacity)))
    p[rng.choice(k, size=capacity, replace=False)] = share
    return p


class OfflineMetric(Lottery):
    """Plays random probabilities for `reviews` reviews, or T^(2/3) of a `horizon` T; then OFUL under their metric.

    The metric is `BatchMetric`: metric-learn's ITML (Davis, Kulis, Jain, Sra, Dhillon, "Information-theoretic metric
    learning", 2007; de Vazelhes et al., "metric-learn", 2020), scaled on held-out pairs. Probabilities are random while
    flags are collected: equal ones cannot be unfair and teach nothing, and one fixed gap would not reveal the scale.
    Rewards are learned by ridge regression throughout.

    Expect unfair pairs throughout the first phase, and after it at a rate that no longer falls, since the metric stays
    as far off as the batch left it: both unfair pairs and regret are linear in the number of rounds.

    use: see BatchMetric. Reviews may be complete or partial; of one-bit reviews only those that found nothing.

    >>> policy = OfflineMetric(2, reviews=50, seed=0)
    >>> policy.collecting
    True
    """

    def __init__(
        self,
        n_features: int,
        *,
        reviews: int | None = None,
        horizon: int | None = None,
        use: Use = "over_gap",
        held_out: float = 0.3,
        capacity: int | None = 1,
        reward: RewardModel | None = None,
        seed: Seed = None,
    ) -> None:
        rng = as_generator(seed)
        length = phase_length("reviews", reviews, horizon)
        metric = BatchMetric(n_features, reviews=length, use=use, held_out=held_out, seed=int(rng.integers(2**31)))
        super().__init__(n_features, capacity=capacity, metric=metric, reward=reward, seed=rng)

    @property
    def collecting(self) -> bool:
        """Whether flags are still being collected."""
        return isinstance(self.metric, BatchMetric) and not self.metric.fitted

    def play(self, contexts: Floats) -> Play:
        """Random probabilities while collecting; after, the best for optimistic rewards under the learned metric."""
        rewards = self.reward.optimistic(contexts)
        if self.collecting:
            return Play(random_probabilities(len(contexts), self.capacity, self._rng), rewards)
        return self.best_fair(contexts, rewards)
