"""RewardModel: what every reward model does."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Self

from evenhand._internal.arrays import Floats
from evenhand._internal.saved_part import SavedPart
from evenhand.errors import InvalidInput


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

    def learn_shares(self, contexts: Floats, rewards: Floats, shares: Floats) -> None:
        """Learn from the outcomes (n,) of candidates who got a share (n,), 0 < share <= 1, of what they asked for.

        An outcome at a share s is expected to be s times that of the whole. Optional: by default it is refused.
        """
        raise InvalidInput(f"{type(self).__name__} cannot learn from shares; see RewardModel.learn_shares")

    @property
    def learns_shares(self) -> bool:
        """Whether the model can learn from shares."""
        return type(self).learn_shares is not RewardModel.learn_shares

    def optimistic(self, contexts: Floats) -> Floats:
        """Estimate plus width, (k,): the paper's r-hat. A model that knows how large rewards can be may cap it."""
        return self.estimate(contexts) + self.widths(contexts)

    def copied(self) -> Self:
        """A copy that learns on its own."""
        return copy.deepcopy(self)
