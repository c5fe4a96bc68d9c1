"""BatchMetric: gathers verdicts, learns a metric from them once, and holds it fixed."""

from __future__ import annotations

from typing import Any, Self, get_args

import numpy as np

from evenhand.baselines.batch_fit import Use, fit_batch, itml
from evenhand.baselines.fixed_euclidean import HALF
from evenhand.errors import InvalidInput
from evenhand.metrics import Learned, MetricLearner, Pairs, Verdicts
from evenhand.metrics.features import Floats


class BatchMetric(MetricLearner):
    """What the literature on metric learning would do with the flags: ITML (Davis, Kulis, Jain, Sra, Dhillon 2007).

    Until `reviews` reviews were heard the distance is ||x - y|| / 2. Then metric-learn's ITML is trained on a random
    share of the verdicts, flagged pairs as similar and the others as dissimilar, and the distance is multiplied by
    the factor under which "gap > distance" agrees with the most flags of the `held_out` share. From then on nothing
    changes. `source` says how the metric was come by: without both kinds of verdict only the scale of ||x - y|| is
    learned, without any verdict not even that.

    use: "over_gap" divides the difference of two contexts by their gap, so that ITML's one bound for all pairs, at
    1, says just what a flag says, d < gap. "plain" gives it the pairs as they are, without the unflagged ones of small
    gap, and only the scale hears of gaps: what a user of metric-learn would do at first, and less accurate.

    Needs metric-learn (pip install 'evenhand[peers]'). Cost: at most 50 passes over 2000 pairs, O(d^2) a pair, once.

    >>> learner = BatchMetric(1, reviews=2)
    >>> for gap, unfair in ((0.2, False), (0.4, True)):
    ...     learned = learner.learn_pair([1.0], [0.0], gap=gap, unfair=unfair)
    >>> learner.fitted, 0.2 < learner.get_metric()([1.0], [0.0]) < 0.4
    (True, True)
    """

    def __init__(
        self, n_features: int, *, reviews: int, use: Use = "over_gap", held_out: float = 0.3, seed: int = 0
    ) -> None:
        super().__init__(n_features)
        if isinstance(reviews, bool) or not isinstance(reviews, (int, np.integer)) or reviews < 1:
            raise InvalidInput(f"reviews is {reviews!r}; allowed is a whole number >= 1")
        if use not in get_args(Use):
            raise InvalidInput(f"use is {use!r}; allowed are 'over_gap' and 'plain'")
        if not 0 < held_out < 1:
            raise InvalidInput(f"held_out is {held_out!r}; allowed is a share between 0 and 1")
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise InvalidInput(f"seed is {seed!r}; allowed is a whole number >= 0")
        itml()  # say now what is missing, not after the last review
        self.reviews, self.use, self.held_out, self.seed = int(reviews), use, float(held_out), int(seed)
        self.source = "default: still gathering"
        self._A = HALF * np.eye(self.n_features)
        self._gathered: list[Verdicts] = []

    @property
    def fitted(self) -> bool:
        """Whether the metric has been learned and is fixed."""
        return not self.source.endswith("still gathering")

    def estimate(self, pairs: Pairs) -> Floats:
        """||A z||^2 of each pair, (n,)."""
        return np.asarray(np.sum((pairs.differences @ self._A.T) ** 2, axis=1))

    def ends(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """The estimate twice: a batch method says nothing of its doubts."""
        exact = self.estimate(pairs)
        return exact, exact

    def matrix(self) -> Floats:
        """A'A, (d, d)."""
        return np.asarray(self._A.T @ self._A)

    def learn(self, verdicts: Verdicts) -> Learned:
        """Put the verdicts of a review aside; with the last one, learn the metric."""
        if self.fitted:
            return Learned()
        gathered = [*self._gathered, verdicts]
        if len(gathered) == self.reviews:
            rng = np.random.default_rng(self.seed)
            self._A, self.source = fit_batch(
                joined(gathered), use=self.use, held_out=self.held_out, default=self._A, rng=rng
            )
            gathered = []
        self._gathered = gathered
        return Learned(len(verdicts))

    def learn_bit(self, verdicts: Verdicts, *, any_unfair: bool) -> Learned:
        """A flag on nobody knows whom: only for a single pair is it a verdict, unless nothing is learned any more."""
        return Learned() if self.fitted else super().learn_bit(verdicts, any_unfair=any_unfair)

    def state(self) -> dict[str, Any]:
        """Settings, the matrix, and what was gathered."""
        names = ("n_features", "reviews", "use", "held_out", "seed", "source")
        gathered = [
            {"indices": v.pairs.indices, "z": v.pairs.differences, "gaps": v.gaps, "unfair": v.unfair, "tight": v.tight}
            for v in self._gathered
        ]
        return {name: getattr(self, name) for name in names} | {
            "A": self._A,
            "gathered": {str(row): part for row, part in enumerate(gathered)},
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The learner that was saved, to the bit."""
        learner = cls(**{name: state[name] for name in ("n_features", "reviews", "use", "held_out", "seed")})
        learner.source, learner._A = state["source"], state["A"].copy()
        parts = [state["gathered"][str(row)] for row in range(len(state["gathered"]))]
        learner._gathered = [Verdicts(Pairs(v["indices"], v["z"]), v["gaps"], v["unfair"], v["tight"]) for v in parts]
        return learner


def joined(parts: list[Verdicts]) -> Verdicts:
    """The verdicts of many rounds as one table; at least one part."""
    pairs = Pairs(
        np.concatenate([v.pairs.indices for v in parts]), np.concatenate([v.pairs.differences for v in parts])
    )
    gaps, unfair, tight = (np.concatenate([getattr(v, name) for v in parts]) for name in ("gaps", "unfair", "tight"))
    return Verdicts(pairs, gaps, unfair, tight)
