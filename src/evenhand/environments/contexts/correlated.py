"""Correlated: features that say nearly the same thing."""

from __future__ import annotations

import numpy as np

from evenhand.environments.checks import number
from evenhand.environments.contexts.ball import into_ball
from evenhand.environments.contexts.source import ContextSource, Floats, Scene


class Correlated(ContextSource):
    """Normal features, feature i and feature j correlated by correlation^|i - j|; then into the ball.

    Some directions are hardly ever shown, so both the rewards and the metric are learned unevenly.

    >>> contexts = Correlated(2, correlation=0.9).draw(Scene(n_candidates=4000), np.random.default_rng(0))
    >>> bool(np.corrcoef(contexts.T)[0, 1] > 0.8)
    True
    """

    def __init__(self, n_features: int, *, correlation: float = 0.8, scale: float = 0.7) -> None:
        super().__init__(n_features)
        self.correlation = number("correlation", correlation, least=0, most=1)
        self.scale = number("scale", scale, least=0, above=True)

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (k, d) in the ball."""
        raw = rng.normal(size=(scene.n_candidates, self.n_features))
        rest = np.sqrt(1.0 - self.correlation**2)
        for j in range(1, self.n_features):  # each feature is made of the one before and something new
            raw[:, j] = self.correlation * raw[:, j - 1] + rest * raw[:, j]
        return into_ball(raw * (self.scale / np.sqrt(self.n_features)))
