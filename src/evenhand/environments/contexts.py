"""Where candidates come from: the populations that contexts are drawn from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_number, check_share, check_whole
from evenhand._internal.randomness import Seed, as_generator
from evenhand.errors import InvalidInput
from evenhand.records.decision import Decision

CENTRE_NORM = 0.8
"""Distance of the groups' centres from the origin; leaves room for their spread."""

PROXY = 0.6
"""The proxy feature: this for one group, minus this for the other."""

PROXY_SCATTER = 0.05

MERIT_NORM = 0.7
"""Radius of the ball of the other features, the same in both groups. PROXY^2 + MERIT_NORM^2 < 1."""


class Decider(Protocol):
    """The part of a policy that an adversary needs."""

    def decide(self, contexts: Any) -> Decision:
        """Choose among the candidates with these contexts (k, d)."""
        ...


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything visible when the contexts of a round are drawn. Populations read little of it, adversaries all."""

    n_candidates: int
    round: int = 0
    """Counted from 0 at every reset."""
    theta: Floats | None = None
    """(d,), the truth; a world always sets it."""
    A: Floats | None = None
    """(r, d), the truth; a world always sets it."""
    policy: Decider | None = None
    """The watched policy in its current state, or None."""


class ContextSource(ABC):
    """Draws the contexts of a round. It keeps no state between rounds, so one source may serve many worlds.

    Parameters (centres, directions) are fixed at construction; time comes from `scene.round`; randomness from the
    Generator that is passed in.
    """

    def __init__(self, n_features: int) -> None:
        self.n_features = check_whole("n_features", n_features, least=1)

    @abstractmethod
    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts of `scene.n_candidates` candidates, (k, d), every row of norm <= 1."""


