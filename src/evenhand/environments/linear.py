"""LinearEnvironment: contexts drawn at random, rewards linear in them, in Gymnasium's form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.errors import InvalidInput
from evenhand.randomness import Seed, as_generator

Floats = NDArray[np.float64]


class LinearEnvironment:
    """k candidates a round with contexts uniform on the unit sphere, rewards <theta, x> plus Gaussian noise.

    `reset` and `step` are Gymnasium's: an observation is the contexts (k, d), an action the indices of the chosen
    candidates, the reward their sum, and `info["rewards"]` each one's outcome.

    >>> world = LinearEnvironment(theta=[1.0, 0.0], n_candidates=3)
    >>> contexts, info = world.reset(seed=0)
    >>> contexts.shape
    (3, 2)
    >>> contexts, reward, terminated, truncated, info = world.step((1,))
    >>> sorted(info["rewards"])
    [1]
    """

    def __init__(self, theta: ArrayLike, *, n_candidates: int, noise: float = 0.1, seed: Seed = None) -> None:
        self.theta = np.array(theta, dtype=np.float64)
        if self.theta.ndim != 1 or not np.linalg.norm(self.theta) <= 1 + 1e-9:
            raise InvalidInput(f"theta is {theta!r}; allowed is a vector of norm <= 1")
        if n_candidates < 1 or noise < 0:
            raise InvalidInput(f"n_candidates is {n_candidates} and noise {noise}; allowed are >= 1 and >= 0")
        self.n_candidates = int(n_candidates)
        self.noise = float(noise)
        self._rng = as_generator(seed)
        self._contexts = self._draw()

    def reset(self, *, seed: Seed = None) -> tuple[Floats, dict[str, Any]]:
        """Begin anew, with a new stream if a seed is given: the first contexts, and no further information."""
        if seed is not None:
            self._rng = as_generator(seed)
        self._contexts = self._draw()
        return self._contexts, {}

    def step(self, chosen: Iterable[int]) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Choose these candidates: the next contexts, the sum of rewards, and each chosen one's outcome."""
        # One number of noise for every candidate, chosen or not: all policies meet the same world.
        noise = self.noise * self._rng.normal(size=self.n_candidates)
        outcomes = self.expected_rewards(self._contexts) + noise
        rewards = {int(i): float(outcomes[i]) for i in chosen}
        self._contexts = self._draw()
        return self._contexts, sum(rewards.values()), False, False, {"rewards": rewards}

    def expected_rewards(self, contexts: Floats) -> Floats:
        """<theta, x> of each row, (k,)."""
        return np.asarray(contexts @ self.theta)

    def _draw(self) -> Floats:
        raw = self._rng.normal(size=(self.n_candidates, len(self.theta)))
        return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True))


def random_metric(n_features: int, *, rank: int | None = None, norm: float = 0.7, seed: Seed = None) -> Floats:
    """A random A, (rank, d), with ||A'A||_F = norm; full rank unless said otherwise."""
    A = as_generator(seed).normal(size=(n_features if rank is None else rank, n_features))
    return np.asarray(A * np.sqrt(norm / np.linalg.norm(A.T @ A)))


def random_direction(n_features: int, *, seed: Seed = None) -> Floats:
    """A random theta of norm 1, (d,)."""
    theta = as_generator(seed).normal(size=n_features)
    return np.asarray(theta / np.linalg.norm(theta))
