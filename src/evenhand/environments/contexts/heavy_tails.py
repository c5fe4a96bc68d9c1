"""HeavyTails: most people are ordinary, a few are extreme."""

from __future__ import annotations

import numpy as np

from evenhand.environments.checks import number
from evenhand.environments.contexts.ball import into_ball
from evenhand.environments.contexts.source import ContextSource, Floats, Scene


class HeavyTails(ContextSource):
    """Student's t with few degrees of freedom in every feature, clipped to the ball.

    Small norms are the rule, so pairs are close and their distances hard to tell; now and then somebody lies on the
    surface.

    >>> norms = np.linalg.norm(HeavyTails(3).draw(Scene(n_candidates=1000), np.random.default_rng(0)), axis=1)
    >>> bool(np.median(norms) < 0.4), bool(np.mean(norms > 0.999) > 0.02)
    (True, True)
    """

    def __init__(self, n_features: int, *, degrees_of_freedom: float = 1.5, scale: float = 0.2) -> None:
        super().__init__(n_features)
        self.degrees_of_freedom = number("degrees_of_freedom", degrees_of_freedom, least=0.5)
        self.scale = number("scale", scale, least=0, above=True)

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (k, d) in the ball."""
        raw = rng.standard_t(self.degrees_of_freedom, size=(scene.n_candidates, self.n_features))
        return into_ball(raw * (self.scale / np.sqrt(self.n_features)))
