"""BayesPoint: a Gaussian belief about the metric, sharpened by every verdict; the fewest mistakes in practice."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Self

import numpy as np

from evenhand._internal.checks import is_number
from evenhand._internal.jit import frozen
from evenhand.errors import InvalidInput
from evenhand.metrics.accuracy import accuracy, check_epsilon, sharpens
from evenhand.metrics.bound import first_bound
from evenhand.metrics.features import Floats, Structure
from evenhand.metrics.gaussian.belief import Belief
from evenhand.metrics.gaussian.caution import END, KNOWN, Caution, cautious_squares, fill_distances
from evenhand.metrics.gaussian.error_rates import Doubt
from evenhand.metrics.gaussian.guess_bounds import GuessBounds, is_worth_it
from evenhand.metrics.gaussian.memory import Memory
from evenhand.metrics.gaussian.project_psd import TOLERANCE, drawn_metric, mended
from evenhand.metrics.gaussian.truncated_normal import chance_below
from evenhand.metrics.gaussian.update import CONTRADICTION, heard
from evenhand.metrics.half_spaces import HalfSpaces
from evenhand.metrics.learner import Learned, MetricLearner
from evenhand.metrics.reviewer_errors import ReviewerReport, check_error_rate
from evenhand.metrics.verdicts import Pairs, Verdicts

BLUR = 1e-4
"""Thresholds are blurred by epsilon squared, but by no more than this."""

SHARE_OF_PRIOR = 0.1
"""Nor by more than this share of the prior's standard deviation."""

SLIPS = 0.01
"""Below this error rate, wrong verdicts are slips, left out and reported; from it on they are expected, and weighed."""

SURPRISES_FORGIVEN = 3
"""So many contradictions, beyond those the error rate explains, and the belief is widened."""

WIDENING = 4.0
"""What the covariance is multiplied by then, and whenever epsilon halves.

Half the epsilon asks for a quarter of the variance, and a belief that has become sure while it played low would not
notice that it is too low: without this, the ends missed up to 86% of distances when epsilon=None, by up to 0.006. No
direction becomes less sure than it was at the beginning: where nothing was learned there is nothing to be less sure of,
and epsilon halves with the number of reviews, however little each says. Without that limit 200 reviews of one pair each
gave metrics three to ten times too large (d = 4, error_rate=None).
"""

BIT_DOUBT = 0.05
"""A single bit on all pairs is taken to be wrong at least this often, whoever gives it.

What moment matching makes of a bit is rough; believed to the letter it becomes sure of what is not so. At d = 5, k = 10
an exact reviewer's bits believed at 0.001 cost 190 unfair pairs and a regret of 72, at 0.05 198 and 25.
"""


