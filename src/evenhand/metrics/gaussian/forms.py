"""What BayesPoint needs of a belief, whatever its form: the covariance of all unknowns, or a kernel on pairs.

A belief is about the squared distances of pairs. Pairs are rows of numbers: the features u of a difference z where the
covariance is kept, (n, m), z itself where it is not, (n, d).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand.metrics.gaussian.caution import Caution
from evenhand.metrics.gaussian.prior_shape import PriorShape
from evenhand.metrics.gaussian.tuning import BayesPointTuning
from evenhand.metrics.guess_bounds import GuessBounds
from evenhand.metrics.verdicts import HalfSpaces, Verdicts

HARD = np.zeros(1)
"""The softness of thresholds that have none."""

LEAST_LEARNED = 1e-6
"""A direction in which answers added less than this share of the prior's precision counts as not learned: a belief
that was widened up to the prior is at it, but for rounding."""


class GaussianBelief(Protocol):
    """A Gaussian belief about a metric; immutable."""

    @property
    def tuning(self) -> BayesPointTuning:
        """The constants in force."""

    @property
    def freedom(self) -> float:
        """The number of unknowns, each counted by its prior variance in units of the widest."""

    def moments(self, normals: Floats, /) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the squared distance of each row, each (n,)."""

    def covariances(self, normals: Floats, /) -> Floats:
        """The covariances of the squared distances of the rows, (n, n)."""

    def scores(self, half_spaces: HalfSpaces, blur: float, softness: Floats = HARD) -> Floats:
        """How many standard deviations inside each half-space the mean lies, (n,)."""

    def update(
        self,
        half_spaces: HalfSpaces,
        error_rates: Floats,
        *,
        blur: float,
        softness: Floats = HARD,
        contradiction: float = -math.inf,
    ) -> Update[Self]:
        """Update with each half-space in turn."""

    def update_bit(
        self, fair: HalfSpaces, any_unfair: bool, *, error_rate: float, blur: float, softness: Floats = HARD
    ) -> tuple[Self, float]:
        """Update with one bit, whether all of `fair` hold; also how likely that bit was."""

    def outgrows(self, bound: float) -> bool:
        """Whether ||G||_F surely exceeds the bound."""

    def with_prior(self, old: Self, new: Self) -> Self:
        """The belief as if it had started from the prior `new` and not from `old`."""

    def widened(self, factor: float, max_variance: float = math.inf) -> Self:
        """The belief less certain by a factor on variances, none raised above `max_variance`."""

    def state(self) -> dict[str, Any]:
        """What `BeliefForm.restored` reads."""


B = TypeVar("B", bound=GaussianBelief)

Project = Callable[[B], B]
"""A belief to one whose mean is a metric."""


class Update(NamedTuple, Generic[B]):
    """What half-spaces did to a belief."""

    belief: B
    evidence: Floats
    """How likely each half-space was at its turn, (n,)."""
    score: Floats
    """How many standard deviations inside each half-space the mean lay at its turn, (n,)."""
    contradictions: int
    """Number of half-spaces skipped as contradictions."""


class BeliefForm(Protocol[B]):
    """One way to keep a belief: how pairs become rows, where a belief starts, what is asked of it."""

    @property
    def shape(self) -> PriorShape | None:
        """The shape of the prior; None if all unknowns start equally wide."""

    @property
    def width(self) -> int:
        """The number of numbers in a row."""

    def rows(self, differences: Floats, /) -> Floats:
        """The row of each difference of two contexts, (n, d) -> (n, width)."""

    @property
    def answer_size(self) -> int:
        """How many numbers an answer that may be reprocessed counts for."""

    def half_spaces(self, verdicts: Verdicts, /) -> HalfSpaces:
        """Verdicts as half-spaces, with rows for normals."""

    def telling(self, belief: B, half_spaces: HalfSpaces, /) -> Indices | None:
        """The rows of a review that tell most, where it has more than can be learned; None for all."""

    def prior(self, bound: float, /) -> B:
        """The belief before the first answer."""

    def prior_variance(self, bound: float, /) -> float:
        """The prior's variance of a diagonal entry of G by itself: the unit of all others."""

    def prior_deviation(self, bound: float, /) -> float:
        """The root of `prior_variance`."""

    def means(self, belief: B, differences: Floats, /) -> Floats:
        """The mean of each pair's squared distance, (n,)."""

    def project(self, belief: B, bound: float, /) -> B:
        """The belief, certain that z'Gz >= 0 in directions z in which its mean was negative."""

    def draw(self, belief: B, bound: float, rng: np.random.Generator, /) -> Floats:
        """A draw from the belief, positive semidefinite, (d, d)."""

    def matrix(self, belief: B, /) -> Floats:
        """The mean of G, (d, d)."""

    def distances(self, belief: B, contexts: Floats, caution: Caution, /) -> Floats | None:
        """The distances to play between the rows of `contexts` (k, d), (k, k); None if guesses take no longer."""

    def bounds(self, belief: B, contexts: Floats, caution: Caution, /) -> GuessBounds | None:
        """Bounds on these distances; None where the distances themselves take no longer."""

    def is_quick_to_refit(self, n_rows: int, /) -> bool:
        """Whether `refitted` takes little time on so many rows."""

    def refitted(
        self, belief: B, memory: HalfSpaces, rates: Floats, softness: Floats, blur: float, project: Project[B]
    ) -> B:
        """The belief updated until it agrees with what is remembered."""

    def entries(self, belief: B, i: Indices, j: Indices, /) -> tuple[Floats, Floats, Floats]:
        """Mean (n,), covariance (n, n) and prior variances (n,) of entries of svec(G), each i_k != j_k.

        Prior variances are in units of `prior_variance`.
        """

    def restored(self, state: dict[str, Any], bound: float, /) -> B:
        """The belief with this state, to the bit; bound: of its prior."""


def is_beyond(bound: float, square: float, variance: float) -> bool:
    """Whether the mean's length exceeds the bound by a deviation along it; square: of the length.

    variance: mean' cov mean.
    """
    return square > bound**2 and math.sqrt(square) - math.sqrt(max(variance, 0.0) / square) > bound


def scores_of(mean: Floats, sd: Floats, half_spaces: HalfSpaces, blur: float, softness: Floats) -> Floats:
    """The scores of half-spaces with these moments: (n,), or (s, n) with a softness (s, 1)."""
    widths = softness * (
        np.sqrt(np.maximum(half_spaces.thresholds, 0.0)) + np.sqrt(np.maximum(mean, 0.0))
    )  # `soft_width`
    spread = np.sqrt(sd**2 + blur**2 + widths**2)
    return np.asarray(half_spaces.sides * (mean - half_spaces.thresholds) / spread)
