"""Density: what the answers leave of all metrics, represented by points, and how much of it is left.

Points that remain after an answer are representative as they are; when few are left, or few that count, they are drawn
again from what is left, and walk. Hard answers cut (`HardDensity`), soft answers weigh (`SoftDensity`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.factorisations import cholesky, eigvalsh, inverse_of_lower
from evenhand.errors import SolverFailed
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.version_space._walk import fill_axes, walk
from evenhand.metrics.version_space.constraints import Constraints, values_at, weighted_sums
from evenhand.metrics.version_space.tuning import DensityTuning

AT_ONCE = 4096  # Pairs whose values are computed together: those of a thousand candidates would fill gigabytes.


@dataclass(frozen=True, eq=False, kw_only=True)
class Density(ABC):
    """Points of the density, their weights, and the answers that still matter to it. Immutable."""

    space: MetricSpace
    bound: float
    tuning: DensityTuning
    n_points: int
    points: Floats
    """(N, m)."""
    weights: Floats
    """(N,), of sum one."""
    answers: Constraints
    log_mass: float = 0.0
    """The log of the mass left, of one at the start."""
    variance: float = 0.0
    """The variance of that estimate."""

    @classmethod
    def initial(
        cls,
        space: MetricSpace,
        bound: float,
        n_points: int,
        rng: np.random.Generator,
        tuning: DensityTuning,
        **rest: Any,
    ) -> Self:
        """All metrics of norm <= bound, alike. rest: what else a density of this kind has."""
        d, m = space.n_features, space.n_unknowns
        scale = bound / (2.0 * math.sqrt(d))
        # Within scale of this centre every matrix is positive definite and of norm below the bound.
        centre, y = space.flatten(np.eye(d)) * scale, rng.standard_normal((n_points, m))
        density = cls(
            space=space,
            bound=bound,
            tuning=tuning,
            n_points=n_points,
            points=centre + 0.5 * scale * y / np.linalg.norm(y, axis=1, keepdims=True),
            weights=np.full(n_points, 1.0 / n_points),
            answers=Constraints.none(m),
            **rest,
        )
        return replace(density, points=density._walked(density.points, density.answers, rng, tuning.first_sweeps))

    # Queries.

    @property
    def mean(self) -> Floats:
        """The centroid, (m,)."""
        return weighted_sums(self.weights, self.points)

    @cached_property
    def least_shares(self) -> Floats:
        """The smallest ratio z'Gz / z'Mz over all z for each point G, M being the mean, (N,); 0 where M is singular."""
        space, mean = self.space, self.mean
        if space.structure == "diagonal":
            return np.asarray(np.min(self.points / np.maximum(mean, np.finfo(np.float64).tiny), axis=1))
        try:
            to_unit = inverse_of_lower(cholesky(space.unflatten(mean)))
        except SolverFailed:
            return np.zeros(len(self.points))
        return np.array([eigvalsh(to_unit @ space.unflatten(point) @ to_unit.T)[0] for point in self.points])

    @property
    def leans_on_the_ball(self) -> bool:
        """Whether the density is so close to ||alpha|| = bound that the truth may lie outside."""
        norm = float(self.weights @ np.linalg.norm(self.points, axis=1))
        return norm > self.bound * (1.0 - self.tuning.near_bound / (self.space.n_unknowns + 1))

    def quantiles(self, normals: Floats, q: float) -> Floats:
        """The q-quantile of <alpha, u> for each u, normals (n, m) -> (n,): a mass of q lies below it, on average."""
        return self.of_values(normals, lambda values, _: self._quantiles(values, q))

    @abstractmethod
    def _quantiles(self, values: Floats, q: float) -> Floats:
        """The q-quantile of each column of the values (N, n) of the points, (n,)."""

    def moments(self, values: Floats) -> tuple[Floats, Floats]:
        """The mean and the standard deviation of values (N, n) of the points, each (n,)."""
        mean = weighted_sums(self.weights, values)
        return mean, np.sqrt(weighted_sums(self.weights, (values - mean) ** 2))

    def of_values(self, normals: Floats, statistic: Callable[[Floats, slice], Floats]) -> Floats:
        """A statistic of <alpha, u> for each u, normals (n, m) -> (..., n).

        statistic: of the values (N, b) of the points for some of the rows, and which rows these are -> (..., b).
        """
        blocks = [slice(start, start + AT_ONCE) for start in range(0, max(len(normals), 1), AT_ONCE)]
        parts = [statistic(values_at(self.points, normals[rows]), rows) for rows in blocks]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)

    def frame(self) -> tuple[Floats, Floats]:
        """The centroid (m,) and the axes (m, m), a column each, as long as the density is wide."""
        return self.mean, np.ascontiguousarray(self._axes(self.points).T)

    def _axes(self, points: Floats) -> Floats:
        """Directions in which the points have variance one and no covariance, a row each."""
        axes = np.zeros((points.shape[1], points.shape[1]))
        columns = np.ascontiguousarray((points - np.mean(points, axis=0)).T) / math.sqrt(len(points))
        fill_axes(columns, self.tuning.min_scale * self.bound, axes)
        return axes

    @abstractmethod
    def informative(self, new: Constraints) -> Mask:
        """Which of these answers change the density, (a,)."""

    def contradicting(self, new: Constraints) -> Indices:
        """Those of these answers that all points disagree with."""
        return np.flatnonzero(np.all(new.slacks(self.points) < 0.0, axis=0))

    @abstractmethod
    def n_wrong(self, tail: float) -> int:
        """How many answers are wrong at most, all but this share of the density agreeing."""

    @abstractmethod
    def refutes(self, error_rate: float) -> bool:
        """Whether under every metric more answers are wrong than this error rate explains."""

    @abstractmethod
    def is_doubtful(self, error_rate: float) -> bool:
        """Whether under most metrics more answers are wrong than usual at this rate, which may yet be right."""

    # Learning.

    @abstractmethod
    def after(self, new: Constraints, rng: np.random.Generator) -> Self | None:
        """The density after these answers of one reviewer; None if no metric is left."""

    @abstractmethod
    def _log_weights(self, size: int) -> Floats:
        """The log-density with c soft answers of reviewer r wrong, (r, size)."""

    def _walked(self, points: Floats, answers: Constraints, rng: np.random.Generator, sweeps: int) -> Floats:
        """The points after so many sweeps of a walk that leaves the density with these answers invariant."""
        m, is_full = self.space.n_unknowns, self.space.structure == "full"
        points, table = points.copy(), np.ascontiguousarray(self._log_weights(len(answers) + 1))
        rows = answers.sorted_rows(np.zeros((0, m)) if is_full else np.eye(m), len(table))
        limits = (self.bound, self.space.n_features if is_full else 0, self.tuning.window, self.tuning.max_tries)
        for _ in range(sweeps):
            axes = np.ascontiguousarray(rng.permutation(self._axes(points)))
            walk(points, axes, *rows, table, *limits, rng)
        return points

    # Saving.

    def state(self) -> dict[str, Any]:
        """All but space, tuning, and how likely wrong answers are."""
        arrays, numbers = ("points", "weights"), ("bound", "n_points", "log_mass", "variance")
        return {
            **{name: getattr(self, name).copy() for name in arrays},
            **{name: getattr(self, name) for name in numbers},
            "answers": self.answers.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], space: MetricSpace, tuning: DensityTuning, **rest: Any) -> Self:
        """The density with this `state`, to the bit."""
        values: dict[str, Any] = {**state, "answers": Constraints.from_state(state["answers"])}
        return cls(space=space, tuning=tuning, **values, **rest)
