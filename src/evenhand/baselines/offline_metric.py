"""OfflineMetric: gather flags on random odds, learn a metric from them offline, then decide with it for good."""

from __future__ import annotations

import numpy as np

from evenhand._internal.randomness import Seed, as_generator
from evenhand.baselines.batch_fit import Use
from evenhand.baselines.batch_metric import BatchMetric
from evenhand.baselines.lottery import Floats, Lottery, Odds
from evenhand.baselines.phase import phase_length
from evenhand.rewards import RewardModel


def random_odds(k: int, capacity: int | None, rng: np.random.Generator) -> Floats:
    """Odds (k,) with gaps of every size, the same for each candidate on average.

    As many candidates as there are places, drawn by lot, have odds s, uniform on [0, 1]; the others share the
    rest of the capacity. With a place for everybody all odds are uniform.

    >>> bool(random_odds(5, 1, np.random.default_rng(0)).sum().round(12) == 1.0)
    True
    """
    if capacity is None or capacity >= k:
        return rng.random(k)
    share = rng.random()
    p = np.full(k, min(1.0, capacity * (1.0 - share) / (k - capacity)))
    p[rng.choice(k, size=capacity, replace=False)] = share
    return p


class OfflineMetric(Lottery):
    """Plays random odds for `reviews` reviews, or T^(2/3) of a `horizon` T; then OFUL under the metric they gave.

    The metric is `BatchMetric`: metric-learn's ITML (Davis, Kulis, Jain, Sra, Dhillon, "Information-theoretic metric
    learning", 2007; de Vazelhes et al., "metric-learn", 2020), scaled on held-out pairs. Odds are random while flags
    are gathered, because equal odds cannot be unfair and teach nothing, and one fixed gap would not tell the scale.
    Rewards are learned by ridge regression throughout.

    What to expect: unfair pairs all through the first phase, and after it at a rate that no longer falls, since the
    metric stays as far off as the batch left it: linear in the number of rounds, both unfair pairs and regret.

    use: see BatchMetric. Reviews may be complete or partial; of one-bit reviews only those that found nothing.

    >>> policy = OfflineMetric(2, reviews=50, seed=0)
    >>> policy.gathering
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
    def gathering(self) -> bool:
        """Whether flags are still being gathered."""
        return isinstance(self.metric, BatchMetric) and not self.metric.fitted

    def odds(self, contexts: Floats) -> Odds:
        """Random odds while gathering; after, the best for optimistic rewards under the metric that was learned."""
        rewards = self.reward.optimistic(contexts)
        if self.gathering:
            return Odds(random_odds(len(contexts), self.capacity, self._rng), rewards)
        return self.fair_odds(contexts, rewards)
