"""Camps: two kinds of people, and within a kind nobody differs from anybody."""

from __future__ import annotations

import numpy as np

from evenhand.environments.contexts.ball import onto_sphere
from evenhand.environments.contexts.source import ContextSource, Floats, Scene


class Camps(ContextSource):
    """Two points on the sphere, new ones each round; everybody sits on one of them, neither camp is empty if k >= 2.

    The worst case of the count of unfair pairs: a round says no more about the metric than one pair does, and if that
    pair is unfair then so is every pair across the camps, up to k^2/4 of them.

    >>> contexts = Camps(3).draw(Scene(n_candidates=6), np.random.default_rng(0))
    >>> len(np.unique(contexts, axis=0))
    2
    """

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (k, d), copies of two."""
        k = scene.n_candidates
        points = onto_sphere(rng.normal(size=(2, self.n_features)))
        size = int(rng.integers(1, max(k, 2)))
        return points[(rng.permutation(k) < size).astype(np.intp)]
