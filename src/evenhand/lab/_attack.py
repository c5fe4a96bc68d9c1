"""CloudAttacker: an adversary that reads the metric learner and shows the pair about which it is most wrong."""

from __future__ import annotations

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.factorisations import eigh
from evenhand.bandit import FairBandit
from evenhand.environments.contexts import ContextSource, Scene, onto_sphere
from evenhand.errors import InvalidInput
from evenhand.metrics import Pairs

N_DIRECTIONS = 256


class CloudAttacker(ContextSource):
    """Two candidates, x and -x, whose guessed squared distance exceeds the true one most.

    Where everybody is alike, that is the pair with the largest guess. x is chosen among N_DIRECTIONS random directions
    and the principal axes of the learned metric, and is no longer than makes the guess 1: a gap cannot exceed 1.
    """

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (2, d). While no FairBandit is watched, along a random direction."""
        if scene.A is None:
            raise InvalidInput("an attacker needs the truth: A of the scene is missing")
        directions = onto_sphere(rng.normal(size=(N_DIRECTIONS, self.n_features)))
        if not isinstance(scene.policy, FairBandit):
            return np.stack([directions[0], -directions[0]])
        metric = scene.policy.metric
        directions = np.concatenate([directions, eigh(metric.matrix())[1].T])
        numbers = np.broadcast_to([0, 1], (len(directions), 2))
        guesses = metric.guess(Pairs(numbers, 2.0 * directions))
        directions /= np.sqrt(np.maximum(guesses, 1.0))[:, None]
        excess = np.minimum(guesses, 1.0) - 4.0 * np.sum((directions @ scene.A.T) ** 2, axis=1)
        worst = directions[int(np.argmax(excess))]
        return np.stack([worst, -worst])
