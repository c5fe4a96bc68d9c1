"""Who decides in the experiment on people: evenhand's learners, players that learn no metric, and informed ones."""

from __future__ import annotations

import math

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.randomness import Seed
from evenhand.allocation import fair_distribution
from evenhand.bandit import FairBandit
from evenhand.baselines.lottery import Lottery, Play
from evenhand.metrics import KnownMetric
from evenhand.records.decision import Decision
from evenhand.rewards import RewardModel, RidgeUCB


class OffsetRidgeUCB(RewardModel):
    """RidgeUCB with an offset of its own, for contexts (k, d) without an intercept: the metric needs none."""

    def __init__(self, n_features: int, n_blocks: int) -> None:
        self.n_blocks, self._inner, self._n_features = n_blocks, RidgeUCB(n_features + 1), n_features

    @property
    def n_features(self) -> int:
        """The length d of a context, without the offset."""
        return self._n_features

    def _extended(self, contexts: Floats) -> Floats:
        """Contexts as a schema with an intercept would make them: n_blocks + 1 blocks of equal weight."""
        constant = np.ones((len(contexts), 1))
        return np.hstack([contexts * math.sqrt(self.n_blocks), constant]) / math.sqrt(self.n_blocks + 1)

    def estimate(self, contexts: Floats) -> Floats:
        """The expected reward of each row, (k,)."""
        return self._inner.estimate(self._extended(contexts))

    def widths(self, contexts: Floats) -> Floats:
        """The confidence width of each estimate, (k,)."""
        return self._inner.widths(self._extended(contexts))

    def optimistic(self, contexts: Floats) -> Floats:
        """Estimate plus width, capped as RidgeUCB does, (k,)."""
        return self._inner.optimistic(self._extended(contexts))

    def learn(self, contexts: Floats, rewards: Floats) -> None:
        """Learn from the outcomes (n,) of candidates with these contexts (n, d)."""
        self._inner.learn(self._extended(contexts), rewards)

    def state(self) -> dict[str, object]:
        """The model with the offset."""
        return {"n_features": self._n_features, "n_blocks": self.n_blocks, "inner": self._inner.saved()}

    @classmethod
    def from_state(cls, state: dict[str, object]) -> OffsetRidgeUCB:
        """The same model."""
        model = cls(int(str(state["n_features"])), int(str(state["n_blocks"])))
        inner = RewardModel.restored(state["inner"])  # type: ignore[arg-type]
        assert isinstance(inner, RidgeUCB)
        model._inner = inner
        return model


class PlusFavourite(Lottery):
    """Equal probabilities, but `bonus` of each place for one of those with the highest optimistic rewards."""

    _settings = ("bonus",)

    def __init__(self, bonus: float, reward: RewardModel, seed: Seed = None, *, capacity: int = 1) -> None:
        super().__init__(reward.n_features, capacity=capacity, metric=no_metric(reward), reward=reward, seed=seed)
        self.bonus = bonus

    def play(self, contexts: Floats) -> Play:
        """(1 - bonus) of the places for everybody alike, and the bonus."""
        assert self.capacity is not None
        rewards, places = self.reward.optimistic(contexts), min(self.capacity, len(contexts))
        probabilities = np.full(len(contexts), places * (1.0 - self.bonus) / len(contexts))
        probabilities[np.argsort(-rewards, kind="stable")[:places]] += self.bonus
        return Play(probabilities, rewards)


class KnownDistances(Lottery):
    """The best fair probabilities under known distances between the candidates of a study, (n, n)."""

    def __init__(self, table: Floats, reward: RewardModel, seed: Seed = None) -> None:
        super().__init__(reward.n_features, metric=no_metric(reward), reward=reward, seed=seed)
        self.table = table
        self.present: Indices = np.arange(0)
        """The rows of the candidates of the round: twins have one context and two rows."""

    def play(self, contexts: Floats) -> Play:
        """The best for optimistic rewards under the distances of those present."""
        rewards = self.reward.optimistic(contexts)
        best = fair_distribution(rewards, self.table[np.ix_(self.present, self.present)], self.capacity)
        return Play(best.probabilities, rewards, best.tight_pairs, best.worst_residual)


class Player:
    """A bandit among the candidates of a study, who are named by their rows."""

    def __init__(self, contexts: Floats, bandit: FairBandit) -> None:
        self.contexts, self.bandit = contexts, bandit

    def decide(self, candidates: Indices) -> Decision:
        """Decide among the candidates in these rows."""
        if isinstance(self.bandit, KnownDistances):
            self.bandit.present = candidates
        return self.bandit.decide(self.contexts[candidates])


def no_metric(reward: RewardModel) -> KnownMetric:
    """The metric of a player that learns none."""
    return KnownMetric(np.zeros((1, reward.n_features)))
