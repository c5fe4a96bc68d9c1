"""WithoutIntercept: a learner for contexts whose last feature is the same for everybody."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats
from evenhand.errors import InvalidInput
from evenhand.metrics.gaussian.interactions import InteractionEvidence
from evenhand.metrics.guess_bounds import GuessBounds
from evenhand.metrics.learner import Learned, MetricLearner, RememberedAnswers
from evenhand.metrics.played_by_another import PlayedByAnother
from evenhand.metrics.ratings import Comparisons, Ratings
from evenhand.metrics.verdicts import Pairs, Verdicts


class WithoutIntercept(PlayedByAnother):
    """Passes contexts on to `learner` without their last feature, the intercept that a `Schema` adds for rewards.

    Nobody differs in the intercept, so no answer says anything about it; yet with it the metric has d more unknowns,
    which make promises weaker (m counts in them), priors narrower and updates slower. Should two differ in it all the
    same, that counts for nothing. The learner is copied.

    >>> from evenhand.metrics import VersionSpace
    >>> schema = ["income", "debt", "intercept"]
    >>> with_it, without = VersionSpace(3, epsilon=0.01), WithoutIntercept(VersionSpace(2, epsilon=0.01))
    >>> with_it.n_features == without.n_features == len(schema)
    True
    >>> with_it.flags_left, without.flags_left
    (25, 13)
    """

    def __init__(self, learner: MetricLearner) -> None:
        if not isinstance(learner, MetricLearner):
            raise InvalidInput(f"learner must be a metric learner, got {learner!r}")
        super().__init__(learner.n_features + 1, learner.space.structure)
        self.playing = copy.deepcopy(learner)
        self.has_taken_over = learner.has_taken_over
        self._last: tuple[Pairs, Pairs] | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self)] = twin = copy.copy(self)
        twin.playing = copy.deepcopy(self.playing, memo)
        return twin

    def _passed(self, pairs: Pairs) -> Pairs:
        """The pairs without the intercept; the same object for the same pairs, as learners remember what they know of
        the last ones."""
        if self._last is None or self._last[0] is not pairs:
            self._last = (pairs, _pairs(pairs))
        return self._last[1]

    def __repr__(self) -> str:
        return f"WithoutIntercept({self.playing!r})"

    @property
    def learner(self) -> MetricLearner:
        """The learner of the other features."""
        return self.playing

    @property
    def error_rate(self) -> float | None:  # type: ignore[override]
        """The learner's."""
        return self.playing.error_rate

    # Queries.

    def ends_of(self, differences: ArrayLike) -> tuple[Floats, Floats]:
        """The ends of the distance for each difference: (n, d) -> (n,), (n,)."""
        return self.playing.ends_of(_varying(self._as_differences(differences)))

    def playable_distances(self, contexts: Floats) -> Floats:
        """The distances to play between the rows of `contexts`, (k, k)."""
        return self.playing.playable_distances(_varying(contexts))

    def playable_bounds(self, contexts: Floats) -> GuessBounds | None:
        """Bounds on the distances to play."""
        return self.playing.playable_bounds(_varying(contexts))

    def matrix(self) -> Floats:
        """The estimate of G, (d, d), with zeros for the intercept."""
        return np.pad(self.playing.matrix(), (0, 1))

    def sample_matrix(self, rng: np.random.Generator) -> Floats:
        """A draw of the learner, (d, d), with zeros for the intercept."""
        return np.pad(self.playing.sample_matrix(rng), (0, 1))

    def interactions(self, blocks: Sequence[Any] | None = None) -> list[InteractionEvidence]:
        """Those that the learner finds; the last label is that of the intercept."""
        return self.playing.interactions(None if blocks is None else blocks[:-1])

    # Learning.

    def learn(self, verdicts: Verdicts) -> Learned:
        """Learn from the verdicts of one round."""
        return self.playing.learn(_verdicts(verdicts))

    def learn_bit(self, verdicts: Verdicts, *, any_unfair: bool) -> Learned:
        """Learn that at least one of these pairs was unfair, or that none was."""
        return self.playing.learn_bit(_verdicts(verdicts), any_unfair=any_unfair)

    def learn_ratings(self, ratings: Ratings) -> Learned:
        """Learn from ratings of candidates."""
        implied = None if ratings.implied is None else _verdicts(ratings.implied)
        return self.playing.learn_ratings(replace(ratings, contexts=_varying(ratings.contexts), implied=implied))

    def learn_comparisons(self, comparisons: Comparisons) -> Learned:
        """Learn from comparisons of pairs."""
        implied = None if comparisons.implied is None else _verdicts(comparisons.implied)
        return self.playing.learn_comparisons(replace(comparisons, pairs=_pairs(comparisons.pairs), implied=implied))

    @property
    def best_predictor(self) -> MetricLearner | None:
        """That of the learner, without the intercept as well."""
        other = self.playing.best_predictor
        return None if other is None else type(self)(other)

    def reconsidered(self, answers: RememberedAnswers) -> MetricLearner:
        """What the learner goes on with, without the intercept as well."""
        other = self.playing.reconsidered(_WithoutIntercept(answers, answers.seen, answers.speaks_up))
        return self if other is self.playing else type(self)(other)

    def without_last_resort(self) -> MetricLearner:
        """That of the learner, without the intercept as well."""
        return type(self)(self.playing.without_last_resort())

    # Saving.

    def state(self) -> dict[str, Any]:
        """The learner."""
        return {"learner": self.playing.saved()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The learner with this `state`, to the bit."""
        return cls(MetricLearner.restored(state["learner"]))


@dataclass(frozen=True)
class _WithoutIntercept:
    """Remembered answers without the intercept."""

    answers: RememberedAnswers
    seen: int
    speaks_up: bool

    def predicted(self, since: int, until: int) -> Iterable[tuple[Verdicts, Floats]]:
        return ((_verdicts(verdicts), chances) for verdicts, chances in self.answers.predicted(since, until))


def _varying(table: Floats) -> Floats:
    """All columns but the last."""
    return np.ascontiguousarray(table[:, :-1])


def _pairs(pairs: Pairs) -> Pairs:
    return Pairs(pairs.indices, _varying(pairs.differences))


def _verdicts(verdicts: Verdicts) -> Verdicts:
    return replace(verdicts, pairs=_pairs(verdicts.pairs))
