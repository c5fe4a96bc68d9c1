"""WobblingAuditor: nearly a Mahalanobis distance, but every pair a little off, always by the same."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand._internal.randomness import Seed, as_generator
from evenhand.auditors.checks import as_share
from evenhand.auditors.distance_auditor import DistanceAuditor
from evenhand.auditors.mahalanobis import MahalanobisAuditor

FREQUENCY = 4 * math.pi
"""How fast the wobble changes: up and down again when the sum of two contexts moves by half a unit."""


class WobblingAuditor(DistanceAuditor):
    """Distances ||A (x - y)|| (1 + w s(x, y)): `wobble` w from 0 to 1, s(x, y) = sin(<v, x + y> + phase) in [-1, 1].

    A is any (r, d) matrix. The seed settles v, a random direction times FREQUENCY, and the phase, once. So a pair has
    one distance, whenever it is shown and whoever comes first, and pairs that are much alike are off by much the same.

    >>> contexts = np.array([[1.0, 0.0], [0.0, 0.0]])
    >>> distance = WobblingAuditor(np.eye(2), 0.1, seed=0).distances(contexts)[0, 1]
    >>> bool(0.9 <= distance <= 1.1 and distance != 1.0)
    True
    """

    def __init__(self, A: ArrayLike, wobble: float, *, seed: Seed = None) -> None:
        self._plain = MahalanobisAuditor(A)
        self.wobble = as_share("wobble", wobble)
        rng = as_generator(seed)
        direction = rng.normal(size=self.A.shape[1])
        self._waves = FREQUENCY * direction / np.linalg.norm(direction)
        self._phase = rng.uniform(0.0, math.pi)  # half of it for each of the two

    @property
    def A(self) -> NDArray[np.float64]:
        """The matrix (r, d) of the distance without its wobble."""
        return self._plain.A

    def distances(self, contexts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The true distances between the rows of `contexts` (k, d), (k, k)."""
        angles = contexts @ self._waves + self._phase
        wobbles = self.wobble * np.sin(angles[:, None] + angles[None, :])
        return np.asarray(self._plain.distances(contexts) * (1.0 + wobbles))
