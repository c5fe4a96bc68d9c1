"""Every reward model of ours, and one of an outsider, keeps the contract that `evenhand.testing` ships."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pytest

from evenhand._internal.arrays import Floats
from evenhand.rewards import KnownReward, RewardModel, RidgeUCB
from evenhand.testing import LinearRewardModelContract, RewardModelContract


class TestRidgeUCB(LinearRewardModelContract):
    """With the default width."""

    def make(self) -> RewardModel:
        """A new model."""
        return RidgeUCB(3)


class TestRidgeUCBOfThePaper(LinearRewardModelContract):
    """With the paper's width."""

    def make(self) -> RewardModel:
        """A new model."""
        return RidgeUCB(3, width="paper")


class TestKnownReward(RewardModelContract):
    """It has nothing to learn."""

    def make(self) -> RewardModel:
        """A new model."""
        return KnownReward([0.6, 0.0, 0.8])


class ConstantReward(RewardModel):
    """The mean of all outcomes, whatever the context: what an outsider might begin with."""

    def __init__(self, total: float = 0.0, n: int = 0) -> None:
        self.total, self.n = total, n

    @property
    def n_features(self) -> int:
        """Three."""
        return 3

    def estimate(self, contexts: Floats) -> Floats:
        """The mean."""
        return np.full(len(contexts), self.total / max(self.n, 1))

    def widths(self, contexts: Floats) -> Floats:
        """Shrinking."""
        return np.full(len(contexts), 1.0 / np.sqrt(self.n + 1.0))

    def learn(self, contexts: Floats, rewards: Floats) -> None:
        """Add up."""
        self.total, self.n = self.total + float(rewards.sum()), self.n + len(rewards)

    def state(self) -> dict[str, Any]:
        """The sums."""
        return {"total": self.total, "n": self.n}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The model with these sums."""
        return cls(**state)


class TestAnOutsidersModel(RewardModelContract):
    """A subclass of RewardModel from outside passes without a change to evenhand."""

    def make(self) -> RewardModel:
        """A new model."""
        return ConstantReward()


class Forgetful(ConstantReward):
    """Its copies share what they learn, and its state lacks a sum."""

    def copied(self) -> Self:
        """Not a copy."""
        return self

    def state(self) -> dict[str, Any]:
        """One sum of two."""
        return {"total": self.total}


class _Broken(LinearRewardModelContract):
    def make(self) -> RewardModel:
        return Forgetful()


def test_the_contract_finds_a_broken_model() -> None:
    """A model whose copies are no copies fails, and so does one that cannot learn what it says it learns."""
    for broken in (_Broken().test_a_copy_learns_on_its_own, _Broken().test_it_learns):
        with pytest.raises(AssertionError):
            broken()
