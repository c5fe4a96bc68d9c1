"""What every metric learner does: distances out, verdicts in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand._internal.checks import is_number
from evenhand._internal.class_registry import enter, find
from evenhand._internal.jit import jit
from evenhand.errors import InvalidInput, UnsupportedReview
from evenhand.metrics.features import MetricSpace, Structure
from evenhand.metrics.gaussian.guess_bounds import GuessBounds
from evenhand.metrics.reviewer_errors import ReviewerReport
from evenhand.metrics.verdicts import Pairs, Verdicts
from evenhand.records.contexts import as_contexts
from evenhand.records.decision import Pair

Floats = NDArray[np.float64]

NARROWEST = 1e-12
"""A squared distance whose ends are closer than this, relative to its size, is taken to be that far in doubt."""

UNIFORM_WIDTH = np.sqrt(12.0)
"""The width of a uniform distribution, in its standard deviations."""


class Distances(NamedTuple):
    """Distances between all candidates of a round, each (k, k): the best estimate and the ends it lies between."""

    estimate: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True)
class Learned:
    """What became of a review: how many verdicts were taken in, and which could not be believed."""

    heard: int = 0
    conflicts: tuple[Pair, ...] = ()
    """Pairs whose verdict contradicts what was said before: no metric fits both, or, for a belief, hardly any."""


class MetricLearner(ABC):
    """Learns squared distances from verdicts; the paper's DistanceEstimator.

    A learner is asked for a `guess` of each pair's squared distance, which never changes it, and told `Verdicts`,
    which does. Asking without telling is the paper's roll-back. Subclasses are saved and loaded under their name.
    """

    _kinds: ClassVar[dict[str, type[MetricLearner]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        enter(cls, MetricLearner._kinds)

    def __init__(self, n_features: int, structure: Structure = "full") -> None:
        self.space = MetricSpace(n_features, structure)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_features}, structure={self.space.structure!r})"

    @property
    def n_features(self) -> int:
        """How many features a context has: d."""
        return self.space.n_features

    # What a subclass must say.

    @abstractmethod
    def estimate(self, pairs: Pairs) -> Floats:
        """The best estimate of each pair's squared distance, (n,)."""

    @abstractmethod
    def ends(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """The lower and the upper end of each pair's squared distance, each (n,), given all verdicts so far."""

    @abstractmethod
    def learn(self, verdicts: Verdicts) -> Learned:
        """Take in verdicts of one round."""

    @abstractmethod
    def matrix(self) -> Floats:
        """The estimate of G, (d, d), symmetric."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """All that the learner is, in arrays, numbers, strings and dicts of them."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The learner whose `state` this was, to the bit."""

    # What a subclass may say better.

    def guess(self, pairs: Pairs) -> Floats:
        """The squared distance to play for each pair, (n,)."""
        return self.estimate(pairs)

    def moments(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """The mean and the standard deviation of each pair's squared distance, each (n,).

        Unless a learner has a belief of its own: as if the squared distance lay anywhere between its ends.
        """
        lower, upper = self.ends(pairs)
        return self.estimate(pairs), (upper - lower) / UNIFORM_WIDTH

    def chance_unfair(self, pairs: Pairs, gaps: Floats) -> Floats:
        """How likely it is that each pair, treated with this gap, is unfair, (n,).

        Unless a learner has a belief of its own: as if the squared distance lay anywhere between its ends.
        """
        lower, upper = self.ends(pairs)
        width = np.maximum(upper - lower, NARROWEST * (1.0 + upper))
        return np.clip((gaps**2 - lower) / width, 0.0, 1.0)

    def learn_bit(self, verdicts: Verdicts, *, any_unfair: bool) -> Learned:
        """Take in that at least one of these pairs was unfair, or that none was; their own `unfair` is not read."""
        if not any_unfair or len(verdicts) == 1:
            return self.learn(replace(verdicts, unfair=np.full(len(verdicts), any_unfair)))
        raise UnsupportedReview(
            f"{type(self).__name__} cannot learn from one bit that says something was unfair; name the pairs, "
            "or use metrics.BayesPoint"
        )

    def reviewers(self) -> dict[str | None, ReviewerReport]:
        """What is known of each reviewer, by name; most learners take every reviewer at her word."""
        return {}

    def sample_matrix(self, rng: np.random.Generator) -> Floats:
        """A matrix G that may be the true one, drawn by lot, (d, d), positive semidefinite.

        Unless a learner has a belief of its own: its estimate.
        """
        return self.get_mahalanobis_matrix()

    # What every learner offers from that.

    def distances(self, contexts: Any) -> Distances:
        """Estimate, lower and upper end of the distances between the rows of `contexts` (k, d)."""
        table = as_contexts(contexts, self.n_features)
        pairs = Pairs.of(table)
        lower, upper = self.ends(pairs)
        return Distances(*(as_square(len(table), x) for x in (self.estimate(pairs), lower, upper)))

    def playable_distances(self, contexts: Floats) -> Floats:
        """The distances to play between the rows of checked `contexts` (k, d): the square roots of the guesses."""
        pairs = Pairs.of(contexts)
        return as_square(len(contexts), self.guess(pairs))

    def playable_bounds(self, contexts: Floats) -> GuessBounds | None:
        """Bounds on `playable_distances`, if these are worth having because the distances themselves take long."""
        return None

    def ends_of(self, differences: ArrayLike) -> tuple[Floats, Floats]:
        """The ends of the distance that each difference of two contexts makes: (n, d) -> (n,), (n,)."""
        table = self._as_differences(differences)
        lower, upper = self.ends(Pairs(np.tile([0, 1], (len(table), 1)), table))
        return np.sqrt(np.maximum(lower, 0.0)), np.sqrt(np.maximum(upper, 0.0))

    def learn_pair(
        self, x: ArrayLike, y: ArrayLike, *, gap: float, unfair: bool | np.bool_, reviewer: str | None = None
    ) -> Learned:
        """Take in one verdict: contexts `x` and `y` were treated with this gap, and it was unfair or was not."""
        both = as_contexts([np.asarray(x), np.asarray(y)], self.n_features)
        if not isinstance(unfair, (bool, np.bool_)):
            raise InvalidInput(f"unfair is {unfair!r}; allowed are True and False")
        if not is_number(gap) or not 0 <= gap <= 1:
            raise InvalidInput(f"gap is {gap!r}; allowed is a number from 0 to 1, the difference of two probabilities")
        return self.learn(Verdicts.between(both[0], both[1], gap=gap, unfair=bool(unfair), reviewer=reviewer))

    def _as_differences(self, differences: ArrayLike) -> Floats:
        table = np.asarray(differences, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != self.n_features or not np.all(np.isfinite(table)):
            raise InvalidInput(
                f"differences have shape {table.shape}; allowed are finite (n, {self.n_features}) numbers"
            )
        return table

    # The names that metric-learn's users know.

    def get_mahalanobis_matrix(self) -> Floats:
        """The learned matrix G, (d, d), positive semidefinite."""
        return self.space.nearest_metric(self.space.flatten(self.matrix()))

    def pair_distance(self, pairs: ArrayLike) -> Floats:
        """Distances of pairs given as (n, 2, d), under the learned matrix."""
        array = np.asarray(pairs, dtype=np.float64)
        if array.ndim != 3 or array.shape[1:] != (2, self.n_features):
            raise InvalidInput(f"pairs have shape {array.shape}; allowed is (n, 2, {self.n_features})")
        z = array[:, 0] - array[:, 1]
        squared = np.sum((z @ self.get_mahalanobis_matrix()) * z, axis=1)
        return np.asarray(np.sqrt(np.maximum(squared, 0.0)))

    def get_metric(self) -> Callable[[ArrayLike, ArrayLike], float]:
        """The learned distance as a plain function of two contexts, cut loose from the learner."""
        G = self.get_mahalanobis_matrix()

        def metric(x: ArrayLike, y: ArrayLike) -> float:
            z = np.asarray(x, dtype=np.float64) - np.asarray(y, dtype=np.float64)
            return float(np.sqrt(np.maximum(z @ G @ z, 0.0)))

        return metric

    # Saving.

    def saved(self) -> dict[str, Any]:
        """The state with the name of the class that can read it."""
        return {"kind": type(self).__name__, "state": self.state()}

    @staticmethod
    def restored(saved: dict[str, Any]) -> MetricLearner:
        """The learner that `saved` described; its class must have been imported."""
        return find(saved["kind"], MetricLearner._kinds, "metric learner").from_state(saved["state"])


@jit
def as_square(k: int, squared: Floats) -> Floats:
    """Squared distances of all pairs, in order, as a symmetric (k, k) table of distances; below zero counts as zero."""
    table = np.empty((k, k))
    row = 0
    for i in range(k):
        table[i, i] = 0.0
        for j in range(i + 1, k):
            table[i, j] = table[j, i] = np.sqrt(max(squared[row], 0.0))
            row += 1
    return table
