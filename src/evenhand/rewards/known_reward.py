"""KnownReward: the expected reward is known, only the metric has to be learned (the paper's section on known theta)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import refusal
from evenhand.rewards.model import RewardModel


class KnownReward(RewardModel):
    """Expected reward <theta, x> for a known theta; outcomes change nothing.

    >>> KnownReward([0.6, 0.8]).optimistic(np.array([[1.0, 0.0]])).tolist()
    [0.6]
    """

    def __init__(self, theta: ArrayLike) -> None:
        try:
            array = np.array(theta, dtype=np.float64)
        except (TypeError, ValueError):
            array = np.array(np.nan)
        if array.ndim != 1 or len(array) == 0 or not np.all(np.isfinite(array)):
            raise refusal("theta", "a list of d >= 1 finite numbers", theta)
        self.theta = array

    @property
    def n_features(self) -> int:
        """The length d of a context."""
        return len(self.theta)

    def estimate(self, contexts: Floats) -> Floats:
        """<theta, x> of each row, (k,)."""
        return np.asarray(contexts @ self.theta)

    def widths(self, contexts: Floats) -> Floats:
        """Zero, (k,)."""
        return np.zeros(len(contexts))

    def learn(self, contexts: Floats, rewards: Floats) -> None:
        """Nothing to learn."""

    def learn_shares(self, contexts: Floats, rewards: Floats, shares: Floats) -> None:
        """Nothing to learn."""

    def recipe(self) -> dict[str, Any]:
        """Its name and theta."""
        return {"kind": "KnownReward", "theta": self.theta.tolist()}

    def state(self) -> dict[str, Any]:
        """Theta."""
        return {"theta": self.theta}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The model with this theta."""
        return cls(state["theta"])
