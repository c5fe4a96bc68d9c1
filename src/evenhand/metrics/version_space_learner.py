"""VersionSpace: play a low quantile of what the answers leave of all metrics. The learner with the promise."""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from evenhand._internal.append_only import GrowingList
from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.checks import check_number, check_number_or_none, check_whole
from evenhand._internal.randomness import Seed, as_generator, generator_from
from evenhand.errors import InvalidInput
from evenhand.metrics.features import Structure
from evenhand.metrics.gaussian.error_rates import ReviewerReport, report_on_rates
from evenhand.metrics.gaussian.tuning import BayesPointTuning
from evenhand.metrics.learner import Learned, MetricLearner
from evenhand.metrics.learner_settings import (
    ASSUMED_ERROR_RATE,
    FINEST_SQUARE,
    accuracy,
    check_epsilon,
    check_error_rate,
    check_softness,
    default_set_back,
    first_bound,
)
from evenhand.metrics.verdicts import HalfSpaces, Pairs, Verdicts
from evenhand.metrics.version_space import remembered
from evenhand.metrics.version_space.constraints import Constraints, values_at, weighted_sums
from evenhand.metrics.version_space.density import Density
from evenhand.metrics.version_space.hard_density import HardDensity
from evenhand.metrics.version_space.likelihood import Likelihood, likelihood_of
from evenhand.metrics.version_space.promise import CREDIBLE, Promise
from evenhand.metrics.version_space.soft_density import HARD, SoftDensity
from evenhand.metrics.version_space.soft_threshold import Thresholds, chance_exceeded, threshold_quantiles
from evenhand.metrics.version_space.tuning import DensityTuning
from evenhand.records.decision import PROBABILITY_TOLERANCE

SPARE = 4.0 * PROBABILITY_TOLERANCE  # Gaps exceed the distance played by this much at most, in squares.
WIDEST_KNOWN = 16.0
"""The density stops learning where it is as narrow as 2 set-backs / quantile: a bound of this times half of that leaves
something to learn."""


