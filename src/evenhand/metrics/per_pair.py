"""PerPair: one learner for each pair of candidates' indices, as the paper has it."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_one_of
from evenhand.errors import InvalidInput
from evenhand.metrics.learner import Learned, MetricLearner
from evenhand.metrics.verdicts import Pairs, Verdicts
from evenhand.records.decision import Pair

Cuts = Literal["guess", "gap"]


class PerPair(MetricLearner):
    """A copy of `prototype` for every pair (i, j) of indices, each learning only from verdicts on its own pair.

    As in the paper, only copies whose pair was flagged ("your guess was too large") or was tight and not flagged ("it
    was not") learn; all others are rolled back, that is: left as they were. With `cuts="guess"` a flagged copy learns
    just that, a cut through its guess; with `cuts="gap"` it learns the gap, a deeper cut that is valid too. A late
    review cuts through the guess at its arrival, which is still valid: what is below the gap is below any wider one.

    Guarantee: that of the prototype for each pair, so k(k-1)/2 times its number of mistakes in all.

    >>> from evenhand.metrics.ellipsoid import Ellipsoid
    >>> learner = PerPair(Ellipsoid(3, epsilon=0.1))
    >>> learner.distances(np.eye(3)).estimate.shape
    (3, 3)
    """

    def __init__(self, prototype: MetricLearner, *, cuts: Cuts = "guess") -> None:
        if not isinstance(prototype, MetricLearner) or isinstance(prototype, PerPair):
            raise InvalidInput(f"prototype must be a metric learner other than PerPair, got {prototype!r}")
        check_one_of("cuts", cuts, get_args(Cuts))
        super().__init__(prototype.n_features, prototype.space.structure)
        self.cuts: Cuts = cuts
        self._prototype = copy.deepcopy(prototype)
        self._copies: dict[Pair, MetricLearner] = {}

    def copy_of(self, pair: Pair) -> MetricLearner:
        """The learner of one pair; the prototype itself until there was a verdict on the pair."""
        return self._copies.get(pair, self._prototype)

    # Distances: each copy its own pair.

    def estimate(self, pairs: Pairs) -> Floats:
        """Each pair's squared distance by its own copy, (n,)."""
        return self._each(pairs, lambda learner, pair: learner.estimate(pair)[0])

    def guess(self, pairs: Pairs) -> Floats:
        """Each pair's squared distance to play, by its own copy, (n,)."""
        return self._each(pairs, lambda learner, pair: learner.guess(pair)[0])

    def ends(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """Each pair's ends by its own copy, each (n,)."""
        ends = [self.copy_of(name).ends(pairs.take(slice(row, row + 1))) for row, name in enumerate(pairs.names())]
        lower, upper = np.array([[low[0], high[0]] for low, high in ends]).reshape(-1, 2).T
        return lower, upper

    def _each(self, pairs: Pairs, query: Any) -> Floats:
        return np.array(
            [query(self.copy_of(name), pairs.take(slice(row, row + 1))) for row, name in enumerate(pairs.names())],
            dtype=np.float64,
        )

    def ends_of(self, differences: ArrayLike) -> tuple[Floats, Floats]:
        """The intersection of all copies' intervals for each difference, whichever pair shows it, (n,), (n,)."""
        learners = list(self._copies.values()) or [self._prototype]
        lower, upper = zip(*(learner.ends_of(differences) for learner in learners), strict=True)
        return np.max(lower, axis=0), np.min(upper, axis=0)

    def matrix(self) -> Floats:
        """The mean of the copies' matrices, (d, d)."""
        learners = list(self._copies.values()) or [self._prototype]
        return np.asarray(np.mean([learner.matrix() for learner in learners], axis=0))

    def error_rate_of(self, reviewer: str | None) -> float:
        """The error rate that the prototype takes this reviewer to have."""
        return self._prototype.error_rate_of(reviewer)

    # Learning.

    def learn(self, verdicts: Verdicts) -> Learned:
        """Let the copies of flagged and of tight pairs learn; the others are left as they were."""
        relevant = verdicts.take(verdicts.unfair | verdicts.tight)
        updated: dict[Pair, MetricLearner] = {}
        conflicts: tuple[Pair, ...] = ()
        for row, name in enumerate(relevant.pairs.names()):
            learner = copy.deepcopy(self.copy_of(name))
            conflicts += learner.learn(self._feedback(learner, relevant.take(slice(row, row + 1)))).conflicts
            updated[name] = learner
        self._copies = {**self._copies, **updated}
        return Learned(len(relevant) - len(conflicts), conflicts)

    def _feedback(self, learner: MetricLearner, verdict: Verdicts) -> Verdicts:
        """The verdict that a copy learns from: a flag says no more than that the guess was too large."""
        if self.cuts == "gap" or not verdict.unfair[0]:
            return verdict
        return replace(verdict, gaps=np.sqrt(np.maximum(verdict.gaps**2, learner.guess(verdict.pairs))))

    # Saving.

    def state(self) -> dict[str, Any]:
        """The prototype and all copies."""
        copies = {f"{i}-{j}": learner.saved() for (i, j), learner in self._copies.items()}
        return {"cuts": self.cuts, "prototype": self._prototype.saved(), "copies": copies}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The learner with this `state`, to the bit."""
        learner = cls(MetricLearner.restored(state["prototype"]), cuts=state["cuts"])
        for name, saved in state["copies"].items():
            i, j = name.split("-")
            learner._copies[int(i), int(j)] = MetricLearner.restored(saved)
        return learner
