"""A Gaussian belief about alpha: updated by verdicts, projected onto positive semidefinite matrices, drawn from."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.factorisations import eigh
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.gaussian._moment_matching import (
    fill_moments,
    largest_deviation,
    repeated_rows,
    update_in_batches,
    update_rows,
)
from evenhand.metrics.gaussian.forms import HARD, LEAST_LEARNED, Project, Update, is_beyond, scores_of
from evenhand.metrics.gaussian.prior_shape import PriorUnits
from evenhand.metrics.gaussian.truncated_normal import quantile_above_zero
from evenhand.metrics.gaussian.tuning import DEFAULT, BayesPointTuning
from evenhand.metrics.verdicts import HalfSpaces


@dataclass(frozen=True, eq=False)
class Belief:
    """alpha ~ N(mean, cov): mean (m,), cov (m, m)."""

    mean: Floats
    cov: Floats
    tuning: BayesPointTuning = DEFAULT
    units: PriorUnits | None = None
    """Coordinates in which the prior is a multiple of I; None if it is one anyway."""

    @property
    def freedom(self) -> float:
        """The number of unknowns, each counted by its prior variance in units of the widest."""
        return float(len(self.mean)) if self.units is None else float(self.units.scales @ self.units.scales)

    def moments(self, normals: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of <alpha, u> for each row u of `normals` (n, m), each (n,)."""
        means, sds = np.empty(len(normals)), np.empty(len(normals))
        fill_moments(normals, self.mean, self.cov, means, sds)
        return means, sds

    def covariances(self, normals: Floats) -> Floats:
        """The covariances of <alpha, u> of all rows u of `normals` (n, m), (n, n). O(n m (n + m))."""
        return normals @ self.cov @ normals.T

    def scores(self, half_spaces: HalfSpaces, blur: float, softness: Floats = HARD) -> Floats:
        """How many standard deviations, with blur and softness, inside each half-space the mean lies. O(n m^2).

        softness: as in `update` -> (n,); or (s, 1), several for each -> (s, n).
        """
        return scores_of(*self.moments(half_spaces.normals), half_spaces, blur, softness)

    @cached_property
    def widest(self) -> float:
        """No standard deviation along a u with ||u|| = 1 exceeds this. O(m^2), once."""
        return largest_deviation(self.cov)

    def update(
        self,
        half_spaces: HalfSpaces,
        error_rates: Floats,
        *,
        blur: float,
        softness: Floats = HARD,
        contradiction: float = -math.inf,
    ) -> Update[Belief]:
        """Update with each half-space in turn, skipping repetitions and those that score below `contradiction`.

        error_rates: the probability that each is wrong, (n,), or (1,) for all. Thresholds, which are squared gaps, are
        blurred by a Gaussian of scale `blur`, and their roots by one of scale `softness`, (n,) or (1,). O(n m^2).
        """
        n, tuning = len(half_spaces.sides), self.tuning
        mean, cov, scores, evidences = self.mean.copy(), self.cov.copy(), np.empty(n), np.empty(n)
        columns = (half_spaces.normals, half_spaces.thresholds, half_spaces.sides)
        if len(mean) > tuning.batch_unknowns and n > 1:
            each = (np.broadcast_to(error_rates, n).copy(), np.broadcast_to(softness, n).copy())
            rows = (*columns, *each, repeated_rows(*columns))
            skipped = update_in_batches(mean, cov, rows, blur, contradiction, tuning, scores, evidences)
        else:
            limits = (
                tuning.max_shrink,
                tuning.min_slope,
                tuning.min_of_blur,
                tuning.known_variance,
                tuning.certain_score,
            )
            few, out = tuning.few_rows, (scores, evidences)
            each = (error_rates, softness)
            skipped = update_rows(mean, cov, *columns, *each, blur, contradiction, *limits, few, *out)
        return Update(Belief(mean, cov, tuning, self.units), evidences, scores, skipped)

    def update_bit(
        self, fair: HalfSpaces, any_unfair: bool, *, error_rate: float, blur: float, softness: Floats = HARD
    ) -> tuple[Belief, float]:
        """Update with one bit, whether all of `fair` hold; also how likely that bit was. O(n m^2 + m^3).

        With F the event that all hold, of probability Z, the bit's likelihood is a + c 1_F: a = eta, c = 1 - 2 eta for
        "all hold", a = 1 - eta, c = 2 eta - 1 for "not all". Moments of a sum of likelihoods are sums of moments; those
        given F come from updating with every row as certain.
        """
        all_hold = self.update(fair, np.zeros(1), blur=blur, softness=softness)
        chance = min(float(np.prod(all_hold.evidence)), self.tuning.max_chance_fair)
        a, c = (1.0 - error_rate, 2.0 * error_rate - 1.0) if any_unfair else (error_rate, 1.0 - 2.0 * error_rate)
        likelihood = a + c * chance
        return self._mixed(all_hold.belief, a / likelihood, c * chance / likelihood), likelihood

    def _mixed(self, other: Belief, own_weight: float, other_weight: float) -> Belief:
        """The moments of own_weight * self + other_weight * other; weights add up to 1, one may be negative."""
        mean = own_weight * self.mean + other_weight * other.mean
        second = own_weight * (self.cov + np.outer(self.mean, self.mean))
        second += other_weight * (other.cov + np.outer(other.mean, other.mean))
        cov = second - np.outer(mean, mean)
        values, vectors = eigh((cov + cov.T) / 2)
        floor = self.tuning.min_eigenvalue * max(float(values[-1]), float(np.trace(self.cov)))
        return replace(self, mean=mean, cov=np.asarray((vectors * np.maximum(values, floor)) @ vectors.T))

    def outgrows(self, bound: float) -> bool:
        """Whether ||alpha|| exceeds the bound, counting along each principal direction all but one deviation.

        Directions that no two candidates ever show, such as the sum of a category's levels, drift and stay uncertain.
        If the prior has a shape, only the deviation along the mean counts.

        With a_i the mean along each direction and s_i its deviation, (|a_i| - s_i)+^2 <= a_i^2 - |a_i| min(s_i, |a_i|),
        and |a| min(s, |a|) >= a^2 s / (s + |a|) >= a^2 s^2 / (w (w + r)) for any w >= all s_i and r = ||mean||. So the
        square of what is certain is at most r^2 - mean' cov mean / (w (w + r)); often no eigenvalues are needed.
        """
        square = float(self.mean @ self.mean)
        if square <= bound**2:
            return False
        uncertain = float(self.mean @ (self.cov @ self.mean))
        if self.units is not None:
            return is_beyond(bound, square, uncertain)
        if square - uncertain / (self.widest * (self.widest + math.sqrt(square))) <= bound**2:
            return False
        values, vectors = eigh(self.cov)
        certain = np.maximum(np.abs(vectors.T @ self.mean) - np.sqrt(np.maximum(values, 0.0)), 0.0)
        return float(np.linalg.norm(certain)) > bound

    def with_prior(self, old: Belief, new: Belief) -> Belief:
        """The belief as if it had started from `new` and not from `old`. O(m^3).

        In units in which the covariances of both are multiples of I: along each principal direction what was learned
        is the belief's precision less the old prior's.
        """
        if np.array_equal(self.cov, old.cov) and np.array_equal(self.mean, old.mean):
            return new  # nothing was learned
        variances, directions = self._principal()
        before, after = (1.0 / prior._in_units(prior.cov)[0, 0] for prior in (old, new))
        variances = np.maximum(variances, self.tuning.known_variance / before)
        learned = np.maximum(1.0 / variances - before, 0.0)
        if self.units is not None:
            learned[learned < LEAST_LEARNED * before] = 0.0
        shift = (directions.T @ self._in_units(self.mean)) / variances
        shift = shift - before * (directions.T @ old._in_units(old.mean))
        shift = np.where(learned > 0.0, shift, 0.0) + after * (directions.T @ new._in_units(new.mean))
        variances = 1.0 / (learned + after)
        mean = directions @ (variances * shift)
        mean = mean if self.units is None else self.units.out_of(mean)
        return replace(self, mean=mean, cov=self._from_principal(variances, directions))

    def widened(self, factor: float, max_variance: float = math.inf) -> Belief:
        """The same mean, the covariance times `factor`, but no direction's variance raised above `max_variance`.

        Variances are in units of the prior.
        """
        if math.isinf(max_variance):
            return replace(self, cov=self.cov * factor)
        variances, directions = self._principal()
        variances = np.minimum(factor * variances, np.maximum(variances, max_variance))
        return replace(self, cov=self._from_principal(variances, directions))

    def _in_units(self, table: Floats) -> Floats:
        """A mean (m,) or a covariance (m, m) in units of the prior."""
        if self.units is None:
            return table
        return self.units.into(table) if table.ndim == 1 else self.units.into(self.units.into(table).T)

    def _principal(self) -> tuple[Floats, Floats]:
        """Variances (m,) and directions (m, m), in the columns, in which the covariance is diagonal, in units."""
        return eigh(self._in_units(self.cov))

    def _from_principal(self, variances: Floats, directions: Floats) -> Floats:
        if self.units is None:
            return np.asarray((directions * variances) @ directions.T)
        roots = self.units.out_of(directions) * np.sqrt(variances)
        return np.asarray(roots @ roots.T)

    # Saving. The keys are those of version 0.1.

    def state(self) -> dict[str, Floats]:
        """Mean and covariance; the rest is known."""
        return {"mean": self.mean, "cov": self.cov}


