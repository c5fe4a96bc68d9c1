"""PlayedByAnother: a metric learner that leaves all questions to one of the learners it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats
from evenhand.metrics.gaussian.error_rates import ReviewerReport
from evenhand.metrics.gaussian.interactions import InteractionEvidence
from evenhand.metrics.guess_bounds import GuessBounds
from evenhand.metrics.learner import MetricLearner
from evenhand.metrics.verdicts import Pairs


class PlayedByAnother(MetricLearner):
    """Answers every question as `playing` does; a subclass decides who that is, and who learns."""

    playing: MetricLearner
    """The learner in play."""

    def _passed(self, pairs: Pairs) -> Pairs:
        """The pairs as the learner in play gets them."""
        return pairs

    @property
    def epsilon(self) -> float | None:
        """The accuracy of the learner in play, if it has one."""
        return getattr(self.playing, "epsilon", None)

    def estimate(self, pairs: Pairs) -> Floats:
        """Each pair's squared distance by the learner in play, (n,)."""
        return self.playing.estimate(self._passed(pairs))

    def guess(self, pairs: Pairs) -> Floats:
        """Each pair's squared distance to play, by the learner in play, (n,)."""
        return self.playing.guess(self._passed(pairs))

    def playable_distances(self, contexts: Floats) -> Floats:
        """The distances to play between the rows of `contexts`, by the learner in play, (k, k)."""
        return self.playing.playable_distances(contexts)

    def playable_bounds(self, contexts: Floats) -> GuessBounds | None:
        """Bounds on the distances to play, by the learner in play."""
        return self.playing.playable_bounds(contexts)

    def ends(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """Each pair's ends by the learner in play, each (n,)."""
        return self.playing.ends(self._passed(pairs))

    def ends_of(self, differences: ArrayLike) -> tuple[Floats, Floats]:
        """The ends of the distance for each difference, by the learner in play: (n, d) -> (n,), (n,)."""
        return self.playing.ends_of(differences)

    def chance_unfair(self, pairs: Pairs, gaps: Floats) -> Floats:
        """The probability that each pair is unfair at this gap, by the learner in play, (n,)."""
        return self.playing.chance_unfair(self._passed(pairs), gaps)

    def chance_flagged(self, pairs: Pairs, gaps: Floats, reviewer: str | None = None) -> Floats:
        """The probability that this reviewer flags each pair at this gap, by the learner in play, (n,)."""
        return self.playing.chance_flagged(self._passed(pairs), gaps, reviewer)

    def matrix(self) -> Floats:
        """The estimate of G by the learner in play, (d, d)."""
        return self.playing.matrix()

    def moments(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """Each pair's mean and standard deviation by the learner in play, each (n,)."""
        return self.playing.moments(self._passed(pairs))

    def covariances(self, pairs: Pairs) -> Floats | None:
        """The covariances of squared distances by the learner in play, (n, n)."""
        return self.playing.covariances(self._passed(pairs))

    def sample_matrix(self, rng: np.random.Generator) -> Floats:
        """A draw of the learner in play, (d, d)."""
        return self.playing.sample_matrix(rng)

    @property
    def plays_metric(self) -> bool:
        """Whether the learner in play plays distances of a metric."""
        return self.playing.plays_metric

    def reviewers(self) -> dict[str | None, ReviewerReport]:
        """The reports of the learner in play."""
        return self.playing.reviewers()

    def misleading(self) -> frozenset[str | None]:
        """Those who mislead by the learner in play."""
        return self.playing.misleading()

    def interactions(self, blocks: Sequence[Any] | None = None) -> list[InteractionEvidence]:
        """Those that the learner in play finds."""
        return self.playing.interactions(blocks)

    def evidence_of_few_interactions(self) -> float:
        """That of the learner in play."""
        return self.playing.evidence_of_few_interactions()

    def error_rate_of(self, reviewer: str | None) -> float:
        """The error rate that the learner in play takes this reviewer to have."""
        return self.playing.error_rate_of(reviewer)

    @property
    def promise_is_doubtful(self) -> bool:
        """That of the learner in play."""
        return self.playing.promise_is_doubtful

    @property
    def flags_left(self) -> int | None:
        """A proved number of rounds that can still be flagged at most while the learner in play stays in play."""
        return self.playing.flags_left

    @property
    def promise(self) -> str | None:
        """What the learner in play promises, in a sentence."""
        return self.playing.promise
