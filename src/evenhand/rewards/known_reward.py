"""KnownReward: the pay-off is known, only the metric has to be learned (the paper's section on known theta)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from evenhand.errors import InvalidInput
from evenhand.rewards.model import Floats, RewardModel


class KnownReward(RewardModel):
    """Expected reward <theta, x> with theta given; outcomes teach it nothing.

    >>> KnownReward([0.6, 0.8]).optimistic(np.array([[1.0, 0.0]])).tolist()
    [0.6]
    """

    def __init__(self, theta: ArrayLike) -> None:
        try:
            array = np.array(theta, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(f"theta is {theta!r}; allowed is a list of d >= 1 finite numbers") from None
        if array.ndim != 1 or len(array) == 0 or not np.all(np.isfinite(array)):
            raise InvalidInput(f"theta is {theta!r}; allowed is a list of d >= 1 finite numbers")
        self.theta = array

    @property
    def n_features(self) -> int:
        """How many features a context has: d."""
        return len(self.theta)

    def estimate(self, contexts: Floats) -> Floats:
        """<theta, x> of each row, (k,)."""
        return np.asarray(contexts @ self.theta)

    def widths(self, contexts: Floats) -> Floats:
        """No doubt at all."""
        return np.zeros(len(contexts))

    def learn(self, contexts: Floats, rewards: Floats) -> None:
        """Nothing is left to learn."""

    def state(self) -> dict[str, Any]:
        """Theta."""
        return {"theta": self.theta}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The same theta."""
        return cls(state["theta"])