class BayesPoint(MetricLearner):
    """Moment matching on alpha ~ N(mu, Sigma), with verdicts that are wrong with probability `error_rate`.

    error_rate None: how often each reviewer is wrong is learned while running, by name; see `Doubt`. Somebody wrong
    more often than right is not listened to. From one-bit reviews no rate is learned.

    Prior: mu = svec(I) B / (2 sqrt d), Sigma = (B^2/m) I, B the `bound` on ||G||_F. When the belief
    is a standard deviation sure that ||G||_F exceeds it, the bound is doubled and what is remembered is told again
    to the wider prior. That G is positive semidefinite enters as certain verdicts on directions in which the mean is
    negative.

    Played is not the mean but the `caution` quantile of the belief about the squared distance, given that it is
    not negative. A low quantile is flagged less often for each bit it learns, and being positive it goes on learning,
    where "mean minus c standard deviations" would stop. Once a distance is known to within epsilon, its lower end
    is played. At d = k = 5 and 3,000 rounds: 46 unfair pairs at caution 0.5, 18 at 0.1, 12 at 0.02
    (`python -m benchmarks.learners`).

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

    def __init__(
        self,
        n_features: int,
        *,
        structure: Structure = "full",
        bound: float = 1.0,
        epsilon: float | None = None,
        error_rate: float | None = 1e-3,
        caution: float = 0.1,
    ) -> None:
        super().__init__(n_features, structure)
        if not is_number(caution) or not 0 < caution < 1:
            raise InvalidInput(f"caution is {caution!r}; allowed is a quantile between 0 and 1 (0.5 is the median)")
        self.epsilon = check_epsilon(epsilon)
        self.bound = first_bound(bound, self.epsilon)
        self.error_rate = check_error_rate(error_rate)
        self.caution = float(caution)
        self._rate = self.error_rate or 0.0  # that was told
        # The score below which a verdict is a contradiction: none is, of somebody who is known to err.
        self._surprise = CONTRADICTION if self._rate < SLIPS else -math.inf
        self.rounds = 0
        self._surprises = 0.0
        self._memory = Memory(self.space.n_unknowns)
        self._belief = self._prior(self.bound)
        self._doubt = Doubt(self._belief) if self.error_rate is None else None

    def _prior(self, bound: float) -> Belief:
        d, m = self.space.n_features, self.space.n_unknowns
        mean = self.space.flatten(np.eye(d)) * (bound / (2.0 * math.sqrt(d)))
        return Belief(mean, np.eye(m) * self._prior_variance(bound))

    def _prior_variance(self, bound: float) -> float:
        return bound**2 / self.space.n_unknowns

    # Asking.

    def estimate(self, pairs: Pairs) -> Floats:
        """The mean of each pair's squared distance, (n,); below zero counts as zero."""
        return np.maximum(self.space.features(pairs.differences) @ self._belief.mean, 0.0)

    def ends(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """Three standard deviations to either side, but no nearer than what is not looked into any further, each (n,).

        That is half of epsilon in distance, and epsilon squared in squared distance: below epsilon all are alike.
        """
        epsilon = accuracy(self.epsilon, self.rounds)
        mean, sd = self._belief.moments(self.space.features(pairs.differences))
        reach, middle = END * sd + epsilon**2, np.sqrt(np.maximum(mean, 0.0))
        lower = np.minimum(mean - reach, np.maximum(middle - KNOWN * epsilon, 0.0) ** 2)
        return np.maximum(lower, 0.0), np.maximum(mean + reach, (middle + KNOWN * epsilon) ** 2)

    def moments(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """The belief's mean and standard deviation of each pair's squared distance, each (n,)."""
        return self._belief.moments(self.space.features(pairs.differences))

    def chance_unfair(self, pairs: Pairs, gaps: Floats) -> Floats:
        """The belief that each pair's squared distance, which is not negative, lies below its squared gap, (n,)."""
        mean, sd = self.moments(pairs)
        return chance_below(mean, sd, gaps**2)

    def guess(self, pairs: Pairs) -> Floats:
        """The cautious quantile of each pair's squared distance, or its lower end where it is known, (n,)."""
        mean, sd = self.moments(pairs)
        return cautious_squares(mean, sd, self._caution())

    def playable_distances(self, contexts: Floats) -> Floats:
        """The distances to play between the rows of checked `contexts` (k, d), (k, k)."""
        if type(self).guess is not BayesPoint.guess:  # whoever guesses in another way plays what they guess
            return super().playable_distances(contexts)
        table, is_full = np.empty((len(contexts), len(contexts))), self.space.structure == "full"
        fill_distances(frozen(contexts), is_full, self._belief.mean, self._belief.cov, *self._caution(), table)
        return table

    def playable_bounds(self, contexts: Floats) -> GuessBounds | None:
        """Bounds on the distances to play, unless there are so few pairs and unknowns that guesses take no longer."""
        if not is_worth_it(len(contexts), self.space.n_unknowns) or type(self).guess is not BayesPoint.guess:
            return None
        return GuessBounds(contexts, self.matrix(), self._belief.widest, self._caution())

    def _caution(self) -> Caution:
        return Caution.at(accuracy(self.epsilon, self.rounds), self.caution)

    def matrix(self) -> Floats:
        """The mean of G, (d, d)."""
        return self.space.unflatten(self._belief.mean)

    def sample_matrix(self, rng: np.random.Generator) -> Floats:
        """A draw from the belief, given that no squared length is negative, (d, d)."""
        return drawn_metric(self._belief, self.space, self.bound, rng)

    def reviewers(self) -> dict[str | None, ReviewerReport]:
        """What is known of each reviewer, by name; nothing if their error rate was told."""
        return {} if self._doubt is None else self._doubt.errors.report()

    # Telling.

    def learn(self, verdicts: Verdicts) -> Learned:
        """Take in each verdict in turn. If the error rate is told: report those that contradict the belief."""
        if self._doubt is None:
            conflicts = self._trust(verdicts)
        else:
            self._doubt_in(self._doubt, HalfSpaces.of(self.space, verdicts), verdicts.reviewer)
            conflicts = []
        self.rounds += 1
        names = verdicts.pairs.names() if conflicts else []
        return Learned(len(verdicts) - len(conflicts), tuple(names[row] for row in conflicts))

    def _trust(self, verdicts: Verdicts) -> list[int]:
        """Hear verdicts at the rate that was told; those that contradict the belief are not heard, and returned."""
        rate, bound, surprise = self._rate, self.bound, self._surprise
        how = (rate, self._blur(), surprise, TOLERANCE * bound)
        belief, memory, contradicted, is_metric, square = heard(self._belief, self._memory, self.space, verdicts, *how)
        if not is_metric:
            belief, square = self._semidefinite(belief), math.inf
        surprises = max(self._surprises + len(contradicted) - rate * len(verdicts), 0.0)
        if self._sharpens():
            belief = belief.widened(WIDENING, self._prior_variance(bound))
        if square > bound**2 and belief.surely_exceeds(bound):
            bound = 2.0 * bound
            belief, _ = self._told(self._prior(bound), memory.all())
        elif surprises > SURPRISES_FORGIVEN:  # not the reviewer's slips: the belief was too sure of itself
            belief, surprises = belief.widened(WIDENING, self._prior_variance(bound)), 0.0
        self.bound, self._belief, self._memory, self._surprises = bound, belief, memory, surprises
        return contradicted

    def _doubt_in(self, doubt: Doubt, half_spaces: HalfSpaces, reviewer: str | None) -> None:
        """Hear half-spaces at a rate that is learned on the way."""
        blur, bound = self._blur(), self.bound
        doubt, belief = doubt.heard(self._belief, half_spaces, reviewer, blur=blur, mend=self._semidefinite)
        if self._sharpens():
            most = self._prior_variance(bound)
            belief, doubt = belief.widened(WIDENING, most), doubt.with_base(doubt.base.widened(WIDENING, most))
        if belief.surely_exceeds(self.bound):
            bound = 2.0 * bound
            doubt, belief = doubt.restarted(self._prior(bound), blur=blur, mend=self._semidefinite)
        self.bound, self._belief, self._doubt = bound, belief, doubt

    def learn_bit(self, verdicts: Verdicts, *, any_unfair: bool) -> Learned:
        """Take in that some pair was unfair, or that none was, and nothing more."""
        fair = HalfSpaces.of(self.space, replace(verdicts, unfair=np.zeros(len(verdicts), dtype=np.bool_)))
        belief, doubt = self._told_bit(self._belief, fair, any_unfair), self._doubt
        if doubt is not None:
            doubt = doubt.with_base(self._told_bit(doubt.base, fair, any_unfair))
        self._belief, self._doubt = belief, doubt
        self.rounds += 1
        return Learned(len(verdicts))

    def _told_bit(self, belief: Belief, fair: HalfSpaces, any_unfair: bool) -> Belief:
        told, _ = belief.told_bit(fair, any_unfair, error_rate=max(self._rate, BIT_DOUBT), blur=self._blur())
        return self._semidefinite(told)

    def _told(self, belief: Belief, half_spaces: HalfSpaces) -> tuple[Belief, Floats]:
        """The belief after all half-spaces that do not contradict it, and the score of each, (n,)."""
        rates = np.full(len(half_spaces), self._rate)
        told = belief.told_all(half_spaces, rates, blur=self._blur(), surprise=self._surprise)
        return self._semidefinite(told.belief), told.score

    def _sharpens(self) -> bool:
        """Whether this review is one at which epsilon halves."""
        return self.epsilon is None and sharpens(self.rounds)

    def _semidefinite(self, belief: Belief) -> Belief:
        """Tell the belief, for sure, that no direction has a negative squared length."""
        return mended(belief, self.space, self.bound)

    def _blur(self) -> float:
        """How finely thresholds are told apart: by epsilon squared, and never so coarsely as to drown the prior."""
        prior = self.bound / math.sqrt(self.space.n_unknowns)
        return min(BLUR, accuracy(self.epsilon, self.rounds) ** 2, SHARE_OF_PRIOR * prior)

    # Copying and saving.

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """All that a learner holds is replaced when it learns, never written into, so a copy may share it."""
        twin = self.__class__.__new__(self.__class__)
        twin.__dict__.update(self.__dict__)
        memo[id(self)] = twin
        return twin

    def state(self) -> dict[str, Any]:
        """Settings, belief and memory."""
        return {
            "n_features": self.n_features,
            "structure": self.space.structure,
            "bound": self.bound,
            "epsilon": self.epsilon,
            "error_rate": self.error_rate,
            "caution": self.caution,
            "rounds": self.rounds,
            "surprises": self._surprises,
            "mean": self._belief.mean,
            "cov": self._belief.cov,
            "memory": self._memory.all().state(),
            "doubt": None if self._doubt is None else self._doubt.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The learner that was saved, to the bit."""
        settings = ("n_features", "structure", "bound", "epsilon", "error_rate", "caution")
        learner = cls(**{name: state[name] for name in settings})
        learner.rounds, learner._surprises = int(state["rounds"]), float(state["surprises"])
        learner._belief = Belief(state["mean"].copy(), state["cov"].copy())
        learner._memory = Memory.of(HalfSpaces.from_state(state["memory"]))
        learner._doubt = None if state["doubt"] is None else Doubt.from_state(state["doubt"])
        return learner
