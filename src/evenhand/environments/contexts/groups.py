"""Groups: people come in clusters."""

from __future__ import annotations

import numpy as np

from evenhand._internal.randomness import Seed, as_generator
from evenhand.environments.checks import number, whole
from evenhand.environments.contexts.ball import into_ball, onto_sphere
from evenhand.environments.contexts.source import ContextSource, Floats, Scene

CENTRE_NORM = 0.8
"""How far from the origin the groups lie: room is left for their spread."""


class Groups(ContextSource):
    """Each candidate belongs to one of `n_groups` groups, equally likely, and is its centre plus N(0, spread^2 / d I).

    The centres, (n_groups, d), lie in random directions at CENTRE_NORM, drawn once from `seed`.

    >>> source = Groups(3, n_groups=2, spread=0.0, seed=0)
    >>> contexts = source.draw(Scene(n_candidates=50), np.random.default_rng(0))
    >>> len(np.unique(contexts, axis=0))
    2
    """

    def __init__(self, n_features: int, *, n_groups: int = 3, spread: float = 0.25, seed: Seed = None) -> None:
        super().__init__(n_features)
        self.spread = number("spread", spread, least=0)
        directions = as_generator(seed).normal(size=(whole("n_groups", n_groups, least=1), self.n_features))
        self.centres = CENTRE_NORM * onto_sphere(directions)

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (k, d) around the centres."""
        groups = rng.integers(len(self.centres), size=scene.n_candidates)
        raw = rng.normal(size=(scene.n_candidates, self.n_features))
        return into_ball(self.centres[groups] + raw * (self.spread / np.sqrt(self.n_features)))
