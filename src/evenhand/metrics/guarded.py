"""Guarded: a fast learner until it was flagged too often, a sure one, with a proved limit, from then on."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from evenhand._internal.checks import check_whole_or_none
from evenhand.errors import InvalidInput, UnsupportedReview
from evenhand.metrics.learner import Learned, MetricLearner
from evenhand.metrics.played_by_another import PlayedByAnother
from evenhand.metrics.projected_volume import ProjectedVolume
from evenhand.metrics.verdicts import MAX_SQUARED, Pairs, Verdicts
from evenhand.metrics.version_space.knowledge_set import KnowledgeSet
from evenhand.metrics.version_space_learner import VersionSpace
from evenhand.records.decision import PROBABILITY_TOLERANCE
from evenhand.theory import distance_estimator_mistakes
from evenhand.theory.promise import flags_in_words


@dataclass(frozen=True)
class GuardedTuning:
    """The tuning constants of Guarded. A subclass may set another record as its `tuning`."""

    epsilon: float = 0.01
    """Accuracy of the sure learner where the fast one has no fixed one: without it there is no bound to wait for."""
    centre_error: float = 0.2
    """Sampled centroids are taken to be off by no more than this, in standard deviations along the cut: the maximum
    measured in `sampled_set`. It makes the bound 2.5 times that of exact ones."""
    sampled_halving: float = 1.2
    """With one unknown, a middle that is off by that leaves at most 0.56 of an interval: this many cuts for a half."""
    most_unknowns: int = 120
    """VersionSpace is the sure learner up to here, ProjectedVolume beyond: to fill the set of all metrics of 20
    features with points takes half a minute."""
    remembered_per_unknown: int = 16
    """Verdicts of flagged reviews kept per unknown, the newest, for the sure learner to learn from at the switch.

    They save it some flags: at 5 and 10 features it had 43 and 137 without any, 37 and 116 with 16, 34 and 107 with 64,
    30 and 100 when it learned from every review all along. That costs 0.6 and 4 ms a review, where BayesPoint takes 0.3
    and 0.4; the 16 cost 0.07 and 1.0 seconds, once. (Means of six and three runs, k = 5.)
    """


DEFAULT = GuardedTuning()


class Guarded(PlayedByAnother):
    """Plays `fast`; once more than `limit` reviews had a flag, plays `sure`, for good.

    fast: any learner, BayesPoint above all. sure: by default VersionSpace(error_rate=0), beyond 120 unknowns
    ProjectedVolume, with the structure, the bound and the epsilon of `fast`, or 0.01 if that has no fixed one. limit:
    how many flagged reviews `fast` may have; by default as many as `sure` itself can have, `most_flagged(sure)`. Both
    learners are copied. A review counts once, however many pairs with different probabilities it flags, and so does a
    one-bit review with an unfair pair.

    Guarantee, whatever `fast` does and whatever the contexts: at most limit + 1 + N decisions are ever flagged, N being
    the maximum that `sure` can have; so 2 limit + 1 with the default. A reviewer who errs now and then for ever exceeds
    any limit, and then meets a learner that assumes no errors: use BayesPoint alone instead. After the switch one-bit
    reviews raise UnsupportedReview unless `sure` can learn from them; the bit that causes the switch is skipped.

    The verdicts of flagged reviews are remembered, within limits, and `sure` learns from them at the switch; that takes
    a second at ten features. All else costs what the learner in play costs.

    >>> from evenhand.metrics.bayes_point import BayesPoint
    >>> learner = Guarded(BayesPoint(2, epsilon=0.01))
    >>> learner.limit, learner.flags, learner.switched
    (13, 0, False)
    >>> learner.flags_left
    27
    """

    tuning: ClassVar[GuardedTuning] = DEFAULT
    limit: int
    """Maximum number of flagged reviews before the switch."""
    flags: int
    """Number of flagged reviews."""
    playing: MetricLearner  # the fast learner, and from the switch on the sure one
    _reserve: MetricLearner | None
    _memory: tuple[Verdicts, ...]

    def __init__(self, fast: MetricLearner, sure: MetricLearner | None = None, *, limit: int | None = None) -> None:
        _check_learner("fast", fast)
        sure = _fallback(fast, self.tuning) if sure is None else sure
        _check_learner("sure", sure)
        if sure.n_features != fast.n_features:
            raise InvalidInput(f"sure must have the {fast.n_features} features of fast, got {sure.n_features}")
        limit = check_whole_or_none("limit", limit, least=0)
        super().__init__(fast.n_features, fast.space.structure)
        self.limit, self.flags = most_flagged(sure, self.tuning) if limit is None else limit, 0
        self.playing, self._reserve, self._memory = copy.deepcopy(fast), copy.deepcopy(sure), ()

    @property
    def switched(self) -> bool:
        """Whether the sure learner plays."""
        return self._reserve is None

    @property
    def flags_left(self) -> int | None:
        """How many more rounds can be flagged at most, if the sure learner promises a number."""
        if self._reserve is None:
            return self.playing.flags_left
        left = self._reserve.flags_left
        return None if left is None else max(self.limit + 1 - self.flags, 0) + left

    @property
    def promise(self) -> str | None:
        """What is promised now, in a sentence."""
        left = self.flags_left
        return self.playing.promise if self._reserve is None or left is None else flags_in_words(left)

    # Learning.

    def learn(self, verdicts: Verdicts) -> Learned:
        """Learn with the learner in play, or, if this flag exceeds the limit, with the sure one."""
        flagged = bool(np.any(verdicts.gaps[verdicts.unfair] > PROBABILITY_TOLERANCE))
        learner = self._learner(flagged)
        memory = self._remembered(verdicts) if flagged else self._memory
        learned = learner.learn(verdicts)
        self._finish(learner, flagged, memory)
        return learned

    def learn_bit(self, verdicts: Verdicts, *, any_unfair: bool) -> Learned:
        """The same for one bit; a sure learner that cannot learn from the bit that causes the switch skips it."""
        flagged = any_unfair and bool(np.any(verdicts.gaps > PROBABILITY_TOLERANCE))
        learner = self._learner(flagged)
        try:
            learned = learner.learn_bit(verdicts, any_unfair=any_unfair)
        except UnsupportedReview:
            if learner is self.playing:
                raise
            learned = Learned()
        self._finish(learner, flagged, self._memory)
        return learned

    def _learner(self, flagged: bool) -> MetricLearner:
        """Who learns from this review: the learner in play, or a copy of the sure one that learned from the memory."""
        if self._reserve is None or self.flags + flagged <= self.limit:
            return self.playing
        sure = copy.deepcopy(self._reserve)
        for review in self._memory:
            sure.learn(review)
        return sure

    def _finish(self, learner: MetricLearner, flagged: bool, memory: tuple[Verdicts, ...]) -> None:
        """Let this learner play on; nothing here can fail."""
        if learner is not self.playing:
            self.playing, self.space, self._reserve = learner, learner.space, None
        self._memory = () if self.switched else memory
        self.flags += flagged

    def _remembered(self, verdicts: Verdicts) -> tuple[Verdicts, ...]:
        """The newest flagged reviews, of each the flagged or tight pairs, flagged ones first if there are too many."""
        most = self.tuning.remembered_per_unknown * self.space.n_unknowns
        relevant = verdicts.take(verdicts.unfair | verdicts.tight)
        relevant = relevant.take(np.sort(np.argsort(~relevant.unfair, kind="stable")[:most]))
        memory = (*self._memory, relevant)
        while sum(len(review) for review in memory) > most:
            memory = memory[1:]
        return memory

    # Saving. The keys of the state are those of version 0.1.

    def state(self) -> dict[str, Any]:
        """The count, both learners, and the memory; after the switch the sure learner alone."""
        return {
            "limit": self.limit,
            "flags": self.flags,
            "playing": self.playing.saved(),
            "reserve": None if self._reserve is None else self._reserve.saved(),
            "memory": _as_arrays(self._memory, self.n_features),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The learner with this `state`, to the bit."""
        learner = cls.__new__(cls)
        learner.limit, learner.flags = int(state["limit"]), int(state["flags"])
        learner.playing = MetricLearner.restored(state["playing"])
        learner.space = learner.playing.space
        learner._reserve = None if state["reserve"] is None else MetricLearner.restored(state["reserve"])
        learner._memory = _from_arrays(state["memory"])
        return learner


