"""AlwaysChoosing: a reward model under which somebody is always chosen, for libraries that know no "nobody"."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import refusal
from evenhand.rewards import RewardModel


class AlwaysChoosing(RewardModel):
    """Another model, whose optimistic rewards are raised by a constant so that the lowest is 1.

    With positive rewards the best probabilities sum to 1: raising all of them alike changes no gap. And with a sum of
    1 the constant adds the same to every choice, so the probabilities are the best among those that always choose.
    The constant depends on who is in the round; take the expected rewards of single candidates from `estimate`. To load
    a saved bandit with this model, import this module first.

    >>> from evenhand.rewards import KnownReward
    >>> AlwaysChoosing(KnownReward([1.0])).optimistic(np.array([[-0.5], [0.25]])).tolist()
    [1.0, 1.75]
    """

    def __init__(self, model: RewardModel) -> None:
        if not isinstance(model, RewardModel):
            raise refusal("model", "a RewardModel", model)
        self.model = model

    @property
    def n_features(self) -> int:
        """The length d of a context."""
        return self.model.n_features

    def estimate(self, contexts: Floats) -> Floats:
        """Those of the model."""
        return self.model.estimate(contexts)

    def widths(self, contexts: Floats) -> Floats:
        """Those of the model."""
        return self.model.widths(contexts)

    def optimistic(self, contexts: Floats) -> Floats:
        """Those of the model, raised to at least 1."""
        rewards = self.model.optimistic(contexts)
        return np.asarray(rewards - np.min(rewards) + 1.0)

    def learn(self, contexts: Floats, rewards: Floats) -> None:
        """The model learns."""
        self.model.learn(contexts, rewards)

    def state(self) -> dict[str, Any]:
        """The model."""
        return {"model": self.model.saved()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The same model."""
        return cls(RewardModel.restored(state["model"]))
