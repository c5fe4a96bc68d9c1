"""ByEvidence: several learners learn from every answer; whoever foretells the answers best is played."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_number, check_whole
from evenhand.errors import InvalidInput, UnsupportedReview
from evenhand.metrics.bayes_point import BayesPoint
from evenhand.metrics.features import Structure
from evenhand.metrics.gaussian.error_rates import ReviewerReport
from evenhand.metrics.learner import Learned, MetricLearner
from evenhand.metrics.played_by_another import PlayedByAnother
from evenhand.metrics.ratings import Comparisons, Ratings
from evenhand.metrics.score import Score
from evenhand.metrics.verdicts import Verdicts

LEAST_CHANCE = 1e-4  # No answer counts as less likely: one slip must not outweigh a hundred good predictions.


class ByEvidence(PlayedByAnother):
    """Plays the learner with the most evidence: the log-probability it gave to the answers before it learned them.

    learners: copied; the first one plays at the start. margin: how much more evidence another one needs to take over,
    in natural logs. horizon: the number of answers over which evidence is forgotten by a factor e.

    So the choice needs no test set and no tuning: a learner that is wrong about the reviewer pays for it answer by
    answer. One-bit reviews are learned by those who can, and count for nothing.

    >>> learner = ByEvidence([BayesPoint(2, structure="diagonal"), BayesPoint(2)])
    >>> _ = learner.learn_pair([1.0, 0.0], [0.0, 0.0], gap=0.5, unfair=True)
    >>> learner.playing.space.structure, bool(np.all(learner.evidence < 0.0))
    ('diagonal', True)
    """

    evidence: Floats
    """Of each learner, (n,)."""

    def __init__(self, learners: Sequence[MetricLearner], *, margin: float = 7.0, horizon: int = 1000) -> None:
        for learner in learners:
            if not isinstance(learner, MetricLearner):
                raise InvalidInput(f"learners must be metric learners, got {learner!r}")
        sizes = {learner.n_features for learner in learners}
        if len(sizes) != 1:
            raise InvalidInput(f"learners must be at least one, all with the same features, got {sorted(sizes)}")
        self.margin = check_number("margin", margin, least=0)
        self.horizon = check_whole("horizon", horizon, least=1)
        super().__init__(learners[0].n_features, learners[0].space.structure)
        self._set(tuple(copy.deepcopy(learner) for learner in learners), np.zeros(len(learners)), 0)

    def __repr__(self) -> str:
        return f"ByEvidence({list(self.learners)!r})"

    def _set(self, learners: tuple[MetricLearner, ...], evidence: Floats, number: int) -> None:
        self.learners, self.evidence, self._number = learners, evidence, number
        self.playing = learners[number]
        self.space, self.error_rate = self.playing.space, self.playing.error_rate

    @classmethod
    def usual(
        cls, n_features: int, *, structure: Structure = "full", epsilon: float | None = None, quantile: float = 0.1
    ) -> Self:
        """Three learners: of an exact reviewer, of one who errs or wobbles, and of one who follows no metric.

        quantile: what the last two play. It is the share of binding reviewed pairs that people flag.
        """
        settings: dict[str, Any] = {"structure": structure, "epsilon": epsilon}
        erring = BayesPoint(n_features, error_rate=None, softness=None, caution=quantile, **settings)
        return cls([BayesPoint(n_features, **settings), erring, Score(n_features, quantile=quantile)])

    def reviewers(self) -> dict[str | None, ReviewerReport]:
        """The reports of the learner in play, or, if it learns nothing of reviewers, of the first one that does."""
        reports = (learner.reviewers() for learner in (self.playing, *self.learners))
        return next((report for report in reports if report), {})

    # Learning: all of it, or nothing.

    def learn(self, verdicts: Verdicts) -> Learned:
        """All learn from the verdicts; the result is that of the learner in play."""
        return self._learn(verdicts, lambda learner: learner.learn(verdicts))

    def learn_ratings(self, ratings: Ratings) -> Learned:
        """All learn from the ratings, each in its own way; evidence is what they foretold of the implied verdicts."""
        return self._learn(ratings.implied, lambda learner: learner.learn_ratings(ratings))

    def learn_comparisons(self, comparisons: Comparisons) -> Learned:
        """All learn from the comparisons, each in its own way, as from ratings."""
        return self._learn(comparisons.implied, lambda learner: learner.learn_comparisons(comparisons))

    def _learn(self, foretold: Verdicts | None, learn: Callable[[MetricLearner], Learned]) -> Learned:
        learners, evidence = copy.deepcopy(self.learners), self.evidence
        if foretold is not None:
            logs = np.array([_log_chance(learner, foretold) for learner in learners])
            evidence = evidence * math.exp(-len(foretold) / self.horizon) + logs
        learned = [learn(learner) for learner in learners]
        best, now = int(np.argmax(evidence)), self._number
        self._set(learners, evidence, best if evidence[best] > evidence[now] + self.margin else now)
        return learned[now]

    def learn_bit(self, verdicts: Verdicts, *, any_unfair: bool) -> Learned:
        """Those who can learn from one bit do; if the one in play cannot, nobody does."""
        learners, result = copy.deepcopy(self.learners), Learned()
        for number, learner in enumerate(learners):
            try:
                learned = learner.learn_bit(verdicts, any_unfair=any_unfair)
            except UnsupportedReview:
                if number == self._number:
                    raise
                continue
            result = learned if number == self._number else result
        self._set(learners, self.evidence, self._number)
        return result

    # Saving.

    def state(self) -> dict[str, Any]:
        """All learners, the evidence, and who plays."""
        return {
            "learners": [learner.saved() for learner in self.learners],
            "evidence": self.evidence,
            "playing": self._number,
            "margin": self.margin,
            "horizon": self.horizon,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The learner with this `state`, to the bit."""
        learner = cls.__new__(cls)
        learner.margin, learner.horizon = float(state["margin"]), int(state["horizon"])
        learners = tuple(MetricLearner.restored(saved) for saved in state["learners"])
        learner._set(learners, state["evidence"].copy(), int(state["playing"]))
        return learner

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Learning replaces the learners and never changes one, so a copy may share them."""
        memo[id(self)] = twin = self.__class__.__new__(self.__class__)
        twin.__dict__.update(self.__dict__)
        return twin


def _log_chance(learner: MetricLearner, verdicts: Verdicts) -> float:
    """The log-probability that a learner gave to these verdicts, taken one by one."""
    flagged = learner.chance_flagged(verdicts.pairs, verdicts.gaps, verdicts.reviewer)
    chances = np.where(verdicts.unfair, flagged, 1.0 - flagged)
    return float(np.sum(np.log(np.maximum(chances, LEAST_CHANCE))))
