"""A Gaussian belief about a metric as a function of pairs: nothing grows with the number of unknowns.

Csato and Opper, "Sparse on-line Gaussian processes", Neural Computation 2002. After updates with the pairs z_1 ... z_n,
the supports, the squared distance of a pair z has

    mean  c |z|^2 + k'a,    variance  k(z, z) - k'Ck,    k = (k(z, z_1), ..., k(z, z_n)).

A half-space that changes the moments by (step, shrink) adds a support, with s = (-Ck, 1): a += step s, C += shrink ss'.
So C = H' diag(shrinks) H with the rows s in H, and H k has the covariances of z with each support at its turn. Equal to
the covariance of all unknowns, to rounding, while the supports fit the budget; then the least important ones are
projected onto the others (`Supports.compressed`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.metrics.gaussian._moment_matching import repeated_rows, update_batch
from evenhand.metrics.gaussian.forms import HARD, LEAST_LEARNED, Update, is_beyond, scores_of
from evenhand.metrics.gaussian.kernel_prior import KernelPrior, squares
from evenhand.metrics.gaussian.supports import Supports
from evenhand.metrics.gaussian.tuning import DEFAULT, BayesPointTuning
from evenhand.metrics.verdicts import HalfSpaces

AT_ONCE = 4096  # Rows looked at together: all pairs of 500 candidates beside all supports would fill a gigabyte.


@dataclass(frozen=True, eq=False)
class KernelBelief:
    """The squared distances of all pairs, a Gaussian process; rows of half-spaces are differences z, (n, d)."""

    prior: KernelPrior
    supports: Supports
    tuning: BayesPointTuning = DEFAULT

    @property
    def freedom(self) -> float:
        """The number of unknowns, each counted by its prior variance in units of the widest."""
        return self.prior.shape.freedom

    @property
    def n_supports(self) -> int:
        """The number of pairs that the belief is made of."""
        return len(self.supports.weights)

    def moments(self, rows: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of z'Gz for each row z, each (p,). O(p n (n + d))."""
        prior, supports = self.prior, self.supports
        means, variances = prior.means(rows), prior.variances(rows)
        for start in range(0, len(rows) if self.n_supports else 0, AT_ONCE):
            block = slice(start, start + AT_ONCE)
            k = supports.covariances(prior, rows[block])
            means[block] += k @ supports.weights
            variances[block] -= supports.shrinks @ supports.at_turn(k) ** 2
        return means, np.sqrt(np.maximum(variances, 0.0))

    def covariances(self, rows: Floats) -> Floats:
        """The covariances of z'Gz of all rows z, (p, p). O(p n (n + p + d))."""
        prior, supports = self.prior, self.supports
        table = prior.covariances(rows, len(rows), prior.lanes(rows))
        if not self.n_supports:
            return table
        turns = supports.at_turn(supports.covariances(prior, rows))
        return table - turns.T @ (supports.shrinks[:, None] * turns)

    def means(self, rows: Floats) -> Floats:
        """The means alone, (p,). O(p d^2)."""
        return np.asarray(np.einsum("ij,ij->i", rows @ self.matrix(), rows))

    def scores(self, half_spaces: HalfSpaces, blur: float, softness: Floats = HARD) -> Floats:
        """How many standard deviations inside each half-space the mean lies, as in `Belief.scores`."""
        return scores_of(*self.moments(half_spaces.normals), half_spaces, blur, softness)

    def update(
        self,
        half_spaces: HalfSpaces,
        error_rates: Floats,
        *,
        blur: float,
        softness: Floats = HARD,
        contradiction: float = -math.inf,
    ) -> Update[KernelBelief]:
        """Update with each half-space in turn, skipping repetitions and those that score below `contradiction`.

        As `Belief.update`; the least important supports go when there are too many.
        """
        n, tuning = len(half_spaces), self.tuning
        if n > 1 and self.n_supports + n > tuning.most_supports:
            return self._update_with_some(half_spaces, error_rates, blur, softness, contradiction)
        return self._update_with_all(half_spaces, error_rates, blur, softness, contradiction)

    def _update_with_some(
        self, half_spaces: HalfSpaces, error_rates: Floats, blur: float, softness: Floats, contradiction: float
    ) -> Update[KernelBelief]:
        """The update without half-spaces so far inside that they teach next to nothing: not all can be supports."""
        scores = self.scores(half_spaces, blur, softness)
        rows = np.flatnonzero(scores < self.tuning.informative)
        rates, widths = (np.broadcast_to(column, len(scores))[rows] for column in (error_rates, softness))
        update = self._update_with_all(half_spaces.take(rows), rates, blur, widths, contradiction)
        evidence = np.ones(len(scores))
        scores[rows], evidence[rows] = update.score, update.evidence
        return Update(update.belief, evidence, scores, update.contradictions)

    def _update_with_all(
        self, half_spaces: HalfSpaces, error_rates: Floats, blur: float, softness: Floats, contradiction: float
    ) -> Update[KernelBelief]:
        n, tuning, belief = len(half_spaces), self.tuning, self
        columns = (half_spaces.normals, half_spaces.thresholds, half_spaces.sides)
        each = (np.broadcast_to(error_rates, n).copy(), np.broadcast_to(softness, n).copy(), repeated_rows(*columns))
        scores, evidences = np.empty(n), np.empty(n)
        for start in range(0, n, tuning.batch_rows):
            part = slice(start, start + tuning.batch_rows)
            others = [column[part] for column in (*columns[1:], *each)]
            belief = belief._updated(columns[0][part], others, (blur, contradiction), scores[part], evidences[part])
        return Update(belief, evidences, scores, int(np.sum(scores < contradiction)))

    def _updated(
        self, rows: Floats, columns: list[Any], limits: tuple[float, float], scores: Floats, evidences: Floats
    ) -> KernelBelief:
        """The update with one batch; `columns`: thresholds, sides, error rates, softness and repeats."""
        prior, supports, tuning, p = self.prior, self.supports, self.tuning, len(rows)
        (own, *own_parts), lengths = prior.products(rows, p, prior.lanes(rows)), squares(rows)
        k, *parts = supports.products(prior, rows)
        turns, middle = supports.at_turn(k), prior.means(rows, lengths) + k @ supports.weights
        spread = own - turns.T @ (supports.shrinks[:, None] * turns)
        spread = 0.5 * (spread + spread.T)
        known = tuning.known_variance * prior.unit * (1.0 + prior.shape.common) * lengths**2
        shares, steps, shrinks = np.eye(p), np.zeros(p), np.zeros(p)
        step_limits = (*limits, tuning.max_shrink, tuning.min_slope, tuning.min_of_blur)
        batch = (*columns, known, *step_limits, scores, evidences, shares, steps, shrinks)
        update_batch(np.ascontiguousarray(spread), middle, *batch)
        counts = steps != 0.0
        if not np.any(counts):
            return self
        added = shares[np.ix_(counts, counts)]
        directions = np.hstack([-added @ (supports.shrinks * turns[:, counts].T) @ supports.factor, added])
        across, within = (
            np.hstack([old[counts], new[np.ix_(counts, counts)]]) for old, new in zip(parts, own_parts, strict=True)
        )
        most = tuning.most_supports + tuning.max_review_rows
        changes = (directions, steps[counts], shrinks[counts])
        grown = supports.extended(rows[counts], across, within, *changes, most=most)
        if len(grown.weights) > tuning.most_supports:
            grown = grown.compressed(prior, tuning.max_supports)
        return replace(self, supports=grown)

    def update_bit(
        self, fair: HalfSpaces, any_unfair: bool, *, error_rate: float, blur: float, softness: Floats = HARD
    ) -> tuple[KernelBelief, float]:
        """Update with one bit, whether all of `fair` hold; also how likely that bit was. As `Belief.update_bit`.

        Of many pairs only those count that are the least likely to be fair: each is a support for a while.
        """
        if len(fair) > self.tuning.max_bit_rows:
            scores = self.scores(fair, blur, softness)
            fair = fair.take(np.sort(np.argsort(scores, kind="stable")[: self.tuning.max_bit_rows]))
        roomy = replace(self, tuning=replace(self.tuning, max_supports=self.n_supports + len(fair)))
        all_hold = roomy.update(fair, np.zeros(1), blur=blur, softness=softness)
        chance = min(float(np.prod(all_hold.evidence)), self.tuning.max_chance_fair)
        a, c = (1.0 - error_rate, 2.0 * error_rate - 1.0) if any_unfair else (error_rate, 1.0 - 2.0 * error_rate)
        likelihood = a + c * chance
        if not all_hold.belief.n_supports:  # nothing is known, and nothing of it is news
            return self, likelihood
        mixed = all_hold.belief._mixed_with(self, c * chance / likelihood, a / likelihood)
        return mixed, likelihood

    def _mixed_with(self, older: KernelBelief, own_weight: float, older_weight: float) -> KernelBelief:
        """The moments of a sum of densities; `older` has the first supports of this one."""
        own, old, more = self.supports, older.supports, self.n_supports - older.n_supports
        old_weights, old_factor = np.pad(old.weights, (0, more)), np.pad(old.factor, ((0, 0), (0, more)))
        factor = np.vstack([own.factor, old_factor, own.weights - old_weights])
        shrinks = np.concatenate([own_weight * own.shrinks, older_weight * old.shrinks, [-own_weight * older_weight]])
        weights = own_weight * own.weights + older_weight * old_weights
        whitened = own.whitened_with(self.prior, factor, shrinks)
        shrunk = np.minimum(whitened.learned, 1.0 - self.tuning.min_eigenvalue)
        supports = own.rebuilt(weights, whitened, shrunk)
        if len(weights) > self.tuning.max_supports:
            supports = supports.compressed(self.prior, self.tuning.max_supports)
        return replace(self, supports=supports, tuning=older.tuning)

    def outgrows(self, bound: float) -> bool:
        """Whether ||G||_F exceeds the bound by a deviation along the mean. O(n^2)."""
        prior, supports, d = self.prior, self.supports, self.prior.shape.n_features
        c, along, a = prior.centre, prior.of_identity, supports.weights
        if not len(a):
            return False
        if prior.first is not None:
            return self._outgrows_from(prior.matrix, bound)
        lengths = squares(supports.rows)
        total = float(a @ lengths)
        second = supports.power_times(prior, 2)
        square = c * c * d + 2.0 * c * along * total + float(a @ second)
        if square <= bound**2:
            return False
        prior_variance = c * c * d * along + 2.0 * c * along**2 * total + float(a @ supports.power_times(prior, 3))
        turns = supports.factor @ (c * along * lengths + second)
        return is_beyond(bound, square, prior_variance - float(supports.shrinks @ turns**2))

    def _outgrows_from(self, first: Floats, bound: float) -> bool:
        """The same for any mean of the prior. O(n^2 + n d^2)."""
        prior, supports, a = self.prior, self.supports, self.supports.weights
        once = prior.times(first)
        twice = prior.times(once)
        along, along_twice = (np.einsum("ij,ij->i", supports.rows @ one, supports.rows) for one in (once, twice))
        second = supports.power_times(prior, 2)
        square = float(np.sum(first**2) + 2.0 * a @ along + a @ second)
        if square <= bound**2:
            return False
        third = supports.power_times(prior, 3)
        prior_variance = float(np.sum(first * once) + 2.0 * a @ along_twice + a @ third)
        turns = supports.factor @ (along + second)
        return is_beyond(bound, square, prior_variance - float(supports.shrinks @ turns**2))

    def with_prior(self, old: KernelBelief, new: KernelBelief) -> KernelBelief:
        """The belief as if it had started from `new` and not from `old`, another bound apart. O(n^3).

        In whitened coordinates of what the supports span, in which the old prior is N(y, I) and the new N(f y, f^2 I);
        N(y, f^2 I) where the mean was passed.
        """
        if not self.n_supports:
            return new
        f, supports = new.prior.bound / old.prior.bound, self.supports
        whitened = supports.whitened(self.prior)
        variances = np.maximum(1.0 - whitened.learned, self.tuning.known_variance)
        first = whitened.into(old.prior.means(supports.rows))
        then, pull = (f * first, first / f) if new.prior.first is None else (first, first / f**2)
        moved = whitened.forces(supports.weights)
        learned = 1.0 / variances - 1.0
        learned[learned < LEAST_LEARNED] = 0.0
        shift = np.where(learned > 0.0, (first + moved) / variances - first, 0.0)
        variances = 1.0 / (learned + 1.0 / f**2)
        moved = variances * (shift + pull) - then
        weights, learned = whitened.weights(moved / f**2), (f**2 - variances) / f**4
        return KernelBelief(new.prior, supports.rebuilt(weights, whitened, learned), self.tuning)

    def widened(self, factor: float, max_variance: float = math.inf) -> KernelBelief:
        """The same mean, variances times `factor`, but none raised above the prior's: what was not learned is at it.

        max_variance is the prior's; a wider belief than the prior is one with another prior. O(n^3).
        """
        if not self.n_supports:
            return self
        supports = self.supports
        whitened = supports.whitened(self.prior)
        variances = 1.0 - whitened.learned
        variances = np.minimum(factor * variances, np.maximum(variances, 1.0))
        return replace(self, supports=supports.rebuilt(supports.weights, whitened, 1.0 - variances))

    def matrix(self) -> Floats:
        """The mean of G, (d, d). O(n d^2)."""
        matrix = self.prior.spread(self.supports.rows, self.supports.weights)
        if self.prior.first is not None:
            return np.asarray(matrix + self.prior.first.matrix)
        matrix[np.diag_indices_from(matrix)] += self.prior.centre
        return matrix

    def reach(self, z: Floats) -> tuple[Floats, float]:
        """The covariances of all entries of G with z'Gz, as a matrix (d, d), and the variance of z'Gz."""
        rows, supports = z[None, :], self.supports
        turns = supports.at_turn(supports.covariances(self.prior, rows))[:, 0]
        weights = -(supports.shrinks * turns) @ supports.factor
        matrix = self.prior.spread(np.vstack([supports.rows, rows]), np.append(weights, 1.0))
        return matrix, float(self.prior.variances(rows)[0] - supports.shrinks @ turns**2)

    def drawn(self, rng: np.random.Generator) -> Floats:
        """A draw from the belief, symmetric, (d, d): one from the prior, moved where something was learned."""
        shape, d = self.prior.shape, self.prior.shape.n_features
        noise = rng.standard_normal((d, d))
        noise = np.tril(noise, -1)
        scales = np.where(shape.blocks[:, None] == shape.blocks[None, :], 1.0, shape.ratio)
        noise = scales * (noise + noise.T) / math.sqrt(2.0) + np.diag(rng.standard_normal(d))
        noise[np.diag_indices(d)] += math.sqrt(shape.common) * rng.standard_normal()
        noise *= math.sqrt(self.prior.unit)
        supports = self.supports
        if not self.n_supports:
            return self.matrix() + noise
        whitened = supports.whitened(self.prior)
        seen = whitened.into(np.einsum("ij,ij->i", supports.rows @ noise, supports.rows))
        roots = np.sqrt(np.maximum(1.0 - whitened.learned, 0.0))
        moved = self.prior.spread(supports.rows, whitened.weights((roots - 1.0) * seen))
        return self.matrix() + noise + moved

    # Saving.

    def state(self) -> dict[str, Any]:
        """The supports; the rest is known."""
        return self.supports.state()
