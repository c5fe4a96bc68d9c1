"""Density: what the answers leave of all metrics, represented by points, and how much of it is left.

Hard answers cut: metrics that disagree are gone. Soft answers weigh: a disagreement costs a metric a factor that depends
on the reviewer's error rate. Points that remain are representative as they are; when few are left, or few that count,
they are drawn again from what is left, and walk.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.half_spaces import MemoryTuning
from evenhand.metrics.version_space._walk import walk
from evenhand.metrics.version_space.constraints import Constraints
from evenhand.metrics.version_space.likelihood import Likelihood

HARD = -1  # The reviewer of answers that are never wrong.


@dataclass(frozen=True)
class DensityTuning(MemoryTuning):
    """The tuning constants of VersionSpace, with their reasons. A subclass may set another record as its `tuning`."""

    min_points: int = 300
    points_per_unknown: int = 3
    """Points: the first, or the second times m if that is more. The 0.05-quantile of 300 rests on 15 of them."""
    effective_share: float = 0.5
    """The points walk once fewer than this share of them counts."""
    enough_survivors: float = 0.1
    """A hard cut that fewer points survive is approached in stages,"""
    stage_survivors: float = 0.25
    """each of which this share survives,"""
    max_stages: int = 40
    """at most so many."""
    sweeps: int = 2
    soft_sweeps: int = 6
    """How often a walk takes every point along every axis, after cuts and where answers are soft."""
    first_sweeps: int = 30
    """The same to fill the set of all metrics from a point inside it."""
    window: float = 8.0
    """How far one move may lead where answers are soft, in standard deviations: further places are seldom accepted."""
    max_tries: int = 200
    """Places tried on a chord. Each rejection halves it on average: a point that finds none stays where it is."""
    min_cut: float = 0.01
    """An answer that cuts off less than this share is not laid on: nothing is lost but a sliver of knowledge."""
    near: float = 10.0
    """A hard face farther than this many standard deviations from all points is dropped,"""
    dropped: float = math.exp(-9.0)
    """and what lies behind it, less than this share of a log-concave density, counts as gained."""
    near_agreed: float = 0.5
    near_soft: float = 6.0
    """Soft answers are taken for settled where all points agree by the first, or all disagree by the second, in standard
    deviations: a wrong answer tells little, a right one that no point agrees with would tell much."""
    max_soft: int = 2500
    """Maximum soft answers that a walk looks at, the newest; more are needed where a third of them is wrong."""
    min_scale: float = 1e-12
    """Least length of an axis, relative to the bound."""
    near_bound: float = 0.5
    """The mean norm of all metrics of norm <= B is B - B / (m + 1). When that of the density comes nearer to B than this
    share of the difference, it leans on the ball, and the truth may lie outside: the bound is doubled,"""
    max_doublings: int = 40
    """at most so many times."""
    slip_rate: float = 0.01
    """Below this error rate a wrong answer is a slip that is reported; above, it is expected."""


@dataclass(frozen=True, eq=False)
class Density:
    """Points of the density, their weights, and the answers that still matter to it. Immutable."""

    space: MetricSpace
    bound: float
    likelihood: Likelihood | None
    """None for answers that are never wrong."""
    tuning: DensityTuning
    n_points: int
    points: Floats
    """(N, m); with hard answers N is n_points at most."""
    weights: Floats
    """(N,), of sum one."""
    answers: Constraints
    wrong: Indices
    """How many of these answers of each reviewer are wrong for each point, (N, r)."""
    agreed: Indices
    """How many other answers of each reviewer are wrong for all points, (r,)."""
    n_answers: Indices
    """How many answers each reviewer gave, (r,)."""
    log_mass: float = 0.0
    """The log of the mass left, of one at the start."""
    variance: float = 0.0
    """The variance of that estimate."""

    @classmethod
    def initial(
        cls,
        space: MetricSpace,
        bound: float,
        likelihood: Likelihood | None,
        n_points: int,
        rng: np.random.Generator,
        tuning: DensityTuning,
    ) -> Density:
        """All metrics of norm <= bound, alike."""
        d, m = space.n_features, space.n_unknowns
        scale = bound / (2.0 * math.sqrt(d))
        # Within scale of this centre every matrix is positive definite and of norm below the bound.
        centre, y = space.flatten(np.eye(d)) * scale, rng.standard_normal((n_points, m))
        points = centre + 0.5 * scale * y / np.linalg.norm(y, axis=1, keepdims=True)
        no = np.zeros((n_points, 0), np.int64)
        weights = np.full(n_points, 1.0 / n_points)
        nobody = no[0]
        density = cls(
            space, bound, likelihood, tuning, n_points, points, weights, Constraints.none(m), no, nobody, nobody
        )
        return replace(density, points=density._walked(points, density.answers, rng, tuning.first_sweeps))

    # Queries.

    @property
    def mean(self) -> Floats:
        """The centroid, (m,)."""
        return np.asarray(self.weights @ self.points)

    @property
    def effective_number(self) -> float:
        """How many equally weighted points the weighted ones are worth."""
        return float(1.0 / np.sum(self.weights**2))

    @property
    def leans_on_the_ball(self) -> bool:
        """Whether the density is so close to ||alpha|| = bound that the truth may lie outside."""
        norm = float(self.weights @ np.linalg.norm(self.points, axis=1))
        return norm > self.bound * (1.0 - self.tuning.near_bound / (self.space.n_unknowns + 1))

    def quantiles(self, normals: Floats, q: float) -> Floats:
        """The q-quantile of <alpha, u> for each u, never above the sample's: normals (n, m) -> (n,)."""
        values = self.points @ normals.T
        if self.likelihood is None:
            rank = max(int(q * (len(values) + 1)), 1) - 1
            return np.asarray(np.partition(values, rank, axis=0)[rank])
        order = np.argsort(values, axis=0)
        last = np.argmax(np.cumsum(self.weights[order], axis=0) >= q, axis=0)
        columns = np.arange(values.shape[1])
        return np.asarray(values[order[last, columns], columns])

    def moments(self, values: Floats) -> tuple[Floats, Floats]:
        """The mean and the standard deviation of values (N, n) of the points, each (n,)."""
        mean = self.weights @ values
        return mean, np.sqrt(np.maximum(self.weights @ (values - mean) ** 2, 0.0))

    def frame(self) -> tuple[Floats, Floats]:
        """The centroid (m,) and the axes (m, m), a column each, as long as the density is wide."""
        return self.mean, np.ascontiguousarray(self._axes(self.points).T)

    def _axes(self, points: Floats) -> Floats:
        _, scales, axes = np.linalg.svd(points - np.mean(points, axis=0), full_matrices=False)
        return axes * np.maximum(scales / math.sqrt(len(points)), self.tuning.min_scale * self.bound)[:, None]

    def informative(self, new: Constraints) -> Mask:
        """Which of these answers change the density, (a,)."""
        slacks = new.slacks(self.points)
        if self.likelihood is None:
            return np.asarray(np.mean(slacks < 0.0, axis=0) > self.tuning.min_cut)
        return self._near(slacks)

    def _near(self, slacks: Floats) -> Mask:
        """Which soft answers with these slacks (N, a) still tell metrics apart, (a,)."""
        _, sd = self.moments(slacks)
        nearly = np.min(slacks, axis=0) < self.tuning.near_agreed * sd
        return np.asarray(nearly & (np.max(slacks, axis=0) > -self.tuning.near_soft * sd))

    def contradicting(self, new: Constraints) -> Indices:
        """Those of these answers that all points disagree with."""
        return np.flatnonzero(np.all(new.slacks(self.points) < 0.0, axis=0))

    def n_wrong(self, tail: float) -> int:
        """How many answers are wrong at most, all but this share of the density agreeing."""
        total = int(np.sum(self.agreed)) + np.sum(self.wrong, axis=1)
        order = np.argsort(total)
        return int(total[order[np.argmax(np.cumsum(self.weights[order]) >= 1.0 - tail)]])

    def reviewer_weights(self, row: int) -> tuple[Floats, Floats]:
        """Numbers of wrong answers of a reviewer, and the weight of the points that have them, each (c,)."""
        counts, places = np.unique(self.agreed[row] + self.wrong[:, row], return_inverse=True)
        return counts, np.bincount(places, self.weights)

    # Learning.

    def after(self, new: Constraints, rng: np.random.Generator) -> Density | None:
        """The density after these answers of one reviewer; None if no metric is left."""
        if not len(new):
            return self
        return self._cut(new, rng) if self.likelihood is None else self._weighed(new, rng)

    def _cut(self, new: Constraints, rng: np.random.Generator) -> Density | None:
        tuning, slacks = self.tuning, new.slacks(self.points)
        informative = np.mean(slacks < 0.0, axis=0) > tuning.min_cut
        if not informative.any():
            return self
        new = new.take(informative)
        staged = self._approached(new, rng)
        if staged is None:
            return None
        alive = np.all(new.slacks(staged.points) >= 0.0, axis=1)
        cut = staged._with(staged.points[alive], log_share=math.log(np.mean(alive)), n=int(alive.sum()))
        cut = replace(cut, answers=self.answers.joined(new))
        if len(cut.points) >= tuning.effective_share * self.n_points:
            return cut
        points = cut._walked(cut._refilled(cut.points, rng), cut.answers, rng, tuning.sweeps)
        return cut._with(points)._pruned()

    def _approached(self, new: Constraints, rng: np.random.Generator) -> Density | None:
        """Points close enough to new answers for some of them to survive: the answers move in by stages."""
        density, tuning = self, self.tuning
        for _ in range(tuning.max_stages):
            slacks = new.slacks(density.points)
            if np.sum(np.all(slacks >= 0.0, axis=1)) >= tuning.enough_survivors * self.n_points:
                return density
            scales = np.maximum(np.std(slacks, axis=0), np.finfo(np.float64).tiny)
            depths = np.min(slacks / scales, axis=1)
            level = min(float(np.quantile(depths, 1.0 - tuning.stage_survivors)), 0.0)
            alive = depths >= level
            stage = density._with(density.points[alive], log_share=math.log(np.mean(alive)), n=int(alive.sum()))
            answers = self.answers.joined(new.loosened(-level * scales))
            density = stage._with(stage._walked(stage._refilled(stage.points, rng), answers, rng, tuning.sweeps))
        return None

    def _with(self, points: Floats, log_share: float = 0.0, n: int = 1) -> Density:
        """With these points, all of one weight, after a share of the mass was kept that n points stand for."""
        log_mass = self.log_mass + log_share
        variance = self.variance + (1.0 - math.exp(log_share)) / n
        weights = np.full(len(points), 1.0 / len(points))
        wrong = self.wrong if len(self.wrong) == len(points) else np.zeros((len(points), 0), np.int64)
        return replace(self, points=points, weights=weights, wrong=wrong, log_mass=log_mass, variance=variance)

    def _pruned(self) -> Density:
        """Without the hard faces that lie far behind all points."""
        slacks = self.answers.slacks(self.points)
        keep = np.min(slacks, axis=0) <= self.tuning.near * np.std(slacks, axis=0)
        gained = -math.log1p(-self.tuning.dropped) * int(np.sum(~keep))
        return replace(self, answers=self.answers.take(keep), log_mass=min(self.log_mass + gained, 0.0))

    def _weighed(self, new: Constraints, rng: np.random.Generator) -> Density:
        reviewer, n = int(new.reviewers[0]), len(new)
        density = self._with_reviewer(reviewer)
        slacks = new.slacks(self.points)
        near, wrong = self._near(slacks), slacks < 0.0
        column = np.arange(len(density.n_answers)) == reviewer
        after = replace(
            density,
            answers=density.answers.joined(new.take(near)),
            wrong=density.wrong + np.sum(wrong[:, near], axis=1)[:, None] * column,
            agreed=density.agreed + int(np.sum(wrong[0, ~near])) * column,
            n_answers=density.n_answers + n * column,
        )
        logs = np.log(np.maximum(self.weights, np.finfo(np.float64).tiny))
        logs += after._log_densities() - density._log_densities()
        top = float(np.max(logs))
        weights = np.exp(logs - top)
        total = float(np.sum(weights))
        after = replace(after, weights=weights / total, log_mass=self.log_mass + top + math.log(total))
        is_unresolved = bool(np.any(np.all(wrong[:, near], axis=0)))  # no point agrees, but others may
        if not is_unresolved and after.effective_number >= self.tuning.effective_share * self.n_points:
            return after
        return after._resampled(rng)

    def _with_reviewer(self, row: int) -> Density:
        missing = row + 1 - len(self.n_answers)
        if missing <= 0:
            return self
        no = np.zeros(missing, np.int64)
        return replace(
            self,
            wrong=np.column_stack([self.wrong, np.zeros((len(self.points), missing), np.int64)]),
            agreed=np.append(self.agreed, no),
            n_answers=np.append(self.n_answers, no),
        )

    def _log_weights(self, size: int) -> Floats:
        """The log-density with c answers of reviewer r wrong, beside those that are wrong for all, (r, size)."""
        assert self.likelihood is not None
        wrong = self.agreed[:, None] + np.arange(size)
        return self.likelihood.log_weights(np.maximum(self.n_answers[:, None], wrong), wrong)

    def _log_densities(self) -> Floats:
        """The log-density of all points, (N,)."""
        table = self._log_weights(int(np.max(self.wrong, initial=0)) + 1)
        return np.asarray(np.sum(table[np.arange(len(table)), self.wrong], axis=1))

    def _resampled(self, rng: np.random.Generator) -> Density:
        """With points of one weight: drawn in proportion to their weights, then walked."""
        places = (np.arange(self.n_points) + rng.random()) / self.n_points
        rows = np.minimum(np.searchsorted(np.cumsum(self.weights), places), len(self.points) - 1)
        points = self._walked(self.points[rows], self.answers, rng, self.tuning.soft_sweeps)
        weights = np.full(self.n_points, 1.0 / self.n_points)
        slacks = self.answers.slacks(points)
        near = replace(self, points=points, weights=weights)._near(slacks)
        agreed = self.agreed + np.bincount(self.answers.reviewers[~near & (slacks[0] < 0.0)], minlength=len(self.agreed))
        near &= np.cumsum(near[::-1])[::-1] <= self.tuning.max_soft  # beyond the maximum the oldest are forgotten
        answers, wrong = self.answers.take(near), np.zeros((self.n_points, len(agreed)), np.int64)
        for row in range(len(agreed)):
            wrong[:, row] = np.sum(slacks[:, near][:, answers.reviewers == row] < 0.0, axis=1)
        return replace(self, points=points, weights=weights, answers=answers, wrong=wrong, agreed=agreed)

    def _refilled(self, points: Floats, rng: np.random.Generator) -> Floats:
        """As many points as at the start, the missing ones copies."""
        return np.concatenate([points, points[rng.integers(len(points), size=max(self.n_points - len(points), 0))]])

    def _walked(self, points: Floats, answers: Constraints, rng: np.random.Generator, sweeps: int) -> Floats:
        """The points after so many sweeps of a walk that leaves the density with these answers invariant."""
        points, (A, b, *rows) = points.copy(), self._sorted_rows(answers)
        is_full = self.space.structure == "full"
        table = np.zeros((0, 1)) if self.likelihood is None else self._log_weights(len(answers) + 1)
        limits = (self.bound, self.space.n_features if is_full else 0, self.tuning.window, self.tuning.max_tries)
        for _ in range(sweeps):
            axes = np.ascontiguousarray(rng.permutation(self._axes(points)))
            walk(points, axes, A, b, *rows, np.ascontiguousarray(table), *limits, rng)
        return points

    def _sorted_rows(self, answers: Constraints) -> tuple[Any, ...]:
        """A, b, n_hard, starts, bit_starts and bit_reviewers as the kernel wants them."""
        m, is_single = self.space.n_unknowns, answers.is_single
        cone = np.eye(m) if self.space.structure == "diagonal" else np.zeros((0, m))
        single = np.flatnonzero(is_single[answers.answer])
        owners = answers.reviewers[answers.answer[single]]
        single, owners = single[np.argsort(owners, kind="stable")], np.sort(owners)
        bits = np.flatnonzero(~is_single[answers.answer])
        order = np.concatenate([single, bits])
        starts = len(cone) + np.searchsorted(owners, np.arange(len(self.n_answers) + 1))
        first = len(cone) + len(single)
        bit_starts = first + np.append(np.flatnonzero(np.diff(answers.answer[bits], prepend=-1)), len(bits))
        A = np.concatenate([cone, answers.A[order]])
        b = np.concatenate([np.zeros(len(cone)), answers.b[order]])
        return A, b, int(starts[0]), starts, bit_starts, answers.reviewers[~is_single]

    # Saving.

    def state(self) -> dict[str, Any]:
        """All but space, likelihood and tuning."""
        arrays = ("points", "weights", "wrong", "agreed", "n_answers")
        numbers = ("bound", "n_points", "log_mass", "variance")
        return {
            **{name: getattr(self, name).copy() for name in arrays},
            **{name: getattr(self, name) for name in numbers},
            "answers": self.answers.state(),
        }

    @classmethod
    def from_state(
        cls, state: dict[str, Any], space: MetricSpace, likelihood: Likelihood | None, tuning: DensityTuning
    ) -> Density:
        """The density with this `state`, to the bit."""
        values = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in state.items()}
        values["answers"] = Constraints.from_state(state["answers"])
        return cls(space=space, likelihood=likelihood, tuning=tuning, **values)