class Sphere(ContextSource):
    """Uniform on the unit sphere: the standard population.

    >>> Sphere(3).draw(Scene(n_candidates=4), np.random.default_rng(0)).shape
    (4, 3)
    """

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (k, d) of norm 1."""
        return onto_sphere(rng.normal(size=(scene.n_candidates, self.n_features)))


class Gaussian(ContextSource):
    """x ~ N(0, (scale^2 / d) I), so that E||x||^2 = scale^2 in any dimension; longer ones are scaled to norm 1.

    >>> contexts = Gaussian(3, scale=0.1).draw(Scene(n_candidates=4), np.random.default_rng(0))
    >>> bool(np.linalg.norm(contexts, axis=1).max() < 0.5)
    True
    """

    def __init__(self, n_features: int, *, scale: float = 0.7) -> None:
        super().__init__(n_features)
        self.scale = check_number("scale", scale, above=0)

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (k, d) in the ball."""
        return into_ball(
            self._raw((scene.n_candidates, self.n_features), rng) * (self.scale / np.sqrt(self.n_features))
        )

    def _raw(self, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
        return rng.normal(size=shape)


class Correlated(Gaussian):
    """Normal features, i and j with correlation correlation^|i - j|; rows longer than 1 are scaled to norm 1.

    Some directions are rarely shown, so both the rewards and the metric are learned unevenly.

    >>> contexts = Correlated(2, correlation=0.9).draw(Scene(n_candidates=4000), np.random.default_rng(0))
    >>> bool(np.corrcoef(contexts.T)[0, 1] > 0.8)
    True
    """

    def __init__(self, n_features: int, *, correlation: float = 0.8, scale: float = 0.7) -> None:
        super().__init__(n_features, scale=scale)
        self.correlation = check_share("correlation", correlation)

    def _raw(self, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
        raw = rng.normal(size=shape)
        rest = np.sqrt(1.0 - self.correlation**2)
        for j in range(1, self.n_features):  # an autoregressive chain over the features
            raw[:, j] = self.correlation * raw[:, j - 1] + rest * raw[:, j]
        return raw


class HeavyTails(Gaussian):
    """Student's t with few degrees of freedom in every feature, clipped to the ball.

    Norms are usually small, so pairs are close and their distances hard to learn; a few candidates lie on the surface.

    >>> norms = np.linalg.norm(HeavyTails(3).draw(Scene(n_candidates=1000), np.random.default_rng(0)), axis=1)
    >>> bool(np.median(norms) < 0.4), bool(np.mean(norms > 0.999) > 0.02)
    (True, True)
    """

    def __init__(self, n_features: int, *, degrees_of_freedom: float = 1.5, scale: float = 0.2) -> None:
        super().__init__(n_features, scale=scale)
        self.degrees_of_freedom = check_number("degrees_of_freedom", degrees_of_freedom, least=0.5)

    def _raw(self, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
        return rng.standard_t(self.degrees_of_freedom, size=shape)


class Groups(ContextSource):
    """Each candidate belongs to one of `n_groups` groups, equally likely: its centre plus N(0, spread^2 / d I).

    The centres, (n_groups, d), lie in random directions at CENTRE_NORM, drawn once from `seed`.

    >>> source = Groups(3, n_groups=2, spread=0.0, seed=0)
    >>> contexts = source.draw(Scene(n_candidates=50), np.random.default_rng(0))
    >>> len(np.unique(contexts, axis=0))
    2
    """

    def __init__(self, n_features: int, *, n_groups: int = 3, spread: float = 0.25, seed: Seed = None) -> None:
        super().__init__(n_features)
        self.spread = check_number("spread", spread, least=0)
        directions = as_generator(seed).normal(size=(check_whole("n_groups", n_groups, least=1), self.n_features))
        self.centres = CENTRE_NORM * onto_sphere(directions)

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (k, d) around the centres."""
        groups = rng.integers(len(self.centres), size=scene.n_candidates)
        raw = rng.normal(size=(scene.n_candidates, self.n_features))
        return into_ball(self.centres[groups] + raw * (self.spread / np.sqrt(self.n_features)))


class Camps(ContextSource):
    """Two points on the sphere, new each round; every candidate is at one of them, neither is empty if k >= 2.

    The worst case for the count of unfair pairs: a round reveals no more about the metric than one pair does, and if
    that pair is unfair then so is every pair across the camps, up to k^2/4 of them.

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


class ProxyGroups(ContextSource):
    """The last feature reveals which of two groups a candidate belongs to, up to a little scatter; the others do not.

    >>> contexts = ProxyGroups(3).draw(Scene(n_candidates=6), np.random.default_rng(0))
    >>> bool(np.all(np.abs(contexts[:, -1]) > 0.3))
    True
    """

    def __init__(self, n_features: int, *, share: float = 0.5) -> None:
        super().__init__(n_features)
        if self.n_features < 2:
            raise InvalidInput(f"n_features must be >= 2, a proxy and another feature, got {n_features}")
        self.share = check_share("share", share)

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (k, d); the proxy is the last column, positive for a share of `share` of the candidates."""
        k, merits = scene.n_candidates, self.n_features - 1
        raw = rng.normal(size=(k, merits))
        radius = MERIT_NORM * rng.random((k, 1)) ** (1.0 / merits)
        merit = raw * radius / np.linalg.norm(raw, axis=1, keepdims=True)
        group = np.where(rng.random((k, 1)) < self.share, 1.0, -1.0)
        proxy = group * PROXY + PROXY_SCATTER * rng.normal(size=(k, 1))
        return into_ball(np.hstack([merit, proxy]))


class Drifting(ContextSource):
    """Another source, rotated in a random plane: one full turn in `period` rounds.

    Candidates resemble those of recent rounds, not those of half a period ago; the truth does not move. A source
    without a preferred direction, such as Sphere, looks the same after every rotation.

    >>> source = Drifting(Groups(3, n_groups=1, spread=0.0, seed=0), period=100, seed=1)
    >>> first, later, around = (source.draw(Scene(1, round=t), np.random.default_rng(0)) for t in (0, 50, 100))
    >>> bool(np.allclose(first, later)), bool(np.allclose(first, around))
    (False, True)
    """

    def __init__(self, source: ContextSource, *, period: int = 1000, seed: Seed = None) -> None:
        super().__init__(source.n_features)
        if source.n_features < 2:
            raise InvalidInput(f"n_features must be >= 2 for a population that rotates, got {source.n_features}")
        self.source = source
        self.period = check_whole("period", period, least=1)
        self._plane = np.linalg.qr(as_generator(seed).normal(size=(source.n_features, 2)))[0]

    def rotated(self, rows: Floats, round: int) -> Floats:
        """Rows (k, d) after this many rounds of drift."""
        angle = 2.0 * np.pi * round / self.period
        rotation = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        inside = rows @ self._plane
        return np.asarray(rows + (inside @ rotation - inside) @ self._plane.T)

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (k, d) of the underlying source, rotated."""
        return self.rotated(self.source.draw(scene, rng), scene.round)


def into_ball(rows: Floats) -> Floats:
    """Rows (k, d) with those longer than 1 scaled to length 1.

    >>> into_ball(np.array([[3.0, 4.0], [0.3, 0.4]])).tolist()
    [[0.6, 0.8], [0.3, 0.4]]
    """
    longest = np.max(np.abs(rows), axis=1, keepdims=True, initial=1.0)
    scaled = rows / longest  # so that the squares of a very long row stay finite
    return np.asarray(scaled / np.maximum(np.linalg.norm(scaled, axis=1, keepdims=True), 1.0 / longest))


def onto_sphere(rows: Floats) -> Floats:
    """Rows (k, d) scaled to length 1; a row of zeros stays one."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0))
