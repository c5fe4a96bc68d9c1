"""The belief as a function of pairs, for many features: see `KernelBelief`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.factorisations import eigh
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.gaussian._lanczos import lowest_directions
from evenhand.metrics.gaussian.caution import Caution
from evenhand.metrics.gaussian.forms import Project
from evenhand.metrics.gaussian.kernel_belief import KernelBelief
from evenhand.metrics.gaussian.kernel_prior import KernelPrior
from evenhand.metrics.gaussian.prior_mean import PriorMean
from evenhand.metrics.gaussian.prior_shape import PriorShape
from evenhand.metrics.gaussian.supports import Supports
from evenhand.metrics.gaussian.truncated_normal import quantile_above_zero
from evenhand.metrics.gaussian.tuning import BayesPointTuning
from evenhand.metrics.guess_bounds import GuessBounds
from evenhand.metrics.verdicts import HalfSpaces, Verdicts


class KernelForm:
    """Beliefs about pairs, with a prior of one shape."""

    def __init__(
        self, space: MetricSpace, shape: PriorShape, tuning: BayesPointTuning, first: PriorMean | None = None
    ) -> None:
        self.space, self.shape, self.tuning, self.first = space, shape, tuning, first
        self.width = space.n_features
        self.answer_size = max(self.width, tuning.max_open_numbers // tuning.max_open_supports)

    def rows(self, differences: Floats) -> Floats:
        """The differences, of z and -z the one whose first entry that is not 0 is positive: (n, d) -> (n, d)."""
        first = np.argmax(differences != 0.0, axis=1)
        signs = np.where(differences[np.arange(len(differences)), first] < 0.0, -1.0, 1.0)
        return np.asarray(differences * signs[:, None])

    def half_spaces(self, verdicts: Verdicts) -> HalfSpaces:
        """The verdicts as half-spaces, with differences for normals."""
        return HalfSpaces.with_rows(self.rows(verdicts.pairs.differences), verdicts)

    def telling(self, belief: KernelBelief, half_spaces: HalfSpaces) -> Indices | None:
        """The `max_review_rows` least expected ones, in order: each becomes a support."""
        most = self.tuning.max_review_rows
        if len(half_spaces) <= most:
            return None
        return np.sort(np.argsort(belief.scores(half_spaces, 0.0), kind="stable")[:most])

    def prior(self, bound: float) -> KernelBelief:
        """No supports."""
        return KernelBelief(KernelPrior(self.shape, bound, self.first), Supports.none(self.width), self.tuning)

    def prior_variance(self, bound: float) -> float:
        """The variance of a diagonal entry by itself."""
        return KernelPrior(self.shape, bound, self.first).unit

    def prior_deviation(self, bound: float) -> float:
        """The root of `prior_variance`."""
        return math.sqrt(self.prior_variance(bound))

    def means(self, belief: KernelBelief, differences: Floats) -> Floats:
        """The mean of each pair's squared distance, (n,)."""
        return belief.means(differences)

    def project(self, belief: KernelBelief, bound: float) -> KernelBelief:
        """The belief, certain that z'Gz >= 0 in a few directions z in which its mean was negative.

        Such a direction becomes a support, as a pair at a distance of at least 0. `project_psd` goes on until no
        direction is left; here that would take most of the supports. The most negative ones are enough: squared
        distances are truncated at zero wherever they are used, and the next review has its turn.
        """
        if not belief.n_supports or not self.tuning.max_psd_rows:
            return belief
        values, directions = self._lowest(belief)
        negative = values < -self.tuning.psd_tolerance * bound
        if not np.any(negative):
            return belief
        rows, n = self.rows(directions[negative]), int(np.sum(negative))
        return belief.update(HalfSpaces(rows, np.zeros(n), np.ones(n)), np.zeros(1), blur=0.0).belief

    def _lowest(self, belief: KernelBelief) -> tuple[Floats, Floats]:
        """Some of the lowest z'Gz, G being the mean, and unit vectors z, (n, d)."""
        most = self.tuning.max_psd_rows
        if self.width > self.tuning.exact_features:
            return lowest_directions(belief, self.tuning.lanczos_steps, most)
        matrix = belief.matrix()
        if self.space.is_metric(self.space.flatten(matrix), 0.0):
            return np.zeros(0), np.zeros((0, self.width))
        values, vectors = eigh(matrix)
        return values[:most], vectors[:, :most].T

    def draw(self, belief: KernelBelief, bound: float, rng: np.random.Generator) -> Floats:
        """A draw from the belief, truncated to positive semidefinite matrices, (d, d); as `draw_psd`."""
        tolerance, matrix = self.tuning.psd_tolerance * bound, belief.drawn(rng)
        mean = belief.matrix()
        for _ in range(self.tuning.psd_steps * self.width):
            values, vectors = eigh(matrix)
            if values[0] >= -tolerance:
                break
            z = vectors[:, 0]
            reach, variance = belief.reach(z)
            variance = max(variance, np.finfo(np.float64).tiny)
            quantile = float(rng.uniform())
            drawn = quantile_above_zero(np.array([z @ mean @ z]), np.array([math.sqrt(variance)]), quantile)
            matrix = matrix + reach * ((float(drawn[0]) - float(z @ matrix @ z)) / variance)
        return self.space.nearest_metric(self.space.flatten(matrix))

    def matrix(self, belief: KernelBelief) -> Floats:
        """The mean of G, (d, d)."""
        return belief.matrix()

    def distances(self, belief: KernelBelief, contexts: Floats, caution: Caution) -> None:
        """None: guesses take no longer."""
        return None

    def bounds(self, belief: KernelBelief, contexts: Floats, caution: Caution) -> GuessBounds | None:
        """None: the distances take no longer."""
        return None

    def is_quick_to_refit(self, n_rows: int) -> bool:
        """Never: every pass would add supports."""
        return False

    def refitted(
        self,
        belief: KernelBelief,
        memory: HalfSpaces,
        rates: Floats,
        softness: Floats,
        blur: float,
        project: Project[KernelBelief],
    ) -> KernelBelief:
        """The belief itself."""
        return belief

    def entries(self, belief: KernelBelief, i: Indices, j: Indices) -> tuple[Floats, Floats, Floats]:
        """Mean, covariance and prior variances, in units of the widest, of off-diagonal entries of svec(G)."""
        supports = belief.supports
        shares = np.where(self.shape.blocks[i] == self.shape.blocks[j], 1.0, self.shape.ratio**2)
        prior = shares * belief.prior.unit
        k = math.sqrt(2.0) * prior[:, None] * (supports.rows[:, i] * supports.rows[:, j]).T
        turns = supports.at_turn(k)
        cov = np.diag(prior) - turns.T @ (supports.shrinks[:, None] * turns)
        means = k @ supports.weights
        return means if self.first is None else means + math.sqrt(2.0) * self.first.matrix[i, j], cov, shares

    def restored(self, state: dict[str, Any], bound: float) -> KernelBelief:
        """The belief with this state, to the bit."""
        prior = KernelPrior(self.shape, bound, self.first)
        return KernelBelief(prior, Supports.from_state(state, prior), self.tuning)