def most_flagged(sure: MetricLearner, tuning: GuardedTuning = DEFAULT) -> int:
    """N: the maximum number of flagged decisions of VersionSpace or ProjectedVolume, whatever it learned before.

    docs/mathematics.md has the proofs and their conditions: a consistent reviewer, ||G||_F <= bound, each decision
    reviewed before the next one, and for ProjectedVolume a cloud of points that represents K as well as was measured.

    >>> most_flagged(ProjectedVolume(5, epsilon=0.01, seed=0))
    2642
    >>> most_flagged(VersionSpace(5, epsilon=0.01, error_rate=0, seed=0))
    61
    """
    if isinstance(sure, VersionSpace) and sure.error_rate == 0.0 and sure.flags_left is not None:
        return sure.flags_left
    if not isinstance(sure, ProjectedVolume) or sure.epsilon is None or not sure.play_known_low:
        raise InvalidInput(
            "sure must be a VersionSpace with error_rate=0, or a ProjectedVolume with a fixed epsilon and "
            f"play_known_low, for which a limit is proved, or limit must be set, got {sure!r}"
        )
    m, known = sure.space.n_unknowns, KnowledgeSet.initial(sure.space, sure.bound)
    squared, reach, most = known.known_width(sure.epsilon), known.reach, known.thinness(sure.epsilon)
    if m == 1:
        halvings = distance_estimator_mistakes(1, squared / (2 * reach), sure.bound, MAX_SQUARED)
        return math.floor(tuning.sampled_halving * halvings)
    thin = sure.state()["thinness"] or most
    if thin > most:
        raise InvalidInput(f"thinness of sure must be <= {most:.3g} for a proved limit, or limit set, got {thin:.3g}")
    mistakes = distance_estimator_mistakes(
        m, squared / reach, sure.bound, MAX_SQUARED, centre_error=tuning.centre_error, thin=thin / (sure.bound * reach)
    )
    return math.floor(mistakes)


