"""A small world that knows its theta and its metric, for tests that look at every round."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evenhand.auditors import MahalanobisAuditor
from evenhand.baselines import Policy
from evenhand.records.decision import Decision
from tests.support.simulation import standard_world

NOISE = 0.1


class SmallWorld:
    """k candidates a round on the unit sphere of R^d; the standard theta and metric of a seed."""

    def __init__(self, d: int, k: int, *, seed: int) -> None:
        self.theta, self.A = standard_world(d, seed=seed)
        self._shape = (k, d)
        self._rng = np.random.default_rng(seed)

    def contexts(self) -> NDArray[np.float64]:
        """The candidates of a new round, (k, d)."""
        raw = self._rng.normal(size=self._shape)
        return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True))

    def teach(self, policy: Policy, decision: Decision) -> None:
        """Tell the policy what its decision brought, and what an exact reviewer says of it."""
        outcomes = decision.contexts @ self.theta + NOISE * self._rng.normal(size=len(decision.contexts))
        rewards = {i: float(outcomes[i]) for i in decision.chosen}
        policy.learn(decision, rewards=rewards, review=MahalanobisAuditor(self.A).review(decision))

    def play(self, policy: Policy, rounds: int) -> Iterator[Decision]:
        """Each decision of so many rounds, before the policy learns from it."""
        for _ in range(rounds):
            decision = policy.decide(self.contexts())
            yield decision
            self.teach(policy, decision)
