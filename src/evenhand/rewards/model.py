"""RewardModel: what every reward model does."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from evenhand._internal.arrays import Floats
from evenhand._internal.class_registry import enter, find


class RewardModel(ABC):
    """Predicts the expected reward of a context, with a confidence width, and learns from outcomes.

    Subclasses are saved and loaded under their class name. `evenhand.testing.RewardModelContract` tests one.
    """

    _kinds: ClassVar[dict[str, type[RewardModel]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        enter(cls, RewardModel._kinds)

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The length d of a context."""

    @abstractmethod
    def estimate(self, contexts: Floats) -> Floats:
        """The expected reward of each row of `contexts` (k, d), (k,)."""

    @abstractmethod
    def widths(self, contexts: Floats) -> Floats:
        """The confidence width of each estimate, (k,), >= 0."""

    @abstractmethod
    def learn(self, contexts: Floats, rewards: Floats) -> None:
        """Learn from the outcomes (n,) of chosen candidates with these contexts (n, d)."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Everything the model consists of, as arrays, numbers, strings and dicts of them."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The model with this `state`, to the bit."""

    def optimistic(self, contexts: Floats) -> Floats:
        """Estimate plus width, (k,): the paper's r-hat."""
        return self.estimate(contexts) + self.widths(contexts)

    def copied(self) -> Self:
        """A copy that learns on its own."""
        return copy.deepcopy(self)

    def saved(self) -> dict[str, Any]:
        """The state with the name of the class that reads it."""
        return {"kind": type(self).__name__, "state": self.state()}

    @staticmethod
    def restored(saved: dict[str, Any]) -> RewardModel:
        """The model that `saved` described; its class must have been imported."""
        return find(saved["kind"], RewardModel._kinds, "reward model").from_state(saved["state"])
