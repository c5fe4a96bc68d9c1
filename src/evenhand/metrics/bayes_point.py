"""BayesPoint: a Gaussian belief about the metric, updated by every verdict; the fewest mistakes in practice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_number
from evenhand._internal.shared_copy import SharedCopy
from evenhand.metrics.features import Structure
from evenhand.metrics.gaussian.caution import Caution, cautious_squares
from evenhand.metrics.gaussian.covariance_form import CovarianceForm
from evenhand.metrics.gaussian.error_rates import ReviewerReport
from evenhand.metrics.gaussian.forms import BeliefForm
from evenhand.metrics.gaussian.history import BeliefHistory, ReviewersAssumed
from evenhand.metrics.gaussian.interactions import InteractionEvidence, interactions
from evenhand.metrics.gaussian.kernel_form import KernelForm
from evenhand.metrics.gaussian.last_moments import LastMoments
from evenhand.metrics.gaussian.prior_mean import PriorMean
from evenhand.metrics.gaussian.prior_shape import PriorShape, check_blocks
from evenhand.metrics.gaussian.soft_threshold import chance_exceeded
from evenhand.metrics.gaussian.truncated_normal import chance_below
from evenhand.metrics.gaussian.tuning import DEFAULT, BayesPointTuning
from evenhand.metrics.guess_bounds import GuessBounds
from evenhand.metrics.learner import Learned, MetricLearner
from evenhand.metrics.learner_settings import (
    ASSUMED_ERROR_RATE,
    accuracy,
    check_epsilon,
    check_error_rate,
    check_softness,
    first_bound,
)
from evenhand.metrics.verdicts import Pairs, Verdicts

LATER: dict[str, Any] = {"softness": 0.0, "blocks": None, "prior": None, "weight": 1.0}
"""Settings that version 0.1 did not have, with their defaults."""

NORM_OF_BOUND = 2.0
"""The least bound, in norms of a prior that was passed: as far above the mean as that of the usual prior."""


class BayesPoint(SharedCopy, MetricLearner):
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

    structure "auto": any G, with a prior that expects features to interact little. Off-diagonal entries start narrower
    than diagonal ones by a factor; a few factors are learned side by side, and the one that predicted the answers best
    is played (`PriorShape`). blocks: a label for each column; off-diagonal entries within a block, such as the levels
    of a category, start as wide as diagonal ones. `interactions` says which features interact. Beyond some 300 unknowns
    the belief is kept as a function of pairs (`KernelBelief`): cost and memory then grow with d, not with m.

    prior: a metric learned elsewhere, (d, d), or anything with `get_mahalanobis_matrix()`: the mean before the first
    answer in place of a multiple of I. `weight` divides the variances of the prior: 1 keeps them as wide as usual, 100
    makes deviations a tenth. The bound is at least twice the norm of the prior.

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
    _settings = (
        "n_features",
        "structure",
        "bound",
        "epsilon",
        "error_rate",
        "softness",
        "caution",
        "blocks",
        "prior",
        "weight",
    )

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
        blocks: Sequence[Any] | None = None,
        prior: Any = None,
        weight: float = 1.0,
    ) -> None:
        super().__init__(n_features, structure)
        self._structure = structure
        self.epsilon = check_epsilon(epsilon)
        self.error_rate = check_error_rate(error_rate)
        self.softness = check_softness(softness)
        self.caution = check_number("caution", caution, above=0, below=1)
        self.blocks = check_blocks(blocks, self.n_features)
        self._first = PriorMean.checked(prior, weight, self.n_features, self.space.structure)
        self._count_reviews(0)
        assumed, bound = ReviewersAssumed(self.error_rate, self.softness, self.tuning), first_bound(bound, self.epsilon)
        bound = bound if self._first is None else max(bound, NORM_OF_BOUND * self._first.norm)
        self._history, *rivals = (BeliefHistory(form, assumed, bound) for form in self._forms())
        self._rivals: tuple[BeliefHistory[Any], ...] = tuple(rivals)
        self._last = LastMoments()

    def _forms(self) -> list[BeliefForm[Any]]:
        """The forms of belief that are learned side by side, the one to play at the start first."""
        if self._structure != "auto" or self.n_features == 1:
            return [CovarianceForm(self.space, None, self.tuning, self._first)]
        tuning = self.tuning
        shapes = [PriorShape.of(self.n_features, ratio, self.blocks) for ratio in self._ratios]
        if self._is_large:
            return [KernelForm(self.space, shape, tuning, self._first) for shape in shapes]
        return [CovarianceForm(self.space, shape, tuning, self._first) for shape in shapes]

    @property
    def _is_large(self) -> bool:
        return self.space.n_unknowns > self.tuning.max_kernel_free

    @property
    def _ratios(self) -> tuple[float, ...]:
        return self.tuning.kernel_ratios if self._is_large else self.tuning.ratios

    @property
    def structure(self) -> Structure:
        """What was asked for."""
        return self._structure

    @property
    def prior(self) -> Floats | None:
        """The mean before the first answer, if one was passed, (d, d)."""
        return None if self._first is None else self._first.matrix

    @property
    def weight(self) -> float:
        """How much that weighs."""
        return 1.0 if self._first is None else self._first.weight

    @property
    def bound(self) -> float:
        """The bound on ||G||_F in force."""
        return self._history.bound

    def _count_reviews(self, n: int) -> None:
        """Set the number of reviews, and with it the accuracy in force."""
        self.rounds, self._accuracy = n, accuracy(self.epsilon, n)

    # Distances.

    def estimate(self, pairs: Pairs) -> Floats:
        """The mean of each pair's squared distance, (n,); below zero counts as zero."""
        return np.maximum(self._history.form.means(self._history.belief, pairs.differences), 0.0)

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
        history = self._history
        found = self._last.look_up(history.belief, pairs)
        if found is None:
            found = history.belief.moments(history.form.rows(pairs.differences))
            self._last = LastMoments.of(history.belief, pairs, *found)
        return found

    def covariances(self, pairs: Pairs) -> Floats:
        """The belief's covariances of the pairs' squared distances, (n, n)."""
        history = self._history
        return np.asarray(history.belief.covariances(history.form.rows(pairs.differences)))

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
        return float(self._history.widths[0]) if report is None else report.softness

    def guess(self, pairs: Pairs) -> Floats:
        """The cautious quantile of each pair's squared distance, or its lower end where it is known, (n,)."""
        return cautious_squares(*self.moments(pairs), self._caution())

    def playable_distances(self, contexts: Floats) -> Floats:
        """The distances to play between the rows of checked `contexts` (k, d), (k, k)."""
        if type(self).guess is not BayesPoint.guess:  # a subclass with its own guesses
            return super().playable_distances(contexts)
        table = self._history.form.distances(self._history.belief, contexts, self._caution())
        return super().playable_distances(contexts) if table is None else table

    def playable_bounds(self, contexts: Floats) -> GuessBounds | None:
        """Bounds on the distances to play; None for so few pairs and unknowns that guesses take no longer."""
        if type(self).guess is not BayesPoint.guess:
            return None
        return self._history.form.bounds(self._history.belief, contexts, self._caution())

    def _caution(self) -> Caution:
        tuning = self.tuning
        return Caution.at(
            self._accuracy, self.caution, tuning.end, tuning.known, tuning.shade, float(self._history.widths[0])
        )

    def matrix(self) -> Floats:
        """The mean of G, (d, d)."""
        return self._history.form.matrix(self._history.belief)

    def sample_matrix(self, rng: np.random.Generator) -> Floats:
        """A draw from the belief, truncated to positive semidefinite matrices, (d, d)."""
        return self._history.form.draw(self._history.belief, self.bound, rng)

    def reviewers(self) -> dict[str | None, ReviewerReport]:
        """A report on each reviewer, by name; empty if error rate and softness are settings."""
        return {} if self._history.smoother is None else self._history.smoother.rates.report()

    def interactions(self, blocks: Sequence[Any] | None = None) -> list[InteractionEvidence]:
        """For each two blocks of features, whether they count together: the clearest evidence for it first.

        blocks: a label for each column; by default the learner's own, or every column by itself.
        """
        if self.space.structure == "diagonal":
            return []
        labels = check_blocks(blocks, self.n_features) or self.blocks or tuple(range(self.n_features))
        return interactions(self._history, labels, self._accuracy)

    def evidence_of_few_interactions(self) -> float:
        """With structure "auto", by how much evidence the narrowest shape of the prior is ahead of the widest."""
        if self._structure != "auto" or self.n_features == 1:
            return 0.0
        evidence = {each.ratio: each.evidence for each in (self._history, *self._rivals)}
        dropped = self._history.evidence - self.tuning.hopeless_evidence
        return float(evidence.get(min(self._ratios), dropped) - evidence.get(max(self._ratios), dropped))

    # Learning.

    def learn(self, verdicts: Verdicts) -> Learned:
        """Learn from each verdict in turn; with a fixed error rate, report those that contradict the belief."""
        half_spaces = self._history.form.half_spaces(verdicts)
        histories = [self._history, *self._rivals]
        if self._rivals:  # before the most telling rows are chosen: those speak against the belief that chooses them
            # At the lowest rate that any finds: none may blame the reviewer for what another one explains.
            rates, widths = zip(*(each.expected_of(verdicts.reviewer) for each in histories), strict=True)
            histories = [each.weighed(half_spaces, min(rates), min(widths)) for each in histories]
        telling = self._history.form.telling(self._history.belief, half_spaces)
        if telling is not None:
            half_spaces = half_spaces.take(telling)
        sharper = accuracy(self.epsilon, self.rounds + 1)
        now: dict[str, Any] = {"accuracy": self._accuracy, "sharpens": sharper < self._accuracy, "reviews": self.rounds}
        history, contradicting = histories[0].updated(half_spaces, verdicts.reviewer, **now)
        if self._rivals:
            rivals = [each.updated(half_spaces, verdicts.reviewer, **now)[0] for each in histories[1:]]
            history, self._rivals = self._chosen(history, rivals)
        self._history, self.rounds, self._accuracy = history, self.rounds + 1, sharper
        if not contradicting:
            return Learned(len(verdicts.gaps))
        skipped = np.array(contradicting) if telling is None else telling[contradicting]
        return Learned(len(verdicts.gaps) - len(contradicting), tuple(verdicts.pairs.take(skipped).names()))

    def _chosen(
        self, history: BeliefHistory[Any], rivals: list[BeliefHistory[Any]]
    ) -> tuple[BeliefHistory[Any], tuple[BeliefHistory[Any], ...]]:
        """The history with the most evidence if it leads by enough, else this one; and the others with any hope."""
        best = max(rivals, key=lambda rival: rival.evidence)
        if best.evidence > history.evidence + self.tuning.more_evidence:
            rivals = [history if rival is best else rival for rival in rivals]
            history = best
        least = history.evidence - self.tuning.hopeless_evidence
        return history, tuple(rival for rival in rivals if rival.evidence > least)

    def learn_bit(self, verdicts: Verdicts, *, any_unfair: bool) -> Learned:
        """Learn that some pair was unfair, or that none was, and nothing more. No evidence on the prior's shape."""
        fair = self._history.form.half_spaces(replace(verdicts, unfair=np.zeros(len(verdicts), dtype=np.bool_)))
        history, *rivals = (
            each.updated_bit(fair, any_unfair=any_unfair, accuracy=self._accuracy)
            for each in (self._history, *self._rivals)
        )
        self._history, self._rivals = history, tuple(rivals)
        self._count_reviews(self.rounds + 1)
        return Learned(len(verdicts))

    # Saving. The keys of the state are those of version 0.1.

    def settings(self) -> dict[str, Any]:
        """The settings; what version 0.1 did not have is left out where it has its default."""
        found = super().settings()
        usual = [name for name in ("softness", "blocks", "weight") if found[name] == LATER[name]]
        usual += [] if found["prior"] is not None else ["prior"]
        return {name: value for name, value in found.items() if name not in usual}

    def state(self) -> dict[str, Any]:
        """Settings, belief and memory, of the prior's other shapes as well."""
        state = {**self.settings(), "rounds": self.rounds, **self._history.state()}
        if self._structure == "auto":
            state |= _race(self._history) | {"rivals": [_race(each) | each.state() for each in self._rivals]}
        return state

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The learner with this `state`, to the bit."""
        learner = cls.with_settings({**LATER, **state})
        learner._count_reviews(int(state["rounds"]))
        if learner._structure != "auto":
            learner._history = learner._history.restored(state)
            return learner
        new = {each.ratio: each for each in (learner._history, *learner._rivals)}
        histories = []
        for each in (state, *state["rivals"]):
            history = new[float(each["ratio"])].restored(each)
            history.evidence = float(each["evidence"])
            histories.append(history)
        learner._history, learner._rivals = histories[0], tuple(histories[1:])
        return learner


def _race(history: BeliefHistory[Any]) -> dict[str, float]:
    """What a history needs besides its state if there are others."""
    return {"ratio": history.ratio, "bound": history.bound, "evidence": history.evidence}
