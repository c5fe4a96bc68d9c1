"""MetricLearner: the interface of all metric learners. Distances out, verdicts in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_bool, check_share
from evenhand._internal.saved_part import SavedPart
from evenhand.errors import InvalidInput, UnsupportedReview
from evenhand.metrics.features import MetricSpace, Structure
from evenhand.metrics.gaussian.error_rates import ReviewerReport
from evenhand.metrics.gaussian.interactions import InteractionEvidence
from evenhand.metrics.gaussian.tuning import DEFAULT
from evenhand.metrics.guess_bounds import GuessBounds
from evenhand.metrics.ratings import Comparisons, Ratings
from evenhand.metrics.verdicts import Pairs, Verdicts, all_pairs
from evenhand.records.contexts import as_contexts
from evenhand.records.decision import Pair

NARROWEST = 1e-12  # Relative width of a squared distance's interval below which the interval counts as this wide.
UNIFORM_WIDTH = np.sqrt(12.0)  # The width of a uniform distribution, in its standard deviations.


class Distances(NamedTuple):
    """Distances between all candidates of a round, each (k, k): the best estimate and the ends it lies between."""

    estimate: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True)
class Learned:
    """The result of learning from a review."""

    used: int = 0
    """Number of verdicts learned from."""
    conflicts: tuple[Pair, ...] = ()
    """Pairs whose verdict contradicts earlier ones: no metric fits both, or, for a belief, hardly any."""


class RememberedAnswers(Protocol):
    """Answers, what was predicted of them, and whether they follow any metric at all."""

    @property
    def seen(self) -> int:
        """How many answers there have been, remembered or not."""

    @property
    def speaks_up(self) -> bool:
        """Whether they were found to follow no metric."""

    def predicted(self, since: int, until: int) -> Iterable[tuple[Verdicts, Floats]]:
        """Verdicts of one reviewer, in order, and the chances of a flag as predicted by the `best_predictor`.

        since, until: those of the answers counted from 0, the last one left out. Some may be forgotten. Chances are
        below 0 where none was noted.
        """


class MetricLearner(SavedPart, part="metric learner"):
    """Learns squared distances from verdicts; the paper's DistanceEstimator.

    `guess` returns each pair's squared distance and never changes the learner; `learn` takes `Verdicts` and does.
    Guessing without learning is the paper's roll-back. Subclasses are saved and loaded under their name, and pass the
    contract suite of `evenhand.testing.MetricLearnerContract`.
    """

    error_rate: float | None = 0.0
    """The share of verdicts that are taken to be wrong; None if it is learned for each reviewer (`reviewers`)."""
    has_taken_over: bool = False
    """Whether a model without a metric plays because it predicted the answers better than the learners of one."""

    def __init__(self, n_features: int, structure: Structure = "full") -> None:
        self.space = MetricSpace(n_features, structure)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_features}, structure={self.structure!r})"

    @property
    def structure(self) -> Structure:
        """The structure asked for; "full" for "auto" where the learner has no prior that could follow."""
        return self.space.structure

    @property
    def n_features(self) -> int:
        """The number of features of a context: d."""
        return self.space.n_features

    # What a subclass must define.

    @abstractmethod
    def estimate(self, pairs: Pairs) -> Floats:
        """The best estimate of each pair's squared distance, (n,)."""

    @abstractmethod
    def ends(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """The lower and the upper end of each pair's squared distance after all verdicts so far, each (n,)."""

    @abstractmethod
    def learn(self, verdicts: Verdicts) -> Learned:
        """Learn from the verdicts of one round."""

    @abstractmethod
    def matrix(self) -> Floats:
        """The estimate of G, (d, d), symmetric."""

    # What a subclass may refine.

    def guess(self, pairs: Pairs) -> Floats:
        """The squared distance to play for each pair, (n,)."""
        return self.estimate(pairs)

    def moments(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """The mean and the standard deviation of each pair's squared distance, each (n,).

        By default as if the squared distance were uniform between its ends.
        """
        lower, upper = self.ends(pairs)
        return self.estimate(pairs), (upper - lower) / UNIFORM_WIDTH

    def covariances(self, pairs: Pairs) -> Floats | None:
        """The covariances of the pairs' squared distances, (n, n); None for learners that keep none."""
        return None

    def chance_unfair(self, pairs: Pairs, gaps: Floats) -> Floats:
        """The probability that each pair with this gap is unfair, (n,).

        By default as if the squared distance were uniform between its ends.
        """
        lower, upper = self.ends(pairs)
        width = np.maximum(upper - lower, NARROWEST * (1.0 + upper))
        return np.clip((gaps**2 - lower) / width, 0.0, 1.0)

    def chance_flagged(self, pairs: Pairs, gaps: Floats, reviewer: str | None = None) -> Floats:
        """The probability that this reviewer flags each pair with this gap, (n,): reviewers err, too.

        By default an answer is wrong with the reviewer's error rate, whatever the pair.
        """
        rate = self.error_rate_of(reviewer)
        return rate + (1.0 - 2.0 * rate) * self.chance_unfair(pairs, gaps)

    def learn_bit(self, verdicts: Verdicts, *, any_unfair: bool) -> Learned:
        """Learn that at least one of these pairs was unfair, or that none was; their own `unfair` is not read."""
        if not any_unfair or len(verdicts) == 1:
            return self.learn(replace(verdicts, unfair=np.full(len(verdicts), any_unfair)))
        raise UnsupportedReview(
            f"{type(self).__name__} cannot learn from a one-bit review with unfair pairs; name the pairs, "
            "or use metrics.BayesPoint"
        )

    def learn_ratings(self, ratings: Ratings) -> Learned:
        """Learn from ratings of candidates; by default the verdicts they imply."""
        return self.learn(ratings.verdicts())

    def learn_comparisons(self, comparisons: Comparisons) -> Learned:
        """Learn from comparisons of pairs; by default the verdicts they imply."""
        return self.learn(comparisons.verdicts())

    @property
    def best_predictor(self) -> MetricLearner | None:
        """Of several learners, the one that predicted the answers best so far; None if nothing hangs on predictions."""
        return None

    def reconsidered(self, answers: RememberedAnswers) -> MetricLearner:
        """The learner to go on with after these answers; by default this one.

        Asked before each review. The learner itself does not change.
        """
        return self

    def without_last_resort(self) -> MetricLearner:
        """The learner for a reviewer who is known to follow a metric: it prepares for no other; by default this one."""
        return self

    @property
    def flags_left(self) -> int | None:
        """A proved number of rounds that can still be flagged at most; None for learners without a theorem."""
        return None

    @property
    def promise_is_doubtful(self) -> bool:
        """Whether the answers speak against what `flags_left` assumes, though they do not refute it."""
        return False

    @property
    def promise(self) -> str | None:
        """What this learner promises now, in a sentence; None for learners without a theorem."""
        return None

    @property
    def plays_metric(self) -> bool:
        """Whether what is played are distances of a metric; not for a model of what reviewers would say."""
        return True

    def reviewers(self) -> dict[str | None, ReviewerReport]:
        """A report on each reviewer's errors, by name; empty for learners that assume none."""
        return {}

    def expected_reviewer(self) -> ReviewerReport | None:
        """The report on a reviewer who has not answered yet; None for learners that expect nothing."""
        return None

    def misleading(self) -> frozenset[str | None]:
        """The reviewers who are surely wrong more often than right, by name; their answers count for nothing."""
        return frozenset(name for name, report in self.reviewers().items() if report.misleads)

    def interactions(self, blocks: Sequence[Any] | None = None) -> list[InteractionEvidence]:
        """For each two features whether they count together, the clearest first; empty for learners that cannot tell.

        blocks: a label for each column; columns with the same label are one feature.
        """
        return []

    def evidence_of_few_interactions(self) -> float:
        """The log of the Bayes factor for few interactions against many, all features together; 0: nothing is known."""
        return 0.0

    def error_rate_of(self, reviewer: str | None) -> float:
        """The probability that a verdict of this reviewer is wrong; at most 0.5, where verdicts say nothing.

        A reviewer without a verdict so far has the usual rate, if rates are learned.
        """
        if self.error_rate is not None:
            return self.error_rate
        report = self.reviewers().get(reviewer)
        return DEFAULT.usual_rate if report is None else min(report.error_rate, DEFAULT.max_rate)

    def sample_matrix(self, rng: np.random.Generator) -> Floats:
        """A random matrix G from the learner's belief, (d, d), positive semidefinite; by default its estimate."""
        return self.get_mahalanobis_matrix()

    # What every learner offers.

    def distances(self, contexts: Any) -> Distances:
        """Estimate, lower and upper end of the distances between the rows of `contexts` (k, d)."""
        table = as_contexts(contexts, self.n_features)
        pairs = Pairs.of(table)
        lower, upper = self.ends(pairs)
        return Distances(*(as_square(len(table), x) for x in (self.estimate(pairs), lower, upper)))

    def playable_distances(self, contexts: Floats) -> Floats:
        """The distances to play between the rows of checked `contexts` (k, d): the square roots of the guesses."""
        return as_square(len(contexts), self.guess(Pairs.of(contexts)))

    def playable_bounds(self, contexts: Floats) -> GuessBounds | None:
        """Bounds on `playable_distances` where these take long; None where they do not."""
        return None

    def ends_of(self, differences: ArrayLike) -> tuple[Floats, Floats]:
        """The ends of the distance for each difference of two contexts: (n, d) -> (n,), (n,)."""
        table = self._as_differences(differences)
        lower, upper = self.ends(Pairs(np.tile([0, 1], (len(table), 1)), table))
        return np.sqrt(np.maximum(lower, 0.0)), np.sqrt(np.maximum(upper, 0.0))

    def learn_pair(
        self, x: ArrayLike, y: ArrayLike, *, gap: float, unfair: bool | np.bool_, reviewer: str | None = None
    ) -> Learned:
        """Learn one verdict: whether this gap between contexts `x` and `y` was unfair."""
        both = as_contexts([np.asarray(x), np.asarray(y)], self.n_features)
        unfair, gap = check_bool("unfair", unfair), check_share("gap", gap)
        return self.learn(Verdicts.between(both[0], both[1], gap=gap, unfair=unfair, reviewer=reviewer))

    def _as_differences(self, differences: ArrayLike) -> Floats:
        table = np.asarray(differences, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != self.n_features or not np.all(np.isfinite(table)):
            raise InvalidInput(f"differences must be finite (n, {self.n_features}) numbers, got shape {table.shape}")
        return table

    # The names of metric-learn.

    def get_mahalanobis_matrix(self) -> Floats:
        """The learned matrix G, (d, d), positive semidefinite."""
        return self.space.nearest_metric(self.space.flatten(self.matrix()))

    def pair_distance(self, pairs: ArrayLike) -> Floats:
        """Distances of pairs (n, 2, d) under the learned matrix."""
        array = np.asarray(pairs, dtype=np.float64)
        if array.ndim != 3 or array.shape[1:] != (2, self.n_features):
            raise InvalidInput(f"pairs must have shape (n, 2, {self.n_features}), got {array.shape}")
        z = array[:, 0] - array[:, 1]
        squared = np.sum((z @ self.get_mahalanobis_matrix()) * z, axis=1)
        return np.asarray(np.sqrt(np.maximum(squared, 0.0)))

    def get_metric(self) -> Callable[[ArrayLike, ArrayLike], float]:
        """The learned distance as a plain function of two contexts, independent of the learner."""
        G = self.get_mahalanobis_matrix()

        def metric(x: ArrayLike, y: ArrayLike) -> float:
            z = np.asarray(x, dtype=np.float64) - np.asarray(y, dtype=np.float64)
            return float(np.sqrt(np.maximum(z @ G @ z, 0.0)))

        return metric


def as_square(k: int, squared: Floats) -> Floats:
    """Squared distances of all pairs, in order, as a symmetric (k, k) table of distances; below zero counts as zero."""
    table, (first, second) = np.zeros((k, k)), all_pairs(k).T
    table[first, second] = table[second, first] = np.sqrt(np.maximum(squared, 0.0))
    return table
