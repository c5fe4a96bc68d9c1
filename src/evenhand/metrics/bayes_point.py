"""BayesPoint: a Gaussian belief about the metric, updated by every verdict; the fewest mistakes in practice."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self, overload

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_number
from evenhand._internal.jit import frozen
from evenhand.metrics.features import Structure
from evenhand.metrics.gaussian.belief import Belief, Update, draw_psd, project_psd, refitted
from evenhand.metrics.gaussian.bound_by_evidence import Explained, best_bound
from evenhand.metrics.gaussian.caution import Caution, cautious_squares, fill_distances
from evenhand.metrics.gaussian.error_rates import ReviewerReport
from evenhand.metrics.gaussian.fixed_lag import FixedLagSmoother
from evenhand.metrics.gaussian.guess_bounds import GuessBounds
from evenhand.metrics.gaussian.reviewer_grid import ReviewerGrid
from evenhand.metrics.gaussian.soft_threshold import chance_exceeded
from evenhand.metrics.gaussian.truncated_normal import chance_below
from evenhand.metrics.gaussian.tuning import DEFAULT, BayesPointTuning
from evenhand.metrics.learner import Learned, MetricLearner
from evenhand.metrics.learner_settings import (
    ASSUMED_ERROR_RATE,
    accuracy,
    check_epsilon,
    check_error_rate,
    check_softness,
    first_bound,
    least_bound,
)
from evenhand.metrics.verdicts import HalfSpaces, Memory, Pairs, Verdicts


class BayesPoint(MetricLearner):
    """Moment matching on alpha ~ N(mu, Sigma), with verdicts that are wrong with probability `error_rate`.

    error_rate None: each reviewer's error rate is learned while running, by name (`FixedLagSmoother`); a reviewer who
    is wrong more often than right is ignored. One-bit reviews teach no rate.

    softness: the deviation of reviewers' thresholds, in distance. They flag a gap g between two candidates at the
    distance D with probability Phi((g - D) / softness), errors apart; 0 is a sharp threshold. None: learned for each
    reviewer, like the error rate.

    Prior: mu = svec(I) B / (2 sqrt d), Sigma = (B^2/m) I, B the `bound` on ||G||_F. When the belief is a standard
    deviation sure that ||G||_F exceeds it, the bound is doubled: a wider prior takes the first one's place in what was
    learned long ago, and what is remembered, the newest informative verdicts, is learned again.
    That G is positive semidefinite enters as certain verdicts on directions in which the mean is negative.

    The distance played is not the mean but the `caution` quantile of the belief about the squared distance, truncated
    at zero; with a soft threshold, about the gap that is flagged with probability `caution`, errors apart. A low
    quantile is flagged less often for each bit it learns, and being positive it goes on learning, where "mean minus c
    standard deviations" would stop. Once a distance is known to within epsilon, its lower end is played.
    docs/choosing.md has figures.

    Guarantee: none in the worst case; its ends are credible (three standard deviations), not certain. Cost: O(m^2) a
    verdict, flat in the number of rounds.

    >>> learner = BayesPoint(2, epsilon=0.01)
    >>> x, y = [1.0, 0.0], [0.0, 0.0]
    >>> for _ in range(60):
    ...     gap = float(learner.playable_distances(np.array([x, y]))[0, 1])
    ...     learned = learner.learn_pair(x, y, gap=gap, unfair=gap > 0.3)
    >>> abs(learner.get_metric()(x, y) - 0.3) < 0.01
    True
    """

    tuning: ClassVar[BayesPointTuning] = DEFAULT
    _settings = ("n_features", "structure", "bound", "epsilon", "error_rate", "softness", "caution")

    def __init__(
        self,
        n_features: int,
        *,
        structure: Structure = "full",
        bound: float = 1.0,
        epsilon: float | None = None,
        error_rate: float | None = ASSUMED_ERROR_RATE,
        softness: float | None = 0.0,
        caution: float = 0.1,
    ) -> None:
        super().__init__(n_features, structure)
        self.epsilon = check_epsilon(epsilon)
        self.bound = first_bound(bound, self.epsilon)
        self.error_rate = check_error_rate(error_rate)
        self.softness = check_softness(softness)
        self.caution = check_number("caution", caution, above=0, below=1)
        self._rate = self.error_rate or 0.0
        self._rates = np.array([self._rate])
        # The score below which a verdict is a contradiction; none is, where errors are expected.
        self._contradiction = self.tuning.contradiction if self._rate < self.tuning.slip_rate else -math.inf
        self._count_reviews(0)
        self._contradictions = 0.0
        m = self.space.n_unknowns
        self._memory = Memory.empty(m, self.tuning.max_rows(m))
        self._belief = self._prior(self.bound)
        self._base: Belief | None = None  # what was learned before the memory; None for the prior
        learns_reviewers = self.error_rate is None or self.softness is None
        self._smoother = FixedLagSmoother(self._belief, self._grid()) if learns_reviewers else None
        self._widths = np.array([self.softness or 0.0])  # the softness to expect of the next answer, (1,)

    def _grid(self) -> ReviewerGrid:
        return ReviewerGrid.of(self.error_rate, self.softness, self.space.n_unknowns, self.tuning)

    def _count_reviews(self, n: int) -> None:
        """Set the number of reviews, and with it the accuracy in force."""
        self.rounds, self._accuracy = n, accuracy(self.epsilon, n)

    def _prior(self, bound: float) -> Belief:
        d, m = self.space.n_features, self.space.n_unknowns
        mean = self.space.flatten(np.eye(d)) * (bound / (2.0 * math.sqrt(d)))
        return Belief(mean, np.eye(m) * self._prior_variance(bound), self.tuning)

    def _prior_variance(self, bound: float) -> float:
        return bound**2 / self.space.n_unknowns

    # Distances.

    def estimate(self, pairs: Pairs) -> Floats:
        """The mean of each pair's squared distance, (n,); below zero counts as zero."""
        return np.maximum(self.space.features(pairs.differences) @ self._belief.mean, 0.0)

    def ends(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """Three standard deviations to either side, but no narrower than the accuracy that is aimed at, each (n,).

        That is half of epsilon in distance, and epsilon squared in squared distance: below epsilon all are alike.
        """
        epsilon, tuning = self._accuracy, self.tuning
        mean, sd = self.moments(pairs)
        reach, middle, known = tuning.end * sd + epsilon**2, np.sqrt(np.maximum(mean, 0.0)), tuning.known * epsilon
        lower = np.minimum(mean - reach, np.maximum(middle - known, 0.0) ** 2)
        return np.maximum(lower, 0.0), np.maximum(mean + reach, (middle + known) ** 2)

    def moments(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """The belief's mean and standard deviation of each pair's squared distance, each (n,)."""
        return self._belief.moments(self.space.features(pairs.differences))

    def chance_unfair(self, pairs: Pairs, gaps: Floats) -> Floats:
        """The probability that each pair's squared distance, truncated at zero, is below its squared gap, (n,)."""
        mean, sd = self.moments(pairs)
        return chance_below(mean, sd, gaps**2)

    def chance_flagged(self, pairs: Pairs, gaps: Floats, reviewer: str | None = None) -> Floats:
        """The probability that this reviewer flags each pair with this gap, (n,): by error, or over the threshold."""
        rate, softness = self.error_rate_of(reviewer), self.softness_of(reviewer)
        return rate + (1.0 - 2.0 * rate) * chance_exceeded(*self.moments(pairs), gaps, softness)

    def softness_of(self, reviewer: str | None) -> float:
        """The deviation of this reviewer's threshold, in distance; the usual one before the first answer."""
        if self.softness is not None:
            return self.softness
        report = self.reviewers().get(reviewer)
        return float(self._widths[0]) if report is None else report.softness

    def guess(self, pairs: Pairs) -> Floats:
        """The cautious quantile of each pair's squared distance, or its lower end where it is known, (n,)."""
        return cautious_squares(*self.moments(pairs), self._caution())

    def playable_distances(self, contexts: Floats) -> Floats:
        """The distances to play between the rows of checked `contexts` (k, d), (k, k)."""
        if type(self).guess is not BayesPoint.guess:  # a subclass with its own guesses
            return super().playable_distances(contexts)
        table, is_full = np.empty((len(contexts), len(contexts))), self.space.structure == "full"
        if contexts.flags.writeable:
            contexts = frozen(contexts)
        fill_distances(contexts, is_full, self._belief.mean, self._belief.cov, *self._caution(), table)
        return table

    def playable_bounds(self, contexts: Floats) -> GuessBounds | None:
        """Bounds on the distances to play; None for so few pairs and unknowns that guesses take no longer."""
        k, m = len(contexts), self.space.n_unknowns
        if k * (k - 1) // 2 * m**2 < self.tuning.min_products_to_bound or type(self).guess is not BayesPoint.guess:
            return None
        return GuessBounds(contexts, self.space, self._belief.mean, self._belief.widest, self._caution())

    def _caution(self) -> Caution:
        tuning = self.tuning
        return Caution.at(self._accuracy, self.caution, tuning.end, tuning.known, tuning.shade, float(self._widths[0]))

    def matrix(self) -> Floats:
        """The mean of G, (d, d)."""
        return self.space.unflatten(self._belief.mean)

    def sample_matrix(self, rng: np.random.Generator) -> Floats:
        """A draw from the belief, truncated to positive semidefinite matrices, (d, d)."""
        return draw_psd(self._belief, self.space, self.bound, rng)

    def reviewers(self) -> dict[str | None, ReviewerReport]:
        """A report on each reviewer, by name; empty if error rate and softness are settings."""
        return {} if self._smoother is None else self._smoother.rates.report()

    # Learning.

    def learn(self, verdicts: Verdicts) -> Learned:
        """Learn from each verdict in turn; with a fixed error rate, report those that contradict the belief."""
        before = self.__dict__.copy()  # learning replaces what a learner holds and never writes into it
        try:
            return self._learn(verdicts)
        except BaseException:
            self.__dict__.update(before)
            raise

    def _learn(self, verdicts: Verdicts) -> Learned:
        half_spaces = HalfSpaces.of(self.space, verdicts)
        sharper = accuracy(self.epsilon, self.rounds + 1)
        if self._smoother is None:
            contradicting = self._update(half_spaces, sharpens=sharper < self._accuracy)
        else:
            contradicting = []
            self._smooth(self._smoother, half_spaces, verdicts.reviewer, sharpens=sharper < self._accuracy)
        self.rounds, self._accuracy = self.rounds + 1, sharper
        conflicts = tuple(verdicts.pairs.take(np.array(contradicting)).names()) if contradicting else ()
        return Learned(len(verdicts.gaps) - len(contradicting), conflicts)

    def _update(self, half_spaces: HalfSpaces, *, sharpens: bool) -> list[int]:
        """Update the belief at the fixed error rate, skipping the rows that contradict it; return these.

        sharpens: whether epsilon halves with this review.
        """
        tuning, bound = self.tuning, self.bound
        update = self._updated(self._belief, half_spaces)
        belief, scores = project_psd(update.belief, self.space, bound), update.score
        memory = self._memory.extended(half_spaces, scores, tuning.contradiction, tuning.informative)
        contradicting: list[int] = (
            np.flatnonzero(scores < self._contradiction).tolist() if update.contradictions else []
        )
        contradictions = max(self._contradictions + len(contradicting) - self._rate * len(scores), 0.0)
        base = self._base
        if memory.is_full:
            oldest, memory = memory.split()
            base = project_psd(self._updated(base or self._prior(bound), oldest).belief, self.space, bound)
        if sharpens:
            belief, base = self._widened(belief), self._widened(base)
        if belief.surely_exceeds(bound):
            bound = 2.0 * bound
            base = None if base is None else base.with_prior(self._prior(self.bound), self._prior(bound))
            belief = self._updated(base or self._prior(bound), memory.all()).belief
            belief = project_psd(belief, self.space, self.bound)
        elif contradictions > tuning.tolerated_contradictions:  # more than slips: the belief was too certain
            belief, base, contradictions = self._widened(belief), self._widened(base), 0.0
        self.bound, self._belief, self._contradictions = bound, belief, contradictions
        self._base, self._memory = base, memory
        if self._is_check_due():
            self._belief = self._agreeing(belief)
        return contradicting

    def _is_check_due(self) -> bool:
        """Whether to compare the belief with what is remembered: a few times in each doubling of the reviews."""
        reviews, tuning = self.rounds + 1, self.tuning
        step = max(tuning.min_reviews_to_check, (1 << reviews.bit_length() - 1) // tuning.checks_per_doubling)
        if reviews % step or self._rate >= tuning.slip_rate:
            return False
        return len(self._memory) * self.space.n_unknowns**2 <= tuning.max_products_to_refit

    def _agreeing(self, belief: Belief) -> Belief:
        """The belief, or a refitted one if what is remembered contradicts the belief and not the refitted one."""
        memory, blur, bound = self._memory.all(), self._blur(), self.bound
        most = self.tuning.tolerated_contradictions + self._rate * len(memory)

        def contradicts(belief: Belief) -> bool:
            return float(np.sum(belief.scores(memory, blur, self._widths) < self.tuning.contradiction)) > most

        if not contradicts(belief):
            return belief
        project = partial(project_psd, space=self.space, bound=bound)
        other = refitted(self._base or self._prior(bound), memory, self._rates, self._widths, blur, project)
        return belief if contradicts(other) else other

    @overload
    def _widened(self, belief: Belief) -> Belief: ...
    @overload
    def _widened(self, belief: Belief | None) -> Belief | None: ...
    def _widened(self, belief: Belief | None) -> Belief | None:
        """The belief less certain; nothing is less certain than the prior."""
        return None if belief is None else belief.widened(self.tuning.widening, self._prior_variance(self.bound))

    def _updated(self, belief: Belief, half_spaces: HalfSpaces) -> Update:
        """The update with all half-spaces that do not contradict the belief."""
        noise: dict[str, Any] = {"blur": self._blur(), "softness": self._widths}
        return belief.update(half_spaces, self._rates, **noise, contradiction=self._contradiction)

    def _smooth(
        self, smoother: FixedLagSmoother, half_spaces: HalfSpaces, reviewer: str | None, *, sharpens: bool
    ) -> None:
        """Update the belief at an error rate and a softness that are learned too."""
        blur, bound, project = self._blur(), self.bound, partial(project_psd, space=self.space, bound=self.bound)
        smoother, belief = smoother.updated(self._belief, half_spaces, reviewer, blur=blur, project=project)
        if sharpens:
            belief, smoother = self._widened(belief), smoother.with_base(self._widened(smoother.base))
        now = Explained(bound, smoother, belief)
        least = least_bound(self._accuracy)
        self.bound, self._smoother, self._belief = best_bound(now, self._prior, least, blur=blur, project=project)
        self._widths = np.array([self._smoother.rates.usual_softness()])

    def learn_bit(self, verdicts: Verdicts, *, any_unfair: bool) -> Learned:
        """Learn that some pair was unfair, or that none was, and nothing more."""
        fair = HalfSpaces.of(self.space, replace(verdicts, unfair=np.zeros(len(verdicts), dtype=np.bool_)))
        belief, smoother = self._updated_bit(self._belief, fair, any_unfair), self._smoother
        if smoother is not None:
            smoother = smoother.with_base(self._updated_bit(smoother.base, fair, any_unfair))
        else:
            self._base = self._updated_bit(self._base or self._prior(self.bound), fair, any_unfair)
        self._belief, self._smoother = belief, smoother
        self._count_reviews(self.rounds + 1)
        return Learned(len(verdicts))

    def _updated_bit(self, belief: Belief, fair: HalfSpaces, any_unfair: bool) -> Belief:
        rate = max(self._rate, self.tuning.min_bit_error)
        updated, _ = belief.update_bit(fair, any_unfair, error_rate=rate, blur=self._blur(), softness=self._widths)
        return project_psd(updated, self.space, self.bound)

    def _blur(self) -> float:
        """The scale of thresholds: epsilon squared, and never so coarse as to drown the prior."""
        prior = self.bound / math.sqrt(self.space.n_unknowns)
        most = min(self.tuning.max_blur, self.tuning.max_blur_of_prior * prior)
        return min(most, self._accuracy**2)

    # Copying and saving. The keys of the state are those of version 0.1.

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Learning replaces what a learner holds and never writes into it, so a copy may share it."""
        memo[id(self)] = twin = copy.copy(self)
        return twin

    def settings(self) -> dict[str, Any]:
        """The settings; `softness` is left out for a sharp threshold, as in version 0.1."""
        return {name: value for name, value in super().settings().items() if name != "softness" or value != 0.0}

    def state(self) -> dict[str, Any]:
        """Settings, belief and memory."""
        base = {} if self._base is None else {"base": {"mean": self._base.mean, "cov": self._base.cov}}
        return {
            **self.settings(),
            **base,
            "rounds": self.rounds,
            "surprises": self._contradictions,
            "mean": self._belief.mean,
            "cov": self._belief.cov,
            "memory": self._memory.all().state(),
            "doubt": None if self._smoother is None else self._smoother.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The learner with this `state`, to the bit."""
        learner = cls.with_settings({"softness": 0.0, **state})  # a state of version 0.1 has none
        learner.bound = float(state["bound"])  # it may have become smaller than a first one
        learner._count_reviews(int(state["rounds"]))
        learner._contradictions = float(state["surprises"])
        learner._belief = Belief(state["mean"].copy(), state["cov"].copy(), cls.tuning)
        memory = HalfSpaces(**state["memory"])
        learner._memory = learner._memory.extended(memory, np.zeros(len(memory)))
        base = state.get("base")  # only if something was learned before the memory; never in states of version 0.1
        learner._base = None if base is None else Belief(base["mean"].copy(), base["cov"].copy(), cls.tuning)
        smoother = state["doubt"]
        if smoother is not None:
            learner._smoother = FixedLagSmoother.from_state(smoother, cls.tuning, learner._grid())
            learner._widths = np.array([learner._smoother.rates.usual_softness()])
        return learner
