"""The contract of reward models: what every one of them must do, whoever wrote it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand._internal.archive import read_archive, write_archive
from evenhand._internal.arrays import Floats
from evenhand.bandit import FairBandit
from evenhand.records.decision import Review
from evenhand.rewards import RewardModel
from evenhand.testing.metric_worlds import random_contexts

D = 3


class RewardModelContract:
    """Subclass it in a test module as `TestMyModel` and define `make`; pytest then runs every test below.

    make() returns a new, untrained model of linear or other rewards for contexts of `n_features` features. A model of
    other outcomes, such as yes and no, also defines `outcomes` and `reward`.

        class TestMyModel(RewardModelContract):
            def make(self) -> RewardModel:
                return MyModel(n_features=3)
    """

    n_features = D
    reward = 0.5
    """A reward that the model can learn from."""

    def make(self) -> RewardModel:
        """A new model."""
        raise NotImplementedError

    def trained(self, n: int = 30, seed: int = 0) -> RewardModel:
        """A model that has learned from n outcomes."""
        model = self.make()
        model.learn(*self.outcomes(n, seed))
        return model

    def outcomes(self, n: int, seed: int) -> tuple[Floats, Floats]:
        """Contexts (n, d) and noisy linear rewards (n,) within [-1, 1]."""
        rng = np.random.default_rng(seed)
        contexts = random_contexts(rng, n, self.n_features)
        theta = random_contexts(np.random.default_rng(99), 1, self.n_features)[0]
        return contexts, np.clip(contexts @ theta + 0.05 * rng.normal(size=n), -1.0, 1.0)

    def test_it_says_how_many_features_it_has(self) -> None:
        """`n_features` is the length of the contexts it takes."""
        assert self.make().n_features == self.n_features

    @pytest.mark.parametrize("k", [1, 2, 50])
    def test_shapes(self, k: int) -> None:
        """Estimates, widths and optimistic rewards are finite, one per row, before and after learning."""
        contexts = random_contexts(np.random.default_rng(k), k, self.n_features)
        for model in (self.make(), self.trained()):
            for values in (model.estimate(contexts), model.widths(contexts), model.optimistic(contexts)):
                assert values.shape == (k,)
                assert values.dtype == np.float64
                assert np.all(np.isfinite(values))

    def test_optimism(self) -> None:
        """Widths are not negative, and the optimistic reward is at most the estimate plus the width, nor far below."""
        contexts = random_contexts(np.random.default_rng(1), 40, self.n_features)
        for model in (self.make(), self.trained()):
            estimate, width, optimistic = (f(contexts) for f in (model.estimate, model.widths, model.optimistic))
            assert np.all(width >= 0.0)
            assert np.all(np.abs(optimistic - estimate) <= width + 1e-12)

    def test_queries_change_nothing(self) -> None:
        """Asking leaves the model as it was, and the contexts too."""
        model = self.trained()
        before = _frozen_state(model)
        contexts = random_contexts(np.random.default_rng(2), 5, self.n_features)
        copy = contexts.copy()
        for query in (model.estimate, model.widths, model.optimistic):
            query(contexts)
        assert _frozen_state(model) == before
        np.testing.assert_array_equal(contexts, copy)

    def test_rows_do_not_depend_on_each_other(self) -> None:
        """The reward of a candidate is the same whoever else is in the round."""
        model = self.trained()
        contexts = random_contexts(np.random.default_rng(3), 6, self.n_features)
        alone = [model.optimistic(contexts[row : row + 1])[0] for row in range(6)]
        np.testing.assert_allclose(model.optimistic(contexts), alone, rtol=0, atol=1e-12)

    def test_no_outcomes_change_nothing(self) -> None:
        """Learning from zero outcomes is no learning: decisions with a review only do it."""
        model = self.trained()
        before = _frozen_state(model)
        model.learn(np.empty((0, self.n_features)), np.empty(0))
        assert _frozen_state(model) == before

    def test_checking_outcomes_changes_nothing(self) -> None:
        """Outcomes can be checked before they are learned, and the model stays as it was."""
        model = self.trained()
        before = _frozen_state(model)
        model.check_outcomes(*self.outcomes(5, seed=4))
        assert _frozen_state(model) == before

    def test_a_copy_learns_on_its_own(self) -> None:
        """What a copy learns the original does not, and the other way round."""
        model = self.trained()
        copy, before = model.copied(), _frozen_state(model)
        assert _frozen_state(copy) == before
        copy.learn(*self.outcomes(20, seed=4))
        assert _frozen_state(model) == before
        after = _frozen_state(copy)
        model.learn(*self.outcomes(3, seed=5))
        assert _frozen_state(copy) == after

    def test_a_share_of_one_is_the_whole(self) -> None:
        """A model that learns from shares learns the same from shares of 1 as from whole outcomes."""
        if not self.make().learns_shares:
            return
        contexts, rewards = self.outcomes(20, seed=11)
        model = self.make()
        model.learn_shares(contexts, rewards, np.ones(20))
        assert _frozen_state(model) == _frozen_state(self.trained(20, seed=11))

    def test_restored_it_goes_on_as_if_never_stopped(self, tmp_path: Path) -> None:
        """Through a file, then the same outcomes: bit-identical to a model that was never stopped."""
        model = self.trained()
        write_archive(tmp_path / "model.eh", kind="RewardModel", version=1, content=model.saved())
        twin = RewardModel.restored(read_archive(tmp_path / "model.eh", kind="RewardModel", version=1))
        assert type(twin) is type(model)
        contexts = random_contexts(np.random.default_rng(6), 8, self.n_features)
        for seed in range(3):
            for each in (model, twin):
                each.learn(*self.outcomes(15, seed=10 + seed))
            np.testing.assert_array_equal(model.optimistic(contexts), twin.optimistic(contexts))
        assert _frozen_state(model) == _frozen_state(twin)

    def test_it_works_in_a_bandit(self) -> None:
        """A bandit decides with it, learns outcomes, and undoes them when the review that comes along is refused."""
        bandit = FairBandit(self.n_features, reward=self.make(), seed=0)
        rng = np.random.default_rng(9)
        for _ in range(10):
            decision = bandit.decide(random_contexts(rng, 4, self.n_features))
            bandit.learn(decision, rewards=dict.fromkeys(decision.chosen, self.reward), review=Review.complete())
        before = _frozen_state(bandit.reward)
        with pytest.raises(KeyError):
            bandit.learn(
                decision, rewards=dict.fromkeys(decision.chosen, self.reward), review=Review.complete([(0, 9)])
            )
        assert _frozen_state(bandit.reward) == before


class LinearRewardModelContract(RewardModelContract):
    """The contract of models that learn linear rewards <theta, x>."""

    def test_it_learns(self) -> None:
        """After 2,000 outcomes estimates are right to a few hundredths, and widths have shrunk."""
        contexts = random_contexts(np.random.default_rng(7), 50, self.n_features)
        theta = random_contexts(np.random.default_rng(99), 1, self.n_features)[0]
        model = self.trained(2000, seed=8)
        assert np.max(np.abs(model.estimate(contexts) - contexts @ theta)) < 0.05
        assert np.all(model.widths(contexts) < self.make().widths(contexts))


def _frozen_state(model: RewardModel) -> str:
    """The state as text, exact to the bit."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return [str(value.dtype), value.shape, np.ascontiguousarray(value).tobytes().hex()]
        return float(value).hex() if isinstance(value, float) else str(value)

    return json.dumps(model.state(), default=plain, sort_keys=True)