def project_psd(belief: Belief, space: MetricSpace, bound: float) -> Belief:
    """The belief updated, for certain, with z'Gz >= 0 in every direction z in which its mean is negative."""
    tolerance = belief.tuning.psd_tolerance * bound
    if space.is_metric(belief.mean, tolerance):
        return belief
    for _ in range(belief.tuning.psd_steps * space.n_features):
        lowest, u = space.most_negative_direction(belief.mean)
        if not lowest < -tolerance:
            break
        belief = belief.update(HalfSpaces(u[None, :], np.zeros(1), np.ones(1)), np.zeros(1), blur=0.0).belief
    return belief


def refitted(
    belief: Belief,
    half_spaces: HalfSpaces,
    error_rates: Floats,
    softness: Floats,
    blur: float,
    project: Project[Belief],
) -> Belief:
    """The belief updated with the half-spaces that its mean violates, the worst m of them at a time, until none is.

    Half-spaces that hold anyway are not counted as evidence, so the result is less certain than an update with all.
    """
    for _ in range(belief.tuning.refit_passes):
        scores = belief.scores(half_spaces, blur, softness)
        worst = np.argsort(scores, kind="stable")[: len(belief.mean)]
        worst = worst[scores[worst] < 0.0]
        if not len(worst):
            break
        belief = project(belief.update(half_spaces.take(worst), error_rates, blur=blur, softness=softness).belief)
    return belief


def draw_psd(belief: Belief, space: MetricSpace, bound: float, rng: np.random.Generator) -> Floats:
    """A draw from the belief, truncated to positive semidefinite matrices, (d, d).

    As long as the draw has a negative direction, the squared length along it is drawn again, above zero, and the rest
    follows from its conditional mean.
    """
    mean, cov, tuning = belief.mean, belief.cov, belief.tuning
    variances, directions = eigh(cov)
    alpha = mean + (directions * np.sqrt(np.abs(variances))) @ rng.standard_normal(len(mean))
    for _ in range(tuning.psd_steps * space.n_features):
        lowest, u = space.most_negative_direction(alpha)
        if lowest >= -tuning.psd_tolerance * bound:
            break
        reach, quantile = cov @ u, float(rng.uniform())
        variance = max(float(u @ reach), np.finfo(np.float64).tiny)
        drawn = quantile_above_zero(np.array([u @ mean]), np.array([math.sqrt(variance)]), quantile)
        alpha = alpha + reach * ((float(drawn[0]) - float(u @ alpha)) / variance)
    return space.nearest_metric(alpha)
