"""Every reward model of ours, and one of an outsider, keeps the contract that `evenhand.testing` ships."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.linear_model import Ridge, SGDClassifier

from evenhand._internal.arrays import Floats
from evenhand.rewards import KnownReward, LogisticUCB, Predictor, RewardModel, RidgeUCB
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


class YesNoContract(RewardModelContract):
    """The contract for outcomes 0 and 1."""

    reward = 1.0

    def outcomes(self, n: int, seed: int) -> tuple[Floats, Floats]:
        """Yes with a probability that depends on the context; both answers among the first two."""
        contexts, rewards = super().outcomes(n, seed)
        answers = (rewards > np.random.default_rng(seed + 1).uniform(-1, 1, size=n)).astype(np.float64)
        answers[:2] = (0.0, 1.0)
        return contexts, answers


class TestLogisticUCB(YesNoContract):
    """Yes and no."""

    def make(self) -> RewardModel:
        """A new model."""
        return LogisticUCB(3)


class TestPredictorOfRidge(LinearRewardModelContract):
    """Fitted anew, with an ensemble of copies."""

    def make(self) -> RewardModel:
        """A new model."""
        return Predictor(Ridge(alpha=0.1), 3, refit_every=20)


class TestPredictorWithConformalWidths(LinearRewardModelContract):
    """Fitted anew, with online conformal widths."""

    def make(self) -> RewardModel:
        """A new model."""
        return Predictor(Ridge(alpha=0.1), 3, width="conformal", refit_every=20)


class TestPredictorThatIsUpdated(YesNoContract):
    """A classifier with `partial_fit`, and a given width."""

    def make(self) -> RewardModel:
        """A new model."""
        return Predictor(SGDClassifier(loss="log_loss"), 3, width=0.1, refit_every=10)


class TestPredictorOfBoostedTrees(YesNoContract):
    """A gradient-boosted classifier, fitted anew."""

    def make(self) -> RewardModel:
        """A new model."""
        return Predictor(HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5), 3, members=2, refit_every=20)


class TestPredictorOfAForest(RewardModelContract):
    """A forest has members of its own."""

    def make(self) -> RewardModel:
        """A new model."""
        return Predictor(RandomForestRegressor(n_estimators=4, max_depth=3), 3, refit_every=20)


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
