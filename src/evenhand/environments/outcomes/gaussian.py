"""GaussianOutcomes: the expected reward plus normal noise, the same for everybody."""

from __future__ import annotations

import numpy as np

from evenhand.environments.checks import number
from evenhand.environments.outcomes.model import Floats, OutcomeModel


class GaussianOutcomes(OutcomeModel):
    """Outcome = mean + noise * N(0, 1); not bounded.

    >>> GaussianOutcomes(noise=0.0).draw(np.array([0.3, -0.2]), np.random.default_rng(0)).tolist()
    [0.3, -0.2]
    """

    def __init__(self, *, noise: float = 0.1) -> None:
        self._noise = number("noise", noise, least=0)

    @property
    def noise(self) -> float:
        """The standard deviation."""
        return self._noise

    def draw(self, expected: Floats, rng: np.random.Generator) -> Floats:
        """Outcomes (k,) around expected rewards (k,)."""
        return np.asarray(expected + self._noise * rng.normal(size=len(expected)))
