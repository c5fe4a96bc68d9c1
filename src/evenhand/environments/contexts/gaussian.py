"""Gaussian: normal around the origin, most of it well inside the ball."""

from __future__ import annotations

import numpy as np

from evenhand.environments.checks import number
from evenhand.environments.contexts.ball import into_ball
from evenhand.environments.contexts.source import ContextSource, Floats, Scene


class Gaussian(ContextSource):
    """x ~ N(0, (scale^2 / d) I), so that E||x||^2 = scale^2 in any dimension; longer ones are pulled back to norm 1.

    >>> contexts = Gaussian(3, scale=0.1).draw(Scene(n_candidates=4), np.random.default_rng(0))
    >>> bool(np.linalg.norm(contexts, axis=1).max() < 0.5)
    True
    """

    def __init__(self, n_features: int, *, scale: float = 0.7) -> None:
        super().__init__(n_features)
        self.scale = number("scale", scale, least=0, above=True)

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (k, d) in the ball."""
        raw = rng.normal(size=(scene.n_candidates, self.n_features))
        return into_ball(raw * (self.scale / np.sqrt(self.n_features)))
