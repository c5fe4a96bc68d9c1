"""ProxyGroups: two groups that differ in nothing but a proxy."""

from __future__ import annotations

import numpy as np

from evenhand.environments.checks import number
from evenhand.environments.contexts.ball import into_ball
from evenhand.environments.contexts.source import ContextSource, Floats, Scene
from evenhand.errors import InvalidInput

PROXY = 0.6
"""The proxy feature is this for one group and minus this for the other."""

PROXY_SCATTER = 0.05

MERIT_NORM = 0.7
"""The other features lie uniformly in a ball of this radius, in both groups alike. PROXY^2 + MERIT_NORM^2 < 1."""


class ProxyGroups(ContextSource):
    """The last feature tells which of two groups a candidate belongs to, up to a little scatter; the others do not.

    >>> contexts = ProxyGroups(3).draw(Scene(n_candidates=6), np.random.default_rng(0))
    >>> bool(np.all(np.abs(contexts[:, -1]) > 0.3))
    True
    """

    def __init__(self, n_features: int, *, share: float = 0.5) -> None:
        super().__init__(n_features)
        if self.n_features < 2:
            raise InvalidInput(f"n_features is {n_features}; a proxy needs at least one other feature, so 2 or more")
        self.share = number("share", share, least=0, most=1)

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (k, d); the proxy is the last column, positive for a share of `share` of the candidates."""
        k, merits = scene.n_candidates, self.n_features - 1
        raw = rng.normal(size=(k, merits))
        radius = MERIT_NORM * rng.random((k, 1)) ** (1.0 / merits)
        merit = raw * radius / np.linalg.norm(raw, axis=1, keepdims=True)
        group = np.where(rng.random((k, 1)) < self.share, 1.0, -1.0)
        proxy = group * PROXY + PROXY_SCATTER * rng.normal(size=(k, 1))
        return into_ball(np.hstack([merit, proxy]))
