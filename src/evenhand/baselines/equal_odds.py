"""EqualOdds: everybody has the same chance, whatever the metric; never unfair, and blind to merit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand.allocation import draw
from evenhand.contexts import as_contexts
from evenhand.decision import Decision, Review
from evenhand.metrics import Learned
from evenhand.randomness import Seed, as_generator


class EqualOdds:
    """Plays p_i = min(1, capacity / k) for all; capacity None chooses everybody.

    >>> EqualOdds(capacity=1, seed=0).decide([[1.0], [0.5]]).probabilities.tolist()
    [0.5, 0.5]
    """

    def __init__(self, *, capacity: int | None = 1, seed: Seed = None) -> None:
        self.capacity = capacity
        self.rounds = 0
        self._rng = as_generator(seed)

    def decide(self, contexts: Any) -> Decision:
        """The same odds for each of the candidates (k, d)."""
        table = as_contexts(contexts)
        k = len(table)
        p = np.full(k, 1.0 if self.capacity is None else min(1.0, self.capacity / k))
        self.rounds += 1
        return Decision(
            id=f"equal-odds-{self.rounds - 1}",
            round=self.rounds - 1,
            contexts=table,
            probabilities=p,
            chosen=draw(p, self.capacity, self._rng),
            capacity=self.capacity,
            optimistic_rewards=np.zeros(k),
        )

    def learn(
        self, decision: Decision, *, rewards: Mapping[int, float] | None = None, review: Review | None = None
    ) -> Learned:
        """Nothing is learned."""
        return Learned()
