"""VersionSpace: play a low quantile of what the answers leave of all metrics. The learner with the promise."""

from __future__ import annotations

import copy
import functools
import math
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
from evenhand.metrics.guess_bounds import GuessBounds
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
from evenhand.metrics.version_space.constraints import Constraints
from evenhand.metrics.version_space.density import Density
from evenhand.metrics.version_space.hard_density import HardDensity
from evenhand.metrics.version_space.history import Beginning, History
from evenhand.metrics.version_space.limits import quantile_limits
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
    quantile counts n times. Nothing is guaranteed where error rates or softness are learned. A lower quantile is
    flagged less often and learns more slowly that it plays too low.

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
        bound = max(first_bound(bound, self.epsilon), WIDEST_KNOWN * self._set_back(0) / self.quantile)
        beginning = self._beginning(bound * 2.0**self.tuning.max_doublings)
        self._history = History(beginning, beginning.density(bound, self._rng), GrowingList())

    def _beginning(self, max_bound: float) -> Beginning:
        tuning = self.tuning
        sweeps = tuning.soft_sweeps if self.error_rate is None else tuning.promised_soft_sweeps
        min_cut = min(tuning.min_cut, tuning.min_cut_of_quantile * self.quantile)
        return Beginning(
            space=self.space,
            tuning=replace(tuning, min_cut=min_cut, soft_sweeps=sweeps),
            n_points=self.n_points,
            error_rate=self.error_rate,
            steps=self._thresholds.steps,
            max_bound=max_bound,
        )

    @property
    def _density(self) -> Density:
        return self._history.density

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

    def playable_bounds(self, contexts: Floats) -> GuessBounds | None:
        """Bounds on the distances to play; None for few pairs, and where thresholds are soft."""
        if len(contexts) < self.tuning.least_to_bound or self._thresholds.usual != 0.0:
            return None
        limits = quantile_limits(self._density, self.quantile, self._set_back(self.rounds) + SPARE)
        return GuessBounds(contexts, self.space, self._density.mean, limits)

    def _set_back(self, rounds: int) -> float:
        """The set-back in force after this many reviews."""
        return self.set_back or default_set_back(accuracy(self.epsilon, rounds), self.error_rate)

    def estimate(self, pairs: Pairs) -> Floats:
        """The median of each pair's squared distance, (n,): one wrong answer may draw the mean far away."""
        return np.maximum(self._density.quantiles(self.space.features(pairs.differences), 0.5), 0.0)

    def moments(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """The mean and the standard deviation of each pair's squared distance, each (n,)."""
        normals = self.space.features(pairs.differences)
        mean, deviation = self._density.of_values(normals, lambda values, _: np.array(self._density.moments(values)))
        return mean, deviation

    def chance_unfair(self, pairs: Pairs, gaps: Floats) -> Floats:
        """The share of the density in which each pair's distance is below its gap, (n,)."""
        return chance_exceeded(self._density, self.space.features(pairs.differences), gaps, softness=0.0)

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
    def promise_is_doubtful(self) -> bool:
        """Whether more answers are wrong under most metrics than the error rate explains, but for one case in 20."""
        return bool(self.error_rate) and self._density.is_doubtful(self.error_rate or 0.0)

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
            history, refused = self._history.after(new, self._rng)
        except BaseException:
            self._rng.bit_generator.state = before
            raise
        if self.error_rate is None and len(new) and reviewer not in self._names:
            self._names = (*self._names, reviewer)
        self._history = history
        self.rounds += 1
        self.__dict__.pop("_promise", None)
        self.is_refuted = self.is_refuted or (self.error_rate == 0.0 and len(refused) > 0)
        return refused

    # Saving.

    def state(self) -> dict[str, Any]:
        """The whole learner; one that has learned nothing is the same on every processor: its points are left out."""
        return {
            **self.settings(),
            **self._history.state(),
            "max_bound": self._history.beginning.max_bound,
            "rounds": self.rounds,
            "is_refuted": self.is_refuted,
            "names": list(self._names),
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
        learner._names, learner._pairs_per_flag = tuple(state["names"]), int(state["pairs_per_flag"])
        learner._rng, learner._first_rng = generator_from(state["rng"]), state["rng"]
        beginning, saved = learner._beginning(float(state["max_bound"])), state["density"]
        if saved is None:
            density = beginning.density(beginning.max_bound / 2.0**cls.tuning.max_doublings, learner._rng)
        else:
            density = beginning.restored(saved)
        learner._history = History.from_state(state, beginning, density)
        return learner

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Learning replaces what a learner holds and never writes into it: a copy shares all but the random stream."""
        twin = self.__class__.__new__(self.__class__)
        twin.__dict__.update(self.__dict__)
        twin._rng = copy.deepcopy(self._rng)
        memo[id(self)] = twin
        return twin
