"""SoftDensity: every disagreement costs a metric a factor that depends on the reviewer's error rate."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.version_space.constraints import Constraints, weighted_quantiles, weighted_sums
from evenhand.metrics.version_space.density import Density
from evenhand.metrics.version_space.likelihood import LearnedRates, Likelihood, log_sum
from evenhand.metrics.version_space.tuning import DensityTuning

HARD = -1  # The reviewer of answers that are never wrong.


@dataclass(frozen=True, eq=False, kw_only=True)
class SoftDensity(Density):
    """Points with weights, and how many answers of each reviewer each of them takes to be wrong."""

    likelihood: Likelihood
    wrong: Indices
    """How many of the answers that matter are wrong for each point, by reviewer, (N, r)."""
    agreed: Indices
    """How many other answers of each reviewer are wrong for all points, (r,)."""
    n_answers: Indices
    """How many answers each reviewer gave, (r,)."""

    @classmethod
    def without_reviewers(
        cls,
        space: MetricSpace,
        bound: float,
        n_points: int,
        rng: np.random.Generator,
        tuning: DensityTuning,
        likelihood: Likelihood,
    ) -> SoftDensity:
        """All metrics of norm <= bound, alike."""
        no = np.zeros(0, np.int64)
        rest = {"likelihood": likelihood, "wrong": np.zeros((n_points, 0), np.int64), "agreed": no, "n_answers": no}
        return cls.initial(space, bound, n_points, rng, tuning, **rest)

    # Queries.

    @property
    def effective_number(self) -> float:
        """How many equally weighted points the weighted ones are worth."""
        return float(1.0 / np.sum(self.weights**2))

    def _quantiles(self, values: Floats, q: float) -> Floats:
        return weighted_quantiles(values, self.weights, q)

    def informative(self, new: Constraints) -> Mask:
        """Which of these answers some of the density disagrees with, (a,)."""
        return np.asarray(weighted_sums(self.weights, new.slacks(self.points) < 0.0) > self.tuning.min_cut)

    def _near(self, slacks: Floats) -> Mask:
        """Which soft answers with these slacks (N, a) still tell metrics apart, (a,)."""
        mean, sd = self.moments(slacks)
        matters = weighted_sums(self.weights, slacks < 0.0) > self.tuning.min_cut
        return np.asarray(matters & ((mean > -self.tuning.near_soft * sd) | np.any(slacks >= 0.0, axis=0)))

    def n_wrong(self, tail: float) -> int:
        """How many answers are wrong at most, all but this share of the density agreeing."""
        total = int(np.sum(self.agreed)) + np.sum(self.wrong, axis=1)
        order = np.argsort(total)
        return int(total[order[np.argmax(np.cumsum(self.weights[order]) >= 1.0 - tail)]])

    def refutes(self, error_rate: float) -> bool:
        """Whether under every metric more answers are wrong than this error rate explains, but for one case in 10^6."""
        return self._chance_of_wrong(self.n_wrong(tail=1.0), error_rate) < self.tuning.refuting_chance

    def is_doubtful(self, error_rate: float) -> bool:
        """Whether under most metrics more answers are wrong than usual at this rate, which may yet be right."""
        is_unusual = self._chance_of_wrong(self.n_wrong(tail=0.5), error_rate) < self.tuning.doubtful_chance
        return is_unusual and not self.refutes(error_rate)

    def _chance_of_wrong(self, n_wrong: int, error_rate: float) -> float:
        """How likely so many answers are wrong, or more."""
        from scipy.special import bdtrc  # deciding should not wait for it

        n_answers = int(np.sum(self.n_answers))
        return 1.0 if n_wrong <= error_rate * n_answers else float(bdtrc(n_wrong - 1, n_answers, error_rate))

    @cached_property
    def rates(self) -> tuple[Floats, Floats]:
        """A grid of error rates, and the log of how likely each is for each reviewer: (g,), (r, g)."""
        assert isinstance(self.likelihood, LearnedRates)
        logs = []
        for row, n in enumerate(self.n_answers):
            counts, places = np.unique(self.agreed[row] + self.wrong[:, row], return_inverse=True)
            given = (np.array([[n]]), counts[None, :])
            joint, seen = self.likelihood.log_joint(self.likelihood.rates, *given), self.likelihood.log_weights(*given)
            logs.append(log_sum((joint[0] - seen[0][:, None]).T + np.log(np.bincount(places, self.weights))))
        return self.likelihood.rates, np.array(logs)

    # Learning.

    def after(self, new: Constraints, rng: np.random.Generator) -> SoftDensity:
        """The density after these answers of one reviewer."""
        if not len(new):
            return self
        reviewer = int(new.reviewers[0])
        density, slacks = self._with_reviewer(reviewer), new.slacks(self.points)
        near = self._near(slacks)
        are_wrong = ~near & np.all(slacks < 0.0, axis=0)
        density = density._counted(len(new) - int(near.sum()), int(are_wrong.sum()), reviewer)
        new, slacks = new.take(near), slacks[:, near]
        enough = self.tuning.enough_survivors
        resolved = (weighted_sums(self.weights, slacks >= 0.0) >= enough) | (density._factor(reviewer) >= enough)
        density = density._with_answers(new.take(resolved), rng)
        for row in np.flatnonzero(~resolved):
            density = density._approached_softly(new.take(np.arange(len(new)) == row), rng)
        return density

    def _counted(self, n: int, n_wrong: int, reviewer: int) -> SoftDensity:
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

    def _with_answers(self, new: Constraints, rng: np.random.Generator) -> SoftDensity:
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

    def _reweighed(self, after: SoftDensity) -> SoftDensity:
        """The same points after more answers, weighed by how their density changed."""
        return after._weighted(self.weights, after._log_densities - self._log_densities)

    def _weighted(self, weights: Floats, log_factors: Floats) -> SoftDensity:
        """With these weights times the factors, and the mass that leaves."""
        with np.errstate(divide="ignore"):
            logs = np.log(weights) + log_factors
        top = float(np.max(logs))
        new = np.exp(logs - top)
        total = float(np.sum(new))
        new /= total
        variance = self.variance + max(float(np.sum(new**2) - np.sum(weights**2)), 0.0)
        return replace(self, weights=new, log_mass=self.log_mass + top + math.log(total), variance=variance)

    def _settled(self, rng: np.random.Generator) -> SoftDensity:
        """With enough points that count."""
        if self.effective_number >= self.tuning.effective_share * self.n_points:
            return self
        return self._resampled(rng)

    def _approached_softly(self, new: Constraints, rng: np.random.Generator) -> SoftDensity:
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
        agreeing, log_share, variance, is_reached = before, 0.0, before.variance, False
        for _ in range(tuning.max_stages):
            slacks = new.slacks(agreeing.points)[:, 0]
            amount = max(-float(np.quantile(slacks, 1.0 - tuning.stage_survivors)), 0.0)
            weights = np.where(slacks >= -amount, agreeing.weights, 0.0)
            share = float(np.sum(weights))
            log_share += math.log(share)
            variance += (1.0 - share) / (share * self.n_points)
            if log_share < log_others - tuning.far_less:
                break
            agreeing = replace(agreeing, weights=weights / share)
            agreeing = agreeing._resampled(rng, hard.loosened(np.array([amount])))
            if amount == 0.0:
                is_reached = True
                break
        log_total = float(np.logaddexp(log_share, log_others))
        if not is_reached:  # what they may have is counted, though no point stands for it
            return replace(others, log_mass=before.log_mass + log_total)
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

    def _with_row(self, new: Constraints) -> SoftDensity:
        """The same points and weights with one more answer to look at, counted already."""
        column = np.arange(len(self.n_answers)) == new.reviewers[0]
        wrong = (new.slacks(self.points) < 0.0) * column
        return replace(self, answers=self.answers.joined(new), wrong=self.wrong + wrong)

    def _with_reviewer(self, row: int) -> SoftDensity:
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
        wrong = self.agreed[:, None] + np.arange(size)
        return self.likelihood.log_weights(np.maximum(self.n_answers[:, None], wrong), wrong)

    @cached_property
    def _log_densities(self) -> Floats:
        """The log-density of all points, (N,)."""
        table = self._log_weights(int(np.max(self.wrong, initial=0)) + 1)
        return np.asarray(np.sum(table[np.arange(len(table)), self.wrong], axis=1))

    def _resampled(self, rng: np.random.Generator, extra: Constraints | None = None) -> SoftDensity:
        """With points of one weight: drawn in proportion to their weights, then walked, an extra answer in force."""
        places = (np.arange(self.n_points) + rng.random()) / self.n_points
        rows = np.minimum(np.searchsorted(np.cumsum(self.weights), places), len(self.points) - 1)
        answers = self.answers if extra is None else self.answers.joined(extra)
        points = self._walked(self.points[rows], answers, rng, self.tuning.soft_sweeps)
        weights = np.full(self.n_points, 1.0 / self.n_points)
        slacks = self.answers.slacks(points)
        are_wrong, sd = slacks < 0.0, np.std(slacks, axis=0)
        # Answers on which all points agree by far carry no information; while approaching an extra answer keep all.
        near = np.any(are_wrong != are_wrong[0], axis=0) | (extra is not None)
        far = np.abs(np.mean(slacks, axis=0)) / np.maximum(sd, np.finfo(np.float64).tiny)
        near |= far < self.tuning.near_soft
        agreed, wrong = self.agreed + self._per_reviewer(are_wrong[:1], ~near)[0], self._per_reviewer(are_wrong, near)
        walked = replace(self, points=points, weights=weights, wrong=wrong, agreed=agreed)
        kept = near.copy()
        kept[np.argsort(np.where(near, far, np.inf), kind="stable")[self.tuning.max_soft :]] = False
        after = replace(walked, answers=self.answers.take(kept))
        if np.array_equal(kept, near):
            return after
        # Beyond the maximum the farthest answers are forgotten. That may add mass to metrics that no point represents:
        # the mass of one more point is allowed for.
        n_forgotten = np.bincount(self.answers.reviewers[near & ~kept], minlength=len(agreed))
        gains = [
            n * math.log1p((1.0 / self._factor(row) - 1.0) / (self.n_points + 1)) for row, n in enumerate(n_forgotten)
        ]
        wrong, n_answers = self._per_reviewer(are_wrong, kept), self.n_answers - n_forgotten
        return walked._reweighed(replace(after, wrong=wrong, n_answers=n_answers, log_mass=after.log_mass + sum(gains)))

    def _per_reviewer(self, are_wrong: Mask, some: Mask) -> Indices:
        """How many of some answers of each reviewer are wrong: (N, a), (a,) -> (N, r)."""
        counts = np.zeros((len(are_wrong), len(self.agreed)), np.int64)
        for row in range(len(self.agreed)):
            counts[:, row] = np.sum(are_wrong[:, some & (self.answers.reviewers == row)], axis=1)
        return counts

    def state(self) -> dict[str, Any]:
        """All but space, tuning and likelihood."""
        return {**super().state(), **{name: getattr(self, name).copy() for name in ("wrong", "agreed", "n_answers")}}
