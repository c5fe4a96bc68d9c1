"""Drifting: a population that moves as time goes by."""

from __future__ import annotations

import numpy as np

from evenhand._internal.randomness import Seed, as_generator
from evenhand.environments.checks import whole
from evenhand.environments.contexts.source import ContextSource, Floats, Scene
from evenhand.errors import InvalidInput


class Drifting(ContextSource):
    """Any other source, turned in a random plane: once around in `period` rounds.

    Who comes now resembles who came a little earlier, and not who came half a period ago; the truth stays as it is. A
    source without a preferred direction, such as Sphere, looks the same however it is turned.

    >>> from evenhand.environments.contexts import Groups
    >>> source = Drifting(Groups(3, n_groups=1, spread=0.0, seed=0), period=100, seed=1)
    >>> first, later, around = (source.draw(Scene(1, round=t), np.random.default_rng(0)) for t in (0, 50, 100))
    >>> bool(np.allclose(first, later)), bool(np.allclose(first, around))
    (False, True)
    """

    def __init__(self, source: ContextSource, *, period: int = 1000, seed: Seed = None) -> None:
        super().__init__(source.n_features)
        if source.n_features < 2:
            raise InvalidInput(f"n_features is {source.n_features}; a population can turn only in 2 or more dimensions")
        self.source = source
        self.period = whole("period", period, least=1)
        self._plane = np.linalg.qr(as_generator(seed).normal(size=(source.n_features, 2)))[0]

    def turned(self, rows: Floats, round: int) -> Floats:
        """Rows (k, d) as they lie after so many rounds of drift."""
        angle = 2.0 * np.pi * round / self.period
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        inside = rows @ self._plane
        return np.asarray(rows + (inside @ turn - inside) @ self._plane.T)

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (k, d) of the underlying source, turned."""
        return self.turned(self.source.draw(scene, rng), scene.round)
