"""Guarded: a fast learner until it was flagged too often, a sure one from then on."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.checks import is_whole
from evenhand.errors import InvalidInput, UnsupportedReview
from evenhand.metrics.features import Floats
from evenhand.metrics.gaussian.guess_bounds import GuessBounds
from evenhand.metrics.half_spaces import MOST_SQUARED
from evenhand.metrics.learner import Learned, MetricLearner
from evenhand.metrics.projected_volume import ProjectedVolume
from evenhand.metrics.reviewer_errors import ReviewerReport
from evenhand.metrics.verdicts import Pairs, Verdicts
from evenhand.metrics.version_space.cylinder import default_thinness
from evenhand.metrics.version_space.knowledge_set import KnowledgeSet
from evenhand.records.decision import PROBABILITY_TOLERANCE
from evenhand.theory.mistakes import distance_estimator_mistakes

EPSILON = 0.01
"""The accuracy of the sure learner where the fast one has no fixed one: without one there is no bound to wait for."""

CENTRE_ERROR = 0.2
"""Sampled centroids are taken to be off by no more than this, in standard deviations along the cut: the most measured
in `sampled_set`. It makes the bound 2.5 times that of exact ones."""

SAMPLED_HALVING = 1.2
"""With one unknown, a middle that is off by so much leaves at most 0.56 of an interval: this many cuts for a half."""

REMEMBERED_PER_UNKNOWN = 16
"""Verdicts of flagged reviews kept for each unknown, the newest, to tell the sure learner when its turn comes.

