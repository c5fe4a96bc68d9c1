"""HardDensity: every metric that disagrees with an answer is gone, and the others are alike."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from evenhand._internal.arrays import Floats, Mask
from evenhand.errors import SolverFailed
from evenhand.metrics.version_space.constraints import Constraints
from evenhand.metrics.version_space.density import Density
from evenhand.metrics.version_space.extents import Outline, deepest_point
from evenhand.metrics.version_space.hit_and_run import Cloud
from evenhand.metrics.version_space.knowledge_set import KnowledgeSet, at_least_zero


@dataclass(frozen=True, eq=False, kw_only=True)
class HardDensity(Density):
    """Points of one weight, n_points at most, inside all answers."""

    def _quantiles(self, values: Floats, q: float) -> Floats:
        rank = max(int(q * (len(values) + 1)), 1) - 1
        return np.asarray(np.partition(np.ascontiguousarray(values.T), rank, axis=1)[:, rank])

    def informative(self, new: Constraints) -> Mask:
        """Which of these answers change the density, (a,)."""
        return np.asarray(np.mean(new.slacks(self.points) < 0.0, axis=0) > self.tuning.min_cut)

    def n_wrong(self, tail: float) -> int:
        """None."""
        return 0

    def refutes(self, error_rate: float) -> bool:
        """No: answers that are never wrong are refuted by one that leaves no metric."""
        return False

    def is_doubtful(self, error_rate: float) -> bool:
        """No: none is wrong."""
        return False

    def extents(self, normals: Floats) -> Floats:
        """The ends of <alpha, u> over all metrics left, normals (n, m) -> (2, n): certain, by linear programs."""
        outline = Outline(self._polyhedron(normals), self._cloud())
        return np.array([outline.extent(u) for u in normals]).reshape(-1, 2).T

    def may_fit(self, new: Constraints) -> bool:
        """Whether some alpha near those left, of any norm, agrees with answers new and old: a linear program."""
        known = self._polyhedron(np.zeros((0, self.space.n_unknowns))).joined(new.half_spaces())
        try:
            inside = deepest_point(known, self._cloud(), known.tuning.box)
        except SolverFailed:
            return True
        return inside is not None and inside.radius >= -known.tuning.touching

    def _polyhedron(self, directions: Floats) -> KnowledgeSet:
        """A set that holds all metrics left: the answers of one row each, and the cone as seen in these directions."""
        known = KnowledgeSet.initial(self.space, self.bound)
        return known.joined(at_least_zero(directions)).joined(self.answers.half_spaces())

    def _cloud(self) -> Cloud:
        centre, shape = self.frame()
        m = len(centre)
        return Cloud(centre, shape, np.zeros((0, m)), np.zeros(m))

    def _log_weights(self, size: int) -> Floats:
        return np.zeros((0, 1))

    def after(self, new: Constraints, rng: np.random.Generator) -> HardDensity | None:
        """The density after these answers; None if no metric is left."""
        tuning, new = self.tuning, new.take(self.informative(new))
        if not len(new):
            return self
        staged = self._approached(new, rng)
        if staged is None:
            return None
        alive = np.all(new.slacks(staged.points) >= 0.0, axis=1)
        cut = staged._with(staged.points[alive], log_share=math.log(np.mean(alive)), n=int(alive.sum()))
        cut = replace(cut, answers=self.answers.joined(new))
        if len(cut.points) >= tuning.effective_share * self.n_points:
            return cut
        return cut._with(cut._refilled(cut.answers, rng))._pruned()

    def _approached(self, new: Constraints, rng: np.random.Generator) -> HardDensity | None:
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
            density = stage._with(stage._refilled(answers, rng))
        return None

    def _with(self, points: Floats, log_share: float = 0.0, n: int = 1) -> HardDensity:
        """With these points, after a share of the mass was kept that n points stand for."""
        log_mass = self.log_mass + log_share
        variance = self.variance + (1.0 - math.exp(log_share)) / n
        weights = np.full(len(points), 1.0 / len(points))
        return replace(self, points=points, weights=weights, log_mass=log_mass, variance=variance)

    def _pruned(self) -> HardDensity:
        """Without the hard faces that lie far behind all points."""
        slacks = self.answers.slacks(self.points)
        keep = np.min(slacks, axis=0) <= self.tuning.near * np.std(slacks, axis=0)
        gained = -math.log1p(-self.tuning.dropped) * int(np.sum(~keep))
        return replace(self, answers=self.answers.take(keep), log_mass=min(self.log_mass + gained, 0.0))

    def _refilled(self, answers: Constraints, rng: np.random.Generator) -> Floats:
        """As many points as at the start: those that survived these hard answers, and copies of them; all walk."""
        copies = self.points[rng.integers(len(self.points), size=self.n_points - len(self.points))]
        return self._walked(np.concatenate([self.points, copies]), answers, rng, self.tuning.sweeps)
