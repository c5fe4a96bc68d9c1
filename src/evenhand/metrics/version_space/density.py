"""Density: what the answers leave of all metrics, represented by points, and how much of it is left.

Hard answers cut: metrics that disagree are gone. Soft answers weigh: a disagreement costs a metric a factor that
depends on the reviewer's error rate. Points that remain are representative as they are; when few are left, or few
that count, they are drawn again from what is left, and walk.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.version_space._walk import fill_axes, walk
from evenhand.metrics.version_space.constraints import Constraints
from evenhand.metrics.version_space.likelihood import Likelihood
from evenhand.metrics.version_space.tuning import DensityTuning

HARD = -1  # The reviewer of answers that are never wrong.


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
        weights, nobody = np.full(n_points, 1.0 / n_points), np.zeros(0, np.int64)
        parts = (points, weights, Constraints.none(m), np.zeros((n_points, 0), np.int64), nobody, nobody)
        density = cls(space, bound, likelihood, tuning, n_points, *parts)
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
        """Directions in which the points have variance one and no covariance, a row each."""
        axes = np.zeros((points.shape[1], points.shape[1]))
        columns = np.ascontiguousarray((points - np.mean(points, axis=0)).T) / math.sqrt(len(points))
        fill_axes(columns, self.tuning.min_scale * self.bound, axes)
        return axes

    def informative(self, new: Constraints) -> Mask:
        """Which of these answers change the density, (a,)."""
        slacks = new.slacks(self.points)
        if self.likelihood is None:
            return np.asarray(np.mean(slacks < 0.0, axis=0) > self.tuning.min_cut)
        return self._near(slacks)

    def _near(self, slacks: Floats) -> Mask:
        """Which soft answers with these slacks (N, a) still tell metrics apart, (a,)."""
        mean, sd = self.moments(slacks)
        matters = self.weights @ (slacks < 0.0) > self.tuning.min_cut
        return np.asarray(matters & (mean > -self.tuning.near_soft * sd))

    def contradicting(self, new: Constraints) -> Indices:
        """Those of these answers that all points disagree with."""
        return np.flatnonzero(np.all(new.slacks(self.points) < 0.0, axis=0))

    def n_wrong(self, tail: float) -> int:
        """How many answers are wrong at most, all but this share of the density agreeing."""
        total = int(np.sum(self.agreed)) + np.sum(self.wrong, axis=1)
        order = np.argsort(total)
        return int(total[order[np.argmax(np.cumsum(self.weights[order]) >= 1.0 - tail)]])

    def reviewer_weights(self, row: int) -> tuple[Indices, Floats]:
        """Numbers of wrong answers of a reviewer, and the weight of the points that have them, each (c,)."""
        counts, places = np.unique(self.agreed[row] + self.wrong[:, row], return_inverse=True)
        return np.asarray(counts), np.asarray(np.bincount(places, self.weights), dtype=np.float64)

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
        return cut._with(cut._refilled(cut.answers, rng))._pruned()

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
            density = stage._with(stage._refilled(answers, rng))
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
        reviewer = int(new.reviewers[0])
        density, slacks = self._with_reviewer(reviewer), new.slacks(self.points)
        near = self._near(slacks)
        density = density._counted(len(new) - int(near.sum()), int(np.sum(slacks[0, ~near] < 0.0)), reviewer)
        new, slacks = new.take(near), slacks[:, near]
        enough = self.tuning.enough_survivors
        resolved = (self.weights @ (slacks >= 0.0) >= enough) | (density._factor(reviewer) >= enough)
        density = density._with_answers(new.take(resolved), rng)
        for row in np.flatnonzero(~resolved):
            density = density._approached_softly(new.take(np.arange(len(new)) == row), rng)
        return density

    def _counted(self, n: int, n_wrong: int, reviewer: int) -> Density:
        """After n answers of a reviewer that are right for all points, but for n_wrong that are wrong for all."""
        if n == 0:
            return self
        column = np.arange(len(self.n_answers)) == reviewer
        after = replace(self, agreed=self.agreed + n_wrong * column, n_answers=self.n_answers + n * column)
        return self._reweighed(after)

    def _factor(self, reviewer: int) -> float:
        """What one more wrong answer of a reviewer costs a metric, of a density of one."""
        wrong = int(np.median(self.wrong[:, reviewer]))
        table = self._log_weights(wrong + 2)[reviewer]
        return math.exp(table[wrong + 1] - table[wrong])

    def _with_answers(self, new: Constraints, rng: np.random.Generator) -> Density:
        """After more answers of one reviewer, points that disagree among each other about them."""
        if not len(new):
            return self
        column = np.arange(len(self.n_answers)) == new.reviewers[0]
        after = replace(
            self,
            answers=self.answers.joined(new),
            wrong=self.wrong + np.sum(new.slacks(self.points) < 0.0, axis=1)[:, None] * column,
            n_answers=self.n_answers + len(new) * column,
        )
        return self._reweighed(after)._settled(rng)

    def _reweighed(self, after: Density) -> Density:
        """The same points after more answers, weighed by how their density changed."""
        return after._weighted(self.weights, after._log_densities() - self._log_densities())

    def _weighted(self, weights: Floats, log_factors: Floats) -> Density:
        """With these weights times the factors, and the mass that leaves."""
        with np.errstate(divide="ignore"):
            logs = np.log(weights) + log_factors
        top = float(np.max(logs))
        new = np.exp(logs - top)
        total = float(np.sum(new))
        new /= total
        variance = self.variance + max(float(np.sum(new**2) - np.sum(weights**2)), 0.0)
        return replace(self, weights=new, log_mass=self.log_mass + top + math.log(total), variance=variance)

    def _settled(self, rng: np.random.Generator) -> Density:
        """With enough points that count."""
        if self.effective_number >= self.tuning.effective_share * self.n_points:
            return self
        return self._resampled(rng)

    def _approached_softly(self, new: Constraints, rng: np.random.Generator) -> Density:
        """After one answer that few points agree with: a mixture of points for which it is right, and of the others.

        The former are found by stages: the answer counts as hard and moves in. If they turn out to have far less mass
        than the others keep, the answer is taken to be wrong.
        """
        tuning, reviewer = self.tuning, int(new.reviewers[0])
        wrong = new.slacks(self.points)[:, 0] < 0.0
        if self.weights @ wrong <= 1.0 - tuning.enough_survivors:
            return self._with_answers(new, rng)
        before, hard = self._counted(1, 0, reviewer), replace(new, reviewers=np.array([HARD]))
        others = before._reweighed(before._with_row(new))
        log_others = math.log(self._factor(reviewer) * float(self.weights @ wrong))
        agreeing, log_share, variance = before, 0.0, before.variance
        for _ in range(tuning.max_stages):
            slacks = new.slacks(agreeing.points)[:, 0]
            amount = max(-float(np.quantile(slacks, 1.0 - tuning.stage_survivors)), 0.0)
            weights = np.where(slacks >= -amount, agreeing.weights, 0.0)
            share = float(np.sum(weights))
            log_share += math.log(share)
            variance += (1.0 - share) / (share * self.n_points)
            if log_share < log_others - tuning.far_less:
                return others
            agreeing = replace(agreeing, weights=weights / share)
            agreeing = agreeing._resampled(rng, hard.loosened(np.array([amount])))
            if amount == 0.0:
                break
        else:
            return others
        log_total = float(np.logaddexp(log_share, log_others))
        share = math.exp(log_share - log_total)
        agreeing, disagreeing = agreeing._with_row(new), np.where(wrong, self.weights, 0.0)
        mixture = replace(
            others,
            points=np.concatenate([agreeing.points, self.points]),
            weights=np.concatenate([share * agreeing.weights, (1.0 - share) / np.sum(disagreeing) * disagreeing]),
            wrong=np.concatenate([agreeing.wrong, others.wrong]),
            log_mass=before.log_mass + log_total,
            variance=variance,
        )
        return mixture._resampled(rng)

    def _with_row(self, new: Constraints) -> Density:
        """The same points and weights with one more answer to look at, counted already."""
        column = np.arange(len(self.n_answers)) == new.reviewers[0]
        wrong = (new.slacks(self.points) < 0.0) * column
        return replace(self, answers=self.answers.joined(new), wrong=self.wrong + wrong)

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

    def _resampled(self, rng: np.random.Generator, extra: Constraints | None = None) -> Density:
        """With points of one weight: drawn in proportion to their weights, then walked, an extra answer in force."""
        places = (np.arange(self.n_points) + rng.random()) / self.n_points
        rows = np.minimum(np.searchsorted(np.cumsum(self.weights), places), len(self.points) - 1)
        answers = self.answers if extra is None else self.answers.joined(extra)
        points = self._walked(self.points[rows], answers, rng, self.tuning.soft_sweeps)
        weights = np.full(self.n_points, 1.0 / self.n_points)
        slacks = self.answers.slacks(points)
        sd = np.std(slacks, axis=0)  # what all agree on by far tells nothing; on the way to an extra answer keep all
        near = (np.abs(np.mean(slacks, axis=0)) < self.tuning.near_soft * sd) | (extra is not None)
        settled = self.answers.reviewers[~near & (slacks[0] < 0.0)]
        agreed = self.agreed + np.bincount(settled, minlength=len(self.agreed))
        near &= np.cumsum(near[::-1])[::-1] <= self.tuning.max_soft  # beyond the maximum the oldest are forgotten
        answers, wrong = self.answers.take(near), np.zeros((self.n_points, len(agreed)), np.int64)
        for row in range(len(agreed)):
            wrong[:, row] = np.sum(slacks[:, near][:, answers.reviewers == row] < 0.0, axis=1)
        return replace(self, points=points, weights=weights, answers=answers, wrong=wrong, agreed=agreed)

    def _refilled(self, answers: Constraints, rng: np.random.Generator) -> Floats:
        """As many points as at the start: those that survived these hard answers, and copies of them; all walk."""
        copies = self.points[rng.integers(len(self.points), size=self.n_points - len(self.points))]
        return self._walked(np.concatenate([self.points, copies]), answers, rng, self.tuning.sweeps)

    def _walked(self, points: Floats, answers: Constraints, rng: np.random.Generator, sweeps: int) -> Floats:
        """The points after so many sweeps of a walk that leaves the density with these answers invariant."""
        points, rows = points.copy(), self._sorted_rows(answers)
        is_full = self.space.structure == "full"
        table = np.zeros((0, 1)) if self.likelihood is None else self._log_weights(len(answers) + 1)
        limits = (self.bound, self.space.n_features if is_full else 0, self.tuning.window, self.tuning.max_tries)
        for _ in range(sweeps):
            axes = np.ascontiguousarray(rng.permutation(self._axes(points)))
            walk(points, axes, *rows, np.ascontiguousarray(table), *limits, rng)
        return points

    def _sorted_rows(self, answers: Constraints) -> tuple[Floats, Floats, int, Indices, Indices, Indices]:
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
        values: dict[str, Any] = {**state, "answers": Constraints.from_state(state["answers"])}
        return cls(space=space, likelihood=likelihood, tuning=tuning, **values)