class VersionSpace(MetricLearner):
    """Plays the `quantile` of the squared distance under all metrics that fit the answers, less `set_back`.

    error_rate 0: answers are never wrong, and metrics that disagree with one by more than the set-back are ruled out. A
    number: they are weighed by it. None: each reviewer's error rate is learned, by name. softness: the deviation of
    reviewers' thresholds, in distance, as of `BayesPoint`; None: learned for each of them.

    Guarantee (`flags_left`; docs/mathematics.md has the proofs). With answers that fit a metric, error_rate 0 and
    ||G||_F <= bound, at most m log(4 bound / set_back) / log(1 / quantile) rounds are ever flagged, m = d(d+1)/2,
    whatever the contexts, if each decision is reviewed before the next. With error_rate p > 0 the same holds with the
    quantile raised to q + (1 - q) p / (1 - p), and each wrong answer adds at most log((1 - p) / p) / log(1 / that).
    Sampling costs about one flag more; `flags_left` counts it, with 95% confidence. With one-bit reviews of n pairs the
    quantile counts n times. A lower quantile is flagged less often and learns more slowly that it plays too low.

    n_features: d. structure: "full" or "diagonal" G. epsilon: accuracy of distances, None to sharpen as reviews come.
    quantile: what is played, None for 0.05, or 0.1 if rates are learned. set_back: in squared distance, None for a
    quarter of epsilon squared, or 2e-8 if rates are learned. bound: on ||G||_F, doubled when it proves too small, which
    raises `flags_left`. n_points: how many metrics represent the density. seed: of the walk.

    >>> learner = VersionSpace(1, epsilon=0.1, error_rate=0, seed=0)
    >>> learner.flags_left
    3
    >>> for _ in range(40):
    ...     gap = float(min(1.0, learner.guess(Pairs.between([1.0], [0.0]))[0]) ** 0.5)
    ...     _ = learner.learn_pair([1.0], [0.0], gap=gap, unfair=gap > 0.7)
    >>> bool(abs(learner.matrix()[0, 0] - 0.49) < 0.02)
    True
    """

    tuning: ClassVar[DensityTuning] = DensityTuning()
    _settings = ("n_features", "structure", "epsilon", "quantile", "set_back", "error_rate", "softness", "n_points")

    def __init__(
        self,
        n_features: int,
        *,
        structure: Structure = "full",
        epsilon: float | None = None,
        quantile: float | None = None,
        set_back: float | None = None,
        error_rate: float | None = ASSUMED_ERROR_RATE,
        softness: float | None = 0.0,
        bound: float = 1.0,
        n_points: int | None = None,
        seed: Seed = None,
    ) -> None:
        super().__init__(n_features, structure)
        m = self.space.n_unknowns
        self.epsilon = check_epsilon(epsilon)
        self.error_rate = check_error_rate(error_rate)
        self.softness = check_softness(softness)
        if error_rate == 0.0 and softness != 0.0:
            raise InvalidInput(f"softness must be 0 with error_rate 0, got {softness}")
        self._thresholds = Thresholds.of(self.error_rate, self.softness, m)
        quantile = self.tuning.usual_quantile(error_rate) if quantile is None else quantile
        self.quantile = check_number("quantile", quantile, above=0, below=1, also="None")
        self.set_back = check_number_or_none("set_back", set_back, least=FINEST_SQUARE)
        n_points = self.tuning.usual_points(m, self.quantile) if n_points is None else n_points
        least = max(2 * m + 10, math.ceil(self.tuning.least_below / self.quantile))
        self.n_points = check_whole("n_points", n_points, least=least, also="None")
        self.rounds = 0
        self.is_refuted = False
        """Whether some answer fits no metric together with earlier ones; no promise holds then."""
        self._rng = as_generator(seed)
        self._first_rng = self._rng.bit_generator.state
        self._names: tuple[str | None, ...] = ()
        self._pairs_per_flag = 1  # More than one after one-bit reviews: which of these pairs was unfair is not known.
        self._remembered: remembered.Remembered = GrowingList()
        self._redrawn_at = 0
        bound = max(first_bound(bound, self.epsilon), WIDEST_KNOWN * self._set_back(0) / self.quantile)
        self._max_bound = bound * 2.0**self.tuning.max_doublings
        self._density = self._prior(bound)

    def _prior(self, bound: float) -> Density:
        settings = (self.space, bound, self.n_points, self._rng, self._density_tuning())
        if self.error_rate == 0.0:
            return HardDensity.initial(*settings)
        return SoftDensity.without_reviewers(*settings, self._likelihood())

    def _likelihood(self) -> Likelihood:
        return likelihood_of(self.error_rate, self._thresholds.steps)

    def _density_tuning(self) -> DensityTuning:
        tuning = self.tuning
        sweeps = tuning.soft_sweeps if self.error_rate is None else tuning.promised_soft_sweeps
        min_cut = min(tuning.min_cut, tuning.min_cut_of_quantile * self.quantile)
        return replace(tuning, min_cut=min_cut, soft_sweeps=sweeps)

    @property
    def bound(self) -> float:
        """The bound on ||G||_F now in force."""
        return self._density.bound

    # Distances.

    def guess(self, pairs: Pairs) -> Floats:
        """The quantile of each pair's squared distance, less the set-back, (n,)."""
        normals = self.space.features(pairs.differences)
        quantiles = threshold_quantiles(self._density, normals, self.quantile, self._thresholds.usual)
        return np.maximum(quantiles - self._set_back(self.rounds) - SPARE, 0.0)

    def _set_back(self, rounds: int) -> float:
        """The set-back in force after this many reviews."""
        return self.set_back or default_set_back(accuracy(self.epsilon, rounds), self.error_rate)

    def estimate(self, pairs: Pairs) -> Floats:
        """The median of each pair's squared distance, (n,): one wrong answer may draw the mean far away."""
        return np.maximum(self._density.quantiles(self.space.features(pairs.differences), 0.5), 0.0)

    def moments(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """The mean and the standard deviation of each pair's squared distance, each (n,)."""
        return self._density.moments(values_at(self._density.points, self.space.features(pairs.differences)))

    def chance_unfair(self, pairs: Pairs, gaps: Floats) -> Floats:
        """The share of the density in which each pair's distance is below its gap, (n,)."""
        below = values_at(self._density.points, self.space.features(pairs.differences)) < gaps**2
        return weighted_sums(self._density.weights, below)

    def chance_flagged(self, pairs: Pairs, gaps: Floats, reviewer: str | None = None) -> Floats:
        """The probability that this reviewer flags each pair, (n,): some answers are wrong, and thresholds soft."""
        rate, normals = self.error_rate_of(reviewer), self.space.features(pairs.differences)
        return rate + (1.0 - 2.0 * rate) * chance_exceeded(self._density, normals, gaps, self.softness_of(reviewer))

    def softness_of(self, reviewer: str | None) -> float:
        """The deviation of this reviewer's threshold, in distance."""
        return self._thresholds.softness_of(reviewer)

    def ends(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """The ends of each pair's squared distance, each (n,): certain for hard answers, credible for soft ones."""
        normals = self.space.features(pairs.differences)
        if isinstance(self._density, HardDensity):
            lower, upper = self._density.extents(normals)
        else:
            set_back = self._set_back(self.rounds)
            lower, upper = (self._density.quantiles(normals, q) for q in (CREDIBLE, 1.0 - CREDIBLE))
            lower, upper = lower - set_back, upper + set_back
        return np.maximum(lower, 0.0), np.maximum(upper, 0.0)

    def matrix(self) -> Floats:
        """The mean of G, (d, d), positive semidefinite."""
        return self.space.unflatten(self._density.mean)

    def sample_matrix(self, rng: np.random.Generator) -> Floats:
        """A random G of the density, (d, d)."""
        weights = self._density.weights
        return self.space.unflatten(self._density.points[rng.choice(len(weights), p=weights)])

    # The promise.

    @property
    def flags_left(self) -> int | None:
        """How many more rounds can be flagged at most, at 95% confidence, while ||G||_F <= bound.

        Each decision being reviewed before the next; with a fixed error rate, if no more answers are wrong than all but
        0.5% of the density say. None if rates are learned or refuted, no metric fits, or one bit is of too many pairs.
        """
        return self._promise.flags_left

    @property
    def promise(self) -> str:
        """What this learner promises now, in a sentence."""
        return self._promise.sentence

    @functools.cached_property
    def _promise(self) -> Promise:
        """Every decision asks for it; learning takes it away."""
        return Promise(
            density=self._density,
            error_rate=self.error_rate,
            quantile=self.quantile,
            set_back=self.set_back or default_set_back(self.epsilon or 0.0),
            pairs_per_flag=self._pairs_per_flag,
            is_refuted=self.is_refuted,
            is_soft=self.softness != 0.0,
        )

    def reviewers(self) -> dict[str | None, ReviewerReport]:
        """A report on each reviewer, by name; empty unless error rates or thresholds are learned."""
        if self._thresholds.learned is not None:
            return self._thresholds.learned.report()
        if self.error_rate is not None or not self._names:
            return {}
        assert isinstance(self._density, SoftDensity)
        answers, (rates, logs) = self._density.n_answers // self._thresholds.steps, self._density.rates
        return report_on_rates(self._names, answers, logs, rates, BayesPointTuning().credible)

    # Learning.

    def learn(self, verdicts: Verdicts) -> Learned:
        """Learn from the verdicts of one round; those that fit no metric, or hardly any, are conflicts."""
        ladder, new = self._thresholds.ladder_of(verdicts.reviewer), self._constraints(verdicts)
        rows = new.first_occurrences()
        new = new.take(rows) if ladder is None else self._constraints(verdicts.take(rows), ladder)
        thresholds = self._thresholds.after(verdicts.take(rows), self._density, self.space)
        refused = self._learn(new, verdicts.reviewer)
        self._thresholds = thresholds
        names = verdicts.pairs.take(np.flatnonzero(rows)[refused]).names()
        return Learned(len(verdicts) - len(names), tuple(names))

    def learn_bit(self, verdicts: Verdicts, *, any_unfair: bool) -> Learned:
        """Learn that at least one of these pairs was unfair, or that none was."""
        if not any_unfair or len(verdicts) == 1:
            return self.learn(replace(verdicts, unfair=np.full(len(verdicts), any_unfair)))
        one = self._constraints(replace(verdicts, unfair=np.ones(len(verdicts), np.bool_))).as_one()
        new = functools.reduce(Constraints.joined, [one] * self._thresholds.steps)
        refused = self._learn(new, verdicts.reviewer)
        self._pairs_per_flag = max(self._pairs_per_flag, len(verdicts))
        return Learned(0, tuple(verdicts.pairs.names())) if len(refused) else Learned(len(verdicts))

    def _constraints(self, verdicts: Verdicts, ladder: Floats | None = None) -> Constraints:
        """Verdicts as constraints. ladder: the steps of each, if a threshold may be soft."""
        half_spaces = HalfSpaces.of(self.space, verdicts)
        return Constraints.of(half_spaces, self._set_back(self.rounds), self._row(verdicts.reviewer), ladder)

    def _row(self, reviewer: str | None) -> int:
        """The row of a reviewer; where rates are not learned, all reviewers are one."""
        if self.error_rate is None:
            return self._names.index(reviewer) if reviewer in self._names else len(self._names)
        return HARD if self.error_rate == 0.0 else 0

    def _learn(self, new: Constraints, reviewer: str | None) -> Indices:
        """Learn from these answers of a reviewer; return those that contradict earlier ones. All of it, or nothing."""
        before = self._rng.bit_generator.state
        try:
            density, refused = self._after(new)
            kept = np.ones(len(new), np.bool_)
            if self.error_rate == 0.0:
                kept[refused] = False
            memory = self._memory_with(new.take(kept))
            density = self._within_bound(density, memory)
            density, redrawn_at = self._redrawn(density, memory)
        except BaseException:
            self._rng.bit_generator.state = before
            raise
        if self.error_rate is None and len(new) and reviewer not in self._names:
            self._names = (*self._names, reviewer)
        self._density, self._remembered, self._redrawn_at = density, memory, redrawn_at
        self.rounds += 1
        self.__dict__.pop("_promise", None)
        self.is_refuted = self.is_refuted or (self.error_rate == 0.0 and len(refused) > 0)
        return refused

    def _after(self, new: Constraints) -> tuple[Density, Indices]:
        """The density after new answers, and those that contradict earlier ones."""
        after, none = self._density.after(new, self._rng), np.zeros(0, np.int64)
        if after is not None:
            is_slip = 0.0 < (self.error_rate or 0.0) < self.tuning.slip_rate and self.softness == 0.0
            return after, self._density.contradicting(new) if is_slip else none
        assert isinstance(self._density, HardDensity)  # the others never run out of metrics
        if self._density.may_fit(new) and 2.0 * self.bound <= self._max_bound:
            larger = self._restarted(2.0 * self.bound, self._memory_with(new))
            if larger is not None:
                return larger, none
        density: Density = self._density
        refused = []
        for row in range(len(new)):  # one by one, the first ones first
            one = new.take(np.arange(len(new)) == row)
            after = density.after(one, self._rng) if self._density.may_fit(one) else None
            if after is None:
                refused.append(row)
            else:
                density = after
        return density, np.array(refused, np.int64)

    def _memory_with(self, new: Constraints) -> remembered.Remembered:
        """All informative answers so far, to start again from should the bound grow; beyond a maximum, the newest."""
        most = self._thresholds.steps * self.tuning.max_rows(self.space.n_unknowns)
        return remembered.extended(self._remembered, new.take(self._density.informative(new)), most)

    def _within_bound(self, density: Density, memory: remembered.Remembered) -> Density:
        """The density, in a larger ball if its mean comes near the bound: the truth may lie outside."""
        if not density.leans_on_the_ball or 2.0 * density.bound > self._max_bound:
            return density
        return self._restarted(2.0 * density.bound, memory) or density

    def _redrawn(self, density: Density, memory: remembered.Remembered) -> tuple[Density, int]:
        """The density, or one drawn again if that has more mass, and the number of answers at the last attempt.

        Attempted when more answers are wrong than usual: points may have been misled by the order of the reviews.
        """
        if not self.error_rate or not isinstance(density, SoftDensity):
            return density, 0
        n = int(np.sum(density.n_answers))
        if n < self.tuning.redraw_growth * self._redrawn_at or not density.is_doubtful(self.error_rate):
            return density, self._redrawn_at
        parts = list(memory)
        other = self._restarted(density.bound, [parts[i] for i in self._rng.permutation(len(parts))])
        return other if other is not None and other.log_mass > density.log_mass else density, n

    def _restarted(self, bound: float, reviews: Iterable[Constraints]) -> Density | None:
        """The density with this bound after the answers of these reviews; None if they fit no metric."""
        density: Density | None = self._prior(bound)
        parts = list(reviews)
        if self.error_rate == 0.0 and parts:
            parts = [functools.reduce(Constraints.joined, parts)]
        for part in parts:
            if density is not None:
                density = density.after(part, self._rng)
        return density

    # Saving.

    def state(self) -> dict[str, Any]:
        """The whole learner; one that has learned nothing is the same on every processor: its points are left out."""
        return {
            **self.settings(),
            **remembered.as_state(self._remembered, self.space.n_unknowns),
            "max_bound": self._max_bound,
            "rounds": self.rounds,
            "is_refuted": self.is_refuted,
            "names": list(self._names),
            "redrawn_at": self._redrawn_at,
            "thresholds": self._thresholds.state(),
            "pairs_per_flag": self._pairs_per_flag,
            "density": self._density.state() if self.rounds else None,
            "rng": self._rng.bit_generator.state if self.rounds else self._first_rng,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The learner with this `state`, to the bit."""
        learner = cls.__new__(cls)
        MetricLearner.__init__(learner, state["n_features"], state["structure"])
        for name in ("epsilon", "quantile", "set_back", "error_rate", "softness", "n_points", "rounds", "is_refuted"):
            setattr(learner, name, state[name])
        learner._thresholds = Thresholds.of(learner.error_rate, learner.softness, learner.space.n_unknowns).with_state(
            state["thresholds"]
        )
        learner._max_bound, learner._names = float(state["max_bound"]), tuple(state["names"])
        learner._pairs_per_flag, learner._redrawn_at = int(state["pairs_per_flag"]), int(state["redrawn_at"])
        learner._rng, learner._first_rng = generator_from(state["rng"]), state["rng"]
        learner._remembered = remembered.from_state(state)
        if state["density"] is None:
            learner._density = learner._prior(learner._max_bound / 2.0**cls.tuning.max_doublings)
        else:
            saved, tuning = state["density"], learner._density_tuning()
            learner._density = (
                HardDensity.from_state(saved, learner.space, tuning)
                if learner.error_rate == 0.0
                else SoftDensity.from_state(saved, learner.space, tuning, likelihood=learner._likelihood())
            )
        return learner

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Learning replaces what a learner holds and never writes into it: a copy shares all but the random stream."""
        twin = self.__class__.__new__(self.__class__)
        twin.__dict__.update(self.__dict__)
        twin._rng = copy.deepcopy(self._rng)
        memo[id(self)] = twin
        return twin
