"""BernoulliOutcomes: it went well or it did not."""

from __future__ import annotations

import numpy as np

from evenhand.environments.outcomes.model import Floats, OutcomeModel


class BernoulliOutcomes(OutcomeModel):
    """Outcome +1 with probability (1 + mean)/2, else -1.

    >>> sorted(set(BernoulliOutcomes().draw(np.zeros(50), np.random.default_rng(0)).tolist()))
    [-1.0, 1.0]
    """

    @property
    def noise(self) -> float:
        """1, by Hoeffding's lemma on an interval of length 2."""
        return 1.0

    def draw(self, expected: Floats, rng: np.random.Generator) -> Floats:
        """Outcomes (k,), each -1 or +1, for expected rewards (k,)."""
        return np.where(rng.random(len(expected)) < (1.0 + expected) / 2.0, 1.0, -1.0)
