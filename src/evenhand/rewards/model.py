"""RewardModel: what every reward model does."""

from __future__ import annotations

import copy
import inspect
from abc import abstractmethod
from typing import Any, Self

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_number
from evenhand._internal.saved_part import SavedPart
from evenhand.errors import InvalidInput

TIE_BREAK = (
    1e-6  # Capped optimistic rewards differ by this share at most: without it they tie, and regret is a third more.
)


class RewardModel(SavedPart, part="reward model"):
    """Predicts the expected reward of a context, with a confidence width, and learns from outcomes.

    Subclasses are saved and loaded under their class name. `evenhand.testing.RewardModelContract` tests one.
    """

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_features})"

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

    @property
    def largest_reward(self) -> float:
        """Larger rewards, of either sign, are refused: they are in other units."""
        return 20.0

    def optimistic(self, contexts: Floats) -> Floats:
        """Estimate plus width, (k,): the paper's r-hat. A model that knows how large rewards can be may cap it."""
        return self.estimate(contexts) + self.widths(contexts)

    def learn_outcomes(self, contexts: Floats, rewards: Floats, shares: Floats | None = None) -> None:
        """Learn from outcomes at these shares (n,), or of whole candidates without."""
        if shares is None or len(shares) == 0:
            self.learn(contexts, rewards)
        else:
            self.learn_shares(contexts, rewards, shares)

    def check_outcomes(self, contexts: Floats, rewards: Floats, shares: Floats | None = None) -> None:
        """The error that `learn_outcomes` would raise, if any; changes nothing.

        By default a copy learns them. A model that takes long to learn should only check them here.
        """
        copy.deepcopy(self).learn_outcomes(contexts, rewards, shares)

    def recipe(self) -> dict[str, Any]:
        """How to make a new model like this one, as JSON: the name of its class, and arguments other than defaults.

        What it has learned is not in it.
        """
        defaults = {name: argument.default for name, argument in inspect.signature(type(self)).parameters.items()}
        settings = {name: value for name, value in self.settings().items() if name != "n_features"}
        return {"kind": type(self).__name__} | {n: value for n, value in settings.items() if value != defaults[n]}

    def copied(self) -> Self:
        """A copy that learns on its own."""
        return copy.deepcopy(self)


def below_cap(capped: Floats, estimate: Floats, beyond: Floats) -> Floats:
    """Optimistic rewards that were capped, (k,), those which exceeded the cap by more still ahead, up to TIE_BREAK.

    beyond: by how much each exceeded it, 0 if it did not. None falls below its estimate for that.
    """
    lowered = np.where(beyond > 0.0, capped - TIE_BREAK / (1.0 + beyond), capped)
    return np.where(beyond > 0.0, np.maximum(lowered, np.minimum(estimate, capped)), lowered)


def check_shares(rewards: Floats, shares: Floats) -> None:
    """InvalidInput unless there is a share above 0, to 1, for each outcome."""
    if shares.shape != rewards.shape:
        raise InvalidInput(f"shares must be one per reward, got {shares.shape} for {rewards.shape}")
    for share in shares.tolist():
        check_number("a share", share, above=0, most=1)


def check_lengths(contexts: Floats, rewards: Floats) -> None:
    """InvalidInput unless there is one reward for each context."""
    if len(rewards) != len(contexts):
        raise InvalidInput(f"rewards must be one per context, got {len(rewards)} for {len(contexts)} contexts")
