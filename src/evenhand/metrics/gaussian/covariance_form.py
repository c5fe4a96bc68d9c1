"""The belief as mean and covariance of all unknowns: exact and quick up to some hundred unknowns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.jit import frozen
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.gaussian.belief import Belief, draw_psd, project_psd, refitted
from evenhand.metrics.gaussian.caution import Caution, fill_distances
from evenhand.metrics.gaussian.forms import Project
from evenhand.metrics.gaussian.guess_limits import gaussian_limits
from evenhand.metrics.gaussian.prior_mean import PriorMean
from evenhand.metrics.gaussian.prior_shape import PriorShape
from evenhand.metrics.gaussian.tuning import BayesPointTuning
from evenhand.metrics.guess_bounds import GuessBounds
from evenhand.metrics.verdicts import HalfSpaces, Verdicts


class CovarianceForm:
    """Beliefs N(mean, cov) on alpha, with a prior of one shape, or the same width for all entries if shape is None."""

    def __init__(
        self,
        space: MetricSpace,
        shape: PriorShape | None,
        tuning: BayesPointTuning,
        first: PriorMean | None = None,
    ) -> None:
        self.space, self.shape, self.tuning, self.first = space, shape, tuning, first
        self.width = self.answer_size = space.n_unknowns
        self._units = None if shape is None else shape.units(space)
        self._root = math.sqrt(space.n_unknowns)

    def rows(self, differences: Floats) -> Floats:
        """The features u, (n, d) -> (n, m)."""
        return self.space.features(differences)

    def half_spaces(self, verdicts: Verdicts) -> HalfSpaces:
        """The verdicts as half-spaces of alpha."""
        return HalfSpaces.of(self.space, verdicts)

    def telling(self, belief: Belief, half_spaces: HalfSpaces) -> None:
        """All of them."""
        return None

    def prior(self, bound: float) -> Belief:
        """Mean svec(I) B / (2 sqrt d), or the one passed; variances as in the shape, or B^2 / m."""
        d, m = self.space.n_features, self.space.n_unknowns
        if self.first is None:
            mean = self.space.flatten(np.eye(d)) * (bound / (2.0 * math.sqrt(d)))
        else:
            mean = self.space.flatten(self.first.matrix)
        cov = np.eye(m) if self._units is None else self._units.covariance()
        return Belief(mean, cov * self.prior_variance(bound), self.tuning, self._units)

    def prior_variance(self, bound: float) -> float:
        """The prior's variance in its units."""
        usual = bound**2 / self.space.n_unknowns if self.shape is None else self.shape.variance(bound)
        return usual if self.first is None else usual / self.first.weight

    def prior_deviation(self, bound: float) -> float:
        """The root of `prior_variance`."""
        usual = bound / self._root if self.shape is None else math.sqrt(self.shape.variance(bound))
        return usual if self.first is None else usual / math.sqrt(self.first.weight)

    def means(self, belief: Belief, differences: Floats) -> Floats:
        """<mean, u> of each difference, (n,)."""
        return np.asarray(self.space.features(differences) @ belief.mean)

    def project(self, belief: Belief, bound: float) -> Belief:
        """See `project_psd`."""
        return project_psd(belief, self.space, bound)

    def draw(self, belief: Belief, bound: float, rng: np.random.Generator) -> Floats:
        """See `draw_psd`."""
        return draw_psd(belief, self.space, bound, rng)

    def matrix(self, belief: Belief) -> Floats:
        """The mean of G, (d, d)."""
        return self.space.unflatten(belief.mean)

    def distances(self, belief: Belief, contexts: Floats, caution: Caution) -> Floats:
        """The distances to play, (k, k), in one kernel."""
        k, is_full = len(contexts), self.space.structure == "full"
        table = np.empty((k, k))
        if contexts.flags.writeable:
            contexts = frozen(contexts)
        fill_distances(contexts, is_full, belief.mean, belief.cov, *caution, table)
        return table

    def bounds(self, belief: Belief, contexts: Floats, caution: Caution) -> GuessBounds | None:
        """Bounds on the distances; None for so few pairs and unknowns that guesses take no longer."""
        k, m = len(contexts), self.space.n_unknowns
        if k * (k - 1) // 2 * m**2 < self.tuning.min_products_to_bound:
            return None
        return GuessBounds(contexts, self.space, belief.mean, gaussian_limits(belief.widest, caution))

    def is_quick_to_refit(self, n_rows: int) -> bool:
        """Whether a pass over so many rows takes few products."""
        return n_rows * self.space.n_unknowns**2 <= self.tuning.max_products_to_refit

    def refitted(
        self,
        belief: Belief,
        memory: HalfSpaces,
        rates: Floats,
        softness: Floats,
        blur: float,
        project: Project[Belief],
    ) -> Belief:
        """See `belief.refitted`."""
        return refitted(belief, memory, rates, softness, blur, project)

    def entries(self, belief: Belief, i: Indices, j: Indices) -> tuple[Floats, Floats, Floats]:
        """Mean, covariance and prior variances, in units of the widest, of off-diagonal entries of svec(G)."""
        places = self.space.place_of(i, j)
        scales = np.ones(len(places)) if self._units is None else self._units.scales[places]
        return belief.mean[places], belief.cov[np.ix_(places, places)], scales**2

    def restored(self, state: dict[str, Any], bound: float) -> Belief:
        """The belief with this state, to the bit."""
        return Belief(state["mean"].copy(), state["cov"].copy(), self.tuning, self._units)