They spare it some of its flags: at 5 and 10 features it had 43 and 137 when told nothing, 37 and 116 when told 16, 34
and 107 when told 64, 30 and 100 when it had heard everything all along. That costs it 0.6 and 4 ms a review, where
BayesPoint takes 0.3 and 0.4; the 16 cost 0.07 and 1.0 seconds, once. (Means of six and three runs, k = 5.)
"""


class Guarded(MetricLearner):
    """Plays `fast`; once more than `limit` reviews had a flag, plays `sure`, for good.

    fast: any learner, BayesPoint above all. sure: unless told, ProjectedVolume with the structure, the bound and the
    epsilon of `fast`, or 0.01 if that has no fixed one. limit: how many flagged reviews `fast` is forgiven; unless
    told, as many as `sure` itself can have, `most_flagged(sure)`. Both learners are copied.

    A review counts once, however many pairs with different odds it flags, and so does one bit that says that some
    pair was unfair. `flags` is the count, before the switch and after; the review that takes it past the limit makes
    the switch.

    Guarantee, whatever `fast` does and whatever the contexts: at most limit + 1 + N decisions are ever flagged, N being
    the most that `sure` can have, from whatever it was told before; so 2 limit + 1 with the default. Proof: a flagged
    decision has a flagged review; up to the switch, and with the one that made it, there were limit + 1 of those; all
    later odds are those of `sure`. For N, and what it asks of the reviewer, see `most_flagged`. Two things follow. A
    reviewer who errs now and then for ever passes any limit, and then meets a learner that believes every word: for
    such a one take BayesPoint alone. And one-bit reviews come to an end with the switch, unless `sure` can learn from
    them: it raises UnsupportedReview, and only the bit that makes the switch is passed over in silence.

    What was said in flagged reviews is remembered, within limits, and told to `sure` at the switch; that takes a
    second at ten features. The guarantee does not need it. All else costs what the learner in play costs.

    >>> from evenhand.metrics.bayes_point import BayesPoint
    >>> learner = Guarded(BayesPoint(2, epsilon=0.01))
    >>> learner.limit, learner.flags, learner.switched
    (538, 0, False)
    """

    limit: int
    """How many flagged reviews do not make the switch."""
    flags: int
    """How many reviews had a flag."""
    playing: MetricLearner
    """The fast learner, and from the switch on the sure one."""
    _reserve: MetricLearner | None
    _memory: tuple[Verdicts, ...]

    def __init__(self, fast: MetricLearner, sure: MetricLearner | None = None, *, limit: int | None = None) -> None:
        _check_learner("fast", fast)
        sure = _fallback(fast) if sure is None else sure
        _check_learner("sure", sure)
        if sure.n_features != fast.n_features:
            raise InvalidInput(f"fast was made for {fast.n_features} features, sure for {sure.n_features}")
        limit = most_flagged(sure) if limit is None else limit
        if not is_whole(limit) or limit < 0:
            raise InvalidInput(f"limit is {limit!r}; allowed is a whole number >= 0, or None for the bound of sure")
        super().__init__(fast.n_features, fast.space.structure)
        self.limit, self.flags = int(limit), 0
        self.playing, self._reserve, self._memory = copy.deepcopy(fast), copy.deepcopy(sure), ()

    @property
    def switched(self) -> bool:
        """Whether the sure learner plays."""
        return self._reserve is None

    # Asking: whoever plays.

    def estimate(self, pairs: Pairs) -> Floats:
        """Each pair's squared distance by the learner in play, (n,)."""
        return self.playing.estimate(pairs)

    def guess(self, pairs: Pairs) -> Floats:
        """Each pair's squared distance to play, by the learner in play, (n,)."""
        return self.playing.guess(pairs)

    def playable_bounds(self, contexts: Floats) -> GuessBounds | None:
        """Bounds on the distances to play, by the learner in play."""
        return self.playing.playable_bounds(contexts)

    def ends(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """Each pair's ends by the learner in play, and as certain as it is, each (n,)."""
        return self.playing.ends(pairs)

    def ends_of(self, differences: ArrayLike) -> tuple[Floats, Floats]:
        """The ends of the distance that each difference makes, by the learner in play: (n, d) -> (n,), (n,)."""
        return self.playing.ends_of(differences)

    def chance_unfair(self, pairs: Pairs, gaps: Floats) -> Floats:
        """How likely each pair is unfair at this gap, by the learner in play, (n,)."""
        return self.playing.chance_unfair(pairs, gaps)

    def matrix(self) -> Floats:
        """The estimate of G by the learner in play, (d, d)."""
        return self.playing.matrix()

    def moments(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """Each pair's mean and standard deviation by the learner in play, each (n,)."""
        return self.playing.moments(pairs)

    def sample_matrix(self, rng: np.random.Generator) -> Floats:
        """A draw of the learner in play, (d, d)."""
        return self.playing.sample_matrix(rng)

    def reviewers(self) -> dict[str | None, ReviewerReport]:
        """What the learner in play knows of each reviewer."""
        return self.playing.reviewers()

    # Telling.

    def learn(self, verdicts: Verdicts) -> Learned:
        """Tell the learner in play, or, if this is a flag too many, the sure one, after all that is remembered."""
        flagged = bool(np.any(verdicts.gaps[verdicts.unfair] > PROBABILITY_TOLERANCE))
        hearer = self._hearer(flagged)
        memory = self._remembered(verdicts) if flagged else self._memory
        learned = hearer.learn(verdicts)
        self._settle(hearer, flagged, memory)
        return learned

    def learn_bit(self, verdicts: Verdicts, *, any_unfair: bool) -> Learned:
        """The same for one bit; a sure learner that cannot hear the bit that makes the switch takes over without it."""
        flagged = any_unfair and bool(np.any(verdicts.gaps > PROBABILITY_TOLERANCE))
        hearer = self._hearer(flagged)
        try:
            learned = hearer.learn_bit(verdicts, any_unfair=any_unfair)
        except UnsupportedReview:
            if hearer is self.playing:
                raise
            learned = Learned()
        self._settle(hearer, flagged, self._memory)
        return learned

    def _hearer(self, flagged: bool) -> MetricLearner:
        """Who hears this review: the learner in play, or a copy of the sure one that was told what is remembered."""
        if self._reserve is None or self.flags + flagged <= self.limit:
            return self.playing
        sure = copy.deepcopy(self._reserve)
        for review in self._memory:
            sure.learn(review)
        return sure

    def _settle(self, hearer: MetricLearner, flagged: bool, memory: tuple[Verdicts, ...]) -> None:
        """Let the one who heard play on; nothing here can fail."""
        if hearer is not self.playing:
            self.playing, self.space, self._reserve = hearer, hearer.space, None
        self._memory = () if self.switched else memory
        self.flags += flagged

    def _remembered(self, verdicts: Verdicts) -> tuple[Verdicts, ...]:
        """The newest flagged reviews, and of each what was flagged or tight; of one too long first what was flagged."""
        most = REMEMBERED_PER_UNKNOWN * self.space.n_unknowns
        told = verdicts.take(verdicts.unfair | verdicts.tight)
        told = told.take(np.sort(np.argsort(~told.unfair, kind="stable")[:most]))
        memory = (*self._memory, told)
        while sum(len(review) for review in memory) > most:
            memory = memory[1:]
        return memory

    # Saving.

    def state(self) -> dict[str, Any]:
        """The count, both learners, and what is remembered; after the switch the sure learner alone."""
        return {
            "limit": self.limit,
            "flags": self.flags,
            "playing": self.playing.saved(),
            "reserve": None if self._reserve is None else self._reserve.saved(),
            "memory": _as_arrays(self._memory, self.n_features),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The learner that was saved, to the bit."""
        learner = cls.__new__(cls)
        learner.limit, learner.flags = int(state["limit"]), int(state["flags"])
        learner.playing = MetricLearner.restored(state["playing"])
        learner.space = learner.playing.space
        learner._reserve = None if state["reserve"] is None else MetricLearner.restored(state["reserve"])
        learner._memory = _from_arrays(state["memory"])
        return learner


def most_flagged(sure: MetricLearner) -> int:
    """N: how many decisions ProjectedVolume, from whatever it was told before, can have flagged at most.

    A flag of any size counts, also one within epsilon, which is no mistake in the sense of
    `theory.distance_estimator_mistakes`. But all that proof asks of a round is that K is cut through the centre or
    deeper, along a u in which K is wide; the mistake serves only to show that K is wide. Here:

    - The cut. No gap is wider than the distance played, the root of the guess, so the half-space of a flag,
      <alpha, u> < gap^2, begins at the guess or below it. All other verdicts only take more of K away.
    - The width. K reaches at most R sd from its centroid. A pair with 2 R sd <= epsilon^2 along u is known; it is
      played below all of K and cannot be flagged. Any other has sd > epsilon^2 / (2 R), and a body is at least 2 sd
      wide: K is wider than epsilon^2 / R.
    - Thin directions are looked for along the axes of the cloud, the narrowest first. If that is wider than delta, its
      sd is above delta / (2 R), as is that of every direction: each of them is wider than delta / R.

    So N is the theorem's number at accuracy epsilon^2 / R with all widths >= delta / R; with one unknown, the number of
    cuts until an interval is no longer than epsilon^2 / R.

    Conditions. The reviewer is consistent: under one metric G, what she flags is closer than its gap, and what she saw
    and did not flag is not; she may see some pairs only. ||G||_F <= bound; if K's centroid comes so near to the
    bound that it is doubled all the same, the count starts anew, with the new bound. Each decision is reviewed before
    the next one; flags on decisions that were outstanding at the switch, or later, come on top. And, as K is known by
    a cloud of points: its centroid is off by at most 0.2 sd along the cut, the tolerance of the odds included; no sd is
    off by more than a factor of 1.5; no face is dropped that still touches K, though only max(150, 4 m) are kept. The
    last three are what was measured, not proved: a walk that proves them would be longer by orders of magnitude.

    Ellipsoid has no such number. Its bound is not proved for deep cuts, and near zero it leaves pairs that it neither
    knows well enough to play them low nor cuts.

    >>> most_flagged(ProjectedVolume(5, epsilon=0.01, seed=0))
    3342
    """
    if not isinstance(sure, ProjectedVolume) or sure.epsilon is None or not sure.play_known_low:
        raise InvalidInput(
            f"sure is {sure!r}; how often it is flagged at most is proved only of ProjectedVolume with a fixed epsilon "
            "and play_known_low: take that, or say limit"
        )
    m, squared = sure.space.n_unknowns, sure.epsilon**2
    reach = KnowledgeSet.initial(sure.space, sure.bound).reach
    if m == 1:
        halvings = distance_estimator_mistakes(1, squared / (2 * reach), sure.bound, MOST_SQUARED)
        return math.floor(SAMPLED_HALVING * halvings)
    thin = sure.state()["thinness"] or default_thinness(squared, sure.bound, MOST_SQUARED, m)
    most = squared / (reach * MOST_SQUARED * 8 * m * (m + 1) ** 2)  # what `removed_fraction` allows
    if thin > most:
        raise InvalidInput(f"sure has thinness {thin:.3g}; beyond {most:.3g} nothing is proved of it: say limit")
    mistakes = distance_estimator_mistakes(
        m, squared / reach, sure.bound, MOST_SQUARED, centre_error=CENTRE_ERROR, thin=thin / (sure.bound * reach)
    )
    return math.floor(mistakes)


def _fallback(fast: MetricLearner) -> ProjectedVolume:
    """The sure learner for the settings of a fast one. Any seed will do, but bandits made alike must be alike."""
    epsilon = getattr(fast, "epsilon", None)
    return ProjectedVolume(
        fast.n_features,
        structure=fast.space.structure,
        bound=getattr(fast, "bound", 1.0),
        epsilon=EPSILON if epsilon is None else epsilon,
        seed=0,
    )


def _check_learner(name: str, learner: object) -> None:
    if not isinstance(learner, MetricLearner) or isinstance(learner, Guarded):
        raise InvalidInput(f"{name} is {learner!r}; allowed is a metric learner, but no Guarded")


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
    """The reviews whose `_as_arrays` this was."""
    pairs = Pairs(state["indices"].copy(), state["differences"].copy())
    verdicts = Verdicts(pairs, *(state[name].copy() for name in ("gaps", "unfair", "tight")))
    ends = np.cumsum(state["lengths"])
    return tuple(
        replace(verdicts.take(slice(end - length, end)), reviewer=reviewer)
        for end, length, reviewer in zip(ends, state["lengths"], state["reviewers"], strict=True)
    )
