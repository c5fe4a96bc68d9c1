"""BoundedOutcomes: uniform around the expected reward, never outside [-1, 1]."""

from __future__ import annotations

import numpy as np

from evenhand.environments.checks import number
from evenhand.environments.outcomes.model import Floats, OutcomeModel


class BoundedOutcomes(OutcomeModel):
    """Outcome uniform within mean -+ h, where h is `spread`, or the way to the nearer of -1 and 1 if that is shorter.

    Clipping would move the mean; a narrower interval does not.

    >>> outcomes = BoundedOutcomes(spread=0.5).draw(np.array([0.9] * 100), np.random.default_rng(0))
    >>> bool(outcomes.min() >= 0.8), bool(outcomes.max() <= 1.0)
    (True, True)
    """

    def __init__(self, *, spread: float = 0.5) -> None:
        self.spread = number("spread", spread, least=0, most=1)

    @property
    def noise(self) -> float:
        """A uniform variable is sub-Gaussian at its own standard deviation, half-width / sqrt(3)."""
        return float(self.spread / np.sqrt(3.0))

    def draw(self, expected: Floats, rng: np.random.Generator) -> Floats:
        """Outcomes (k,) around expected rewards (k,)."""
        half_width = np.clip(1.0 - np.abs(expected), 0.0, self.spread)
        return np.asarray(np.clip(expected + half_width * rng.uniform(-1.0, 1.0, size=len(expected)), -1.0, 1.0))
