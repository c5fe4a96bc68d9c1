"""KnownMetric: a metric that is known from the start; reviews teach nothing. For benchmarks, or a given formula."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats
from evenhand.errors import InvalidInput
from evenhand.metrics.learner import Learned, MetricLearner
from evenhand.metrics.verdicts import Pairs, Verdicts


class KnownMetric(MetricLearner):
    """d(x, y) = ||A (x - y)|| with a known A (r, d), r any number of rows.

    >>> KnownMetric([[1.0, 0.0]]).distances([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]).estimate[0].tolist()
    [0.0, 1.0, 1.0]
    """

    def __init__(self, A: ArrayLike) -> None:
        try:
            array = np.array(A, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(f"A must be an (r, d) matrix of finite numbers, got {A!r}") from None
        if array.ndim != 2 or array.shape[1] == 0 or not np.all(np.isfinite(array)):
            raise InvalidInput(f"A must be an (r, d) matrix of finite numbers, got shape {array.shape}")
        super().__init__(array.shape[1])
        self.A = array

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
