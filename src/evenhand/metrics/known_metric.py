"""KnownMetric: a metric that is known from the start; reviews teach nothing. For benchmarks, or a given formula."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_matrix
from evenhand.metrics.learner import Learned, MetricLearner
from evenhand.metrics.verdicts import Pairs, Verdicts


class KnownMetric(MetricLearner):
    """d(x, y) = ||A (x - y)|| with a known A (r, d), r any number of rows.

    >>> KnownMetric([[1.0, 0.0]]).distances([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]).estimate[0].tolist()
    [0.0, 1.0, 1.0]
    """

    def __init__(self, A: ArrayLike) -> None:
        self.A = check_matrix("A", A)
        super().__init__(self.A.shape[1])

    def estimate(self, pairs: Pairs) -> Floats:
        """||A z||^2 of each pair, (n,)."""
        return np.asarray(np.sum((pairs.differences @ self.A.T) ** 2, axis=1))

    def ends(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """The exact squared distances, twice."""
        exact = self.estimate(pairs)
        return exact, exact

    def learn(self, verdicts: Verdicts) -> Learned:
        """Nothing to learn."""
        return Learned(len(verdicts))

    def learn_bit(self, verdicts: Verdicts, *, any_unfair: bool) -> Learned:
        """Nothing to learn."""
        return Learned(len(verdicts))

    def matrix(self) -> Floats:
        """A'A, (d, d)."""
        return np.asarray(self.A.T @ self.A)

    def state(self) -> dict[str, Any]:
        """A."""
        return {"A": self.A}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The same A."""
        return cls(state["A"])
