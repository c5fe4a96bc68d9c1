"""RewardModel: what every reward model does."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Self

from evenhand._internal.arrays import Floats
from evenhand._internal.saved_part import SavedPart


class RewardModel(SavedPart, part="reward model"):
    """Predicts the expected reward of a context, with a confidence width, and learns from outcomes.

    Subclasses are saved and loaded under their class name. `evenhand.testing.RewardModelContract` tests one.
    """

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

    def optimistic(self, contexts: Floats) -> Floats:
        """Estimate plus width, (k,): the paper's r-hat. A model that knows how large rewards can be may cap it."""
        return self.estimate(contexts) + self.widths(contexts)

    def copied(self) -> Self:
        """A copy that learns on its own."""
        return copy.deepcopy(self)
