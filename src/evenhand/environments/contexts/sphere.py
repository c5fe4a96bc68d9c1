"""Sphere: uniform on the unit sphere."""

from __future__ import annotations

import numpy as np

from evenhand.environments.contexts.ball import onto_sphere
from evenhand.environments.contexts.source import ContextSource, Floats, Scene


class Sphere(ContextSource):
    """Every direction is equally likely and every context has norm 1: the standard population.

    >>> Sphere(3).draw(Scene(n_candidates=4), np.random.default_rng(0)).shape
    (4, 3)
    """

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (k, d) of norm 1."""
        return onto_sphere(rng.normal(size=(scene.n_candidates, self.n_features)))
