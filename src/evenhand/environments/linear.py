"""LinearEnvironment: the standard world, contexts uniform on the sphere and Gaussian noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.randomness import Seed
from evenhand.environments.contexts.sphere import Sphere
from evenhand.environments.fair_environment import FairEnvironment
from evenhand.environments.outcomes import GaussianOutcomes
from evenhand.environments.truths import as_theta


class LinearEnvironment(FairEnvironment):
    """k candidates a round with contexts uniform on the unit sphere, rewards <theta, x> plus Gaussian noise.

    `A` matters only to those who ask the world for its metric; it is the plain Euclidean one unless given.

    >>> world = LinearEnvironment(theta=[1.0, 0.0], n_candidates=3)
    >>> contexts, info = world.reset(seed=0)
    >>> contexts.shape
    (3, 2)
    """

    def __init__(
        self,
        theta: ArrayLike,
        *,
        n_candidates: int,
        noise: float = 0.1,
        A: ArrayLike | None = None,
        seed: Seed = None,
    ) -> None:
        d = len(as_theta(theta))
        super().__init__(
            theta,
            np.eye(d) if A is None else A,
            source=Sphere(d),
            n_candidates=n_candidates,
            outcomes=GaussianOutcomes(noise=noise),
            seed=seed,
        )
