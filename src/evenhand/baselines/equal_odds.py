"""EqualOdds: everybody has the same chance, whatever the metric; never unfair, and blind to merit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand._internal.randomness import Seed, as_generator
from evenhand.baselines.lottery import Odds, hold
from evenhand.metrics import Learned
from evenhand.records.contexts import as_contexts
from evenhand.records.decision import Decision, Review


class EqualOdds:
    """Plays p_i = min(1, capacity / k) for all; capacity None chooses everybody.

    The trivial answer to individual fairness (Dwork, Hardt, Pitassi, Reingold, Zemel 2012): a constant lottery is
    fair under every metric.

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
        odds = Odds(np.full(k, 1.0 if self.capacity is None else min(1.0, self.capacity / k)), np.zeros(k))
        decision = hold(odds, table, round=self.rounds, capacity=self.capacity, rng=self._rng)
        self.rounds += 1
        return replace(decision, id=f"equal-odds-{decision.round}")

    def learn(
        self, decision: Decision, *, rewards: Mapping[int, float] | None = None, review: Review | None = None
    ) -> Learned:
        """Nothing is learned."""
        return Learned()