def _fallback(fast: MetricLearner, tuning: GuardedTuning = DEFAULT) -> MetricLearner:
    """The sure learner for the settings of a fast one; always the same seed, so that equal bandits are equal."""
    epsilon = getattr(fast, "epsilon", None)
    settings: dict[str, Any] = {
        "structure": fast.space.structure,
        "bound": getattr(fast, "bound", 1.0),
        "epsilon": tuning.epsilon if epsilon is None else epsilon,
        "seed": 0,
    }
    if fast.space.n_unknowns <= tuning.most_unknowns:
        return VersionSpace(fast.n_features, error_rate=0.0, **settings)
    return ProjectedVolume(fast.n_features, **settings)


def _check_learner(name: str, learner: object) -> None:
    if not isinstance(learner, MetricLearner) or isinstance(learner, Guarded):
        raise InvalidInput(f"{name} must be a metric learner other than Guarded, got {learner!r}")


def _as_arrays(reviews: tuple[Verdicts, ...], n_features: int) -> dict[str, Any]:
    """The reviews one after the other in a few arrays, with the length and the reviewer of each."""
    none = Pairs(np.zeros((0, 2), dtype=np.int64), np.zeros((0, n_features)))
    parts = [Verdicts(none, np.zeros(0), np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.bool_)), *reviews]
    return {
        "lengths": np.array([len(review) for review in reviews], dtype=np.int64),
        "reviewers": [review.reviewer for review in reviews],
        "indices": np.concatenate([part.pairs.indices for part in parts]),
        "differences": np.concatenate([part.pairs.differences for part in parts]),
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in ("gaps", "unfair", "tight")},
    }


def _from_arrays(state: dict[str, Any]) -> tuple[Verdicts, ...]:
    """The reviews from their `_as_arrays`."""
    pairs = Pairs(state["indices"].copy(), state["differences"].copy())
    verdicts = Verdicts(pairs, *(state[name].copy() for name in ("gaps", "unfair", "tight")))
    ends = np.cumsum(state["lengths"])
    return tuple(
        replace(verdicts.take(slice(end - length, end)), reviewer=reviewer)
        for end, length, reviewer in zip(ends, state["lengths"], state["reviewers"], strict=True)
    )
