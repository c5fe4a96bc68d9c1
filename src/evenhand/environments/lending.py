"""LendingWorld: loan applicants with an income, a job, debts and a neighbourhood, and a reviewer's metric."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.randomness import Seed
from evenhand.environments.contexts import ContextSource, Scene
from evenhand.environments.fair_environment import FairEnvironment
from evenhand.environments.outcomes import GaussianOutcomes, OutcomeModel
from evenhand.schema import Number, Schema, YesNo

SCHEMA = Schema(
    [
        Number("income", low=0, high=100_000, unit="EUR", step=10_000),
        Number("employment", low=0, high=30, unit="years", step=5),
        Number("debt", low=0, high=50_000, unit="EUR", step=10_000),
        YesNo("lives_in_the_north"),
    ]
)

PAY_OFF = {"income": 0.55, "employment": 0.25, "debt": -0.55, "lives_in_the_north": 0.35, "intercept": 0.1}
"""Theta: what a loan earns. The neighbourhood predicts pay-off, as a proxy for what is not in the file."""

DIFFERENCE = {"income": 0.55, "employment": 0.35, "debt": 0.55, "lives_in_the_north": 0.0}
"""The distance across the whole range of each feature. The neighbourhood must not matter: 0."""


class Applicants(ContextSource):
    """Loan applicants.

    >>> sorted(Applicants().rows(1, np.random.default_rng(0))[0])
    ['debt', 'employment', 'income', 'lives_in_the_north']
    """

    def __init__(self) -> None:
        super().__init__(len(SCHEMA.coordinates))

    def rows(self, k: int, rng: np.random.Generator) -> list[dict[str, Any]]:
        """The files of k applicants, in the units of the schema."""
        north = rng.random(k) < 0.5
        income = np.clip(rng.gamma(4.0, 9_000.0, size=k) + 8_000.0 * north, 0, 100_000).round()
        employment = np.clip(rng.gamma(2.0, 4.0, size=k), 0, 30).round(1)
        debt = np.clip(rng.gamma(1.5, 9_000.0, size=k), 0, 50_000).round()
        columns = zip(income.tolist(), employment.tolist(), debt.tolist(), north.tolist(), strict=True)
        return [dict(zip(SCHEMA.names, row, strict=True)) for row in columns]

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Their contexts, (k, 5)."""
        return SCHEMA.encode(self.rows(scene.n_candidates, rng))


class LendingWorld(FairEnvironment):
    """Applicants drawn at random; profit linear in the file; a metric that ignores the neighbourhood.

    >>> world = LendingWorld(n_candidates=4, seed=0)
    >>> world.reset()[0].shape
    (4, 5)
    >>> sorted(world.applicants[0])
    ['debt', 'employment', 'income', 'lives_in_the_north']
    """

    schema = SCHEMA

    def __init__(
        self, *, n_candidates: int = 5, noise: float = 0.2, outcomes: OutcomeModel | None = None, seed: Seed = None
    ) -> None:
        self.applicants: list[dict[str, Any]] = []
        self._applicants = Applicants()
        super().__init__(
            np.array([PAY_OFF[name] for name in SCHEMA.coordinates]),
            reviewer_metric(),
            source=self._applicants,
            n_candidates=n_candidates,
            outcomes=outcomes if outcomes is not None else GaussianOutcomes(noise=noise),
            seed=seed,
        )

    def _draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        self.applicants = self._applicants.rows(scene.n_candidates, rng)
        return SCHEMA.encode(self.applicants)


def reviewer_metric() -> Floats:
    """The reviewer's A, (4, 5): a difference z of contexts has distance ||A z||.

    >>> reviewer_metric().shape
    (4, 5)
    """
    ranges = np.array([SCHEMA.difference(feature.name, *feature.contrasts()[0]) for feature in SCHEMA.features])
    lengths = np.linalg.norm(ranges, axis=1)
    sizes = np.array([DIFFERENCE[name] for name in SCHEMA.names])
    return np.asarray(ranges * (sizes / lengths**2)[:, None])
