"""Safeguards between the learned distances and the probabilities: the margin, the cap, and the evidence for proofs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np

from evenhand._internal.append_only import GrowingSet, shallow_copy
from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.checks import check_number_or_none, check_whole_or_none
from evenhand.allocation import BoundedDistances
from evenhand.certificates import ANSWER, VerdictLog, lower_bounds
from evenhand.metrics import MetricLearner, Pairs, Verdicts
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.learner import as_square
from evenhand.records.decision import Decision, Review

STEP = 0.05
"""gamma: by how much one flagged round shortens all distances. A larger step recovers faster and varies more."""


@dataclass(frozen=True)
class Margin:
    """Keeps the share of flagged rounds at or below `target`, for any reviewer.

    Distances are multiplied by `scale` = max(0, s). Every decision adds step * target to s, up to 1; every flagged
    round subtracts step. s is not clipped from below, which would forgive debts.

    Promise: after T rounds, with at most D decisions still under review at any time,

        flagged rounds <= target * T + 1/step + 1 + D,    for any reviewer, even one who follows no metric.

    Proof. With s <= 0 all distances are 0, so all probabilities are equal, and a flag on equal probabilities does not
    count. So a flagged round was decided with s > 0. The first flag that takes s to 0 or below takes it to more than
    -step; after it only decisions already under review, at most D, can be flagged before s is above 0 again: s > -step
    (1 + D), always. Every flagged round subtracts step, every decision adds at most step * target, and s starts at 1:
    -step (1 + D) < s <= 1 + step * target * T - step * flagged. Divide by step.

    The same proof holds with D counted afterwards: D is at most the number of flags that came while s <= 0.

    >>> margin = Margin(0.01)
    >>> for _ in range(20):
    ...     margin = margin.flagged()
    >>> margin.scale, round(margin.decided(1000).scale, 3)
    (0.0, 0.5)
    """

    target: float | None
    step: float = STEP
    s: float = 1.0

    def __post_init__(self) -> None:
        target = check_number_or_none("target_unfair_share", self.target, above=0, below=1)
        object.__setattr__(self, "target", target)

    @property
    def scale(self) -> float:
        """The factor on all distances, from 0 to 1."""
        return max(0.0, self.s)

    @property
    def is_working(self) -> bool:
        """Whether there is a target, and probabilities that can still be drawn closer together."""
        return self.target is not None and self.s > 0.0

    def decided(self, rounds: int = 1) -> Margin:
        """The margin after this many more decisions."""
        if self.target is None or self.s == 1.0:
            return self
        return replace(self, s=min(1.0, self.s + rounds * self.step * self.target))

    def flagged(self) -> Margin:
        """The margin after one more flagged round."""
        return self if self.target is None else replace(self, s=self.s - self.step)


class Safeguards:
    """Counts rounds with a flag, once each, and limits the distances to be played accordingly.

    margin: shortens all distances after each flagged round (`Margin`). max_unfair_rounds: after this many flagged
    rounds only distances that the evidence proves are played. A reviewer who follows a metric then never flags again:
    no gap exceeds a lower bound on the distance that follows from her own verdicts. A flag on such a round proves that
    no metric fits her verdicts; from then on all distances played are 0.
    """

    def __init__(self, space: MetricSpace, margin: Margin, max_unfair_rounds: int | None = None) -> None:
        self.max_unfair_rounds = check_whole_or_none("max_unfair_rounds", max_unfair_rounds, least=0)
        self.margin = margin
        self.flagged_rounds = GrowingSet()
        self.log = VerdictLog(space)
        """The verdicts of all reviews, as far as they are kept: what proofs are made from."""
        self._rounds = 0
        self._capped_at: int | None = 0 if self.max_unfair_rounds == 0 else None
        self._refuted = False

    @property
    def is_capped(self) -> bool:
        """Whether max_unfair_rounds is reached, so that only proved distances are played."""
        return self._capped_at is not None

    def distances_to_play(self, metric: MetricLearner, contexts: Floats) -> Floats:
        """The learned distances between the rows of `contexts`, or the proved ones if capped; scaled, (k, k)."""
        scale = self.margin.scale  # on proved distances as well: the margin's promise is for any reviewer
        if self._capped_at is None:
            distances = metric.playable_distances(contexts)
        elif self._refuted:
            distances = np.zeros((len(contexts), len(contexts)))
        else:
            distances = as_square(len(contexts), lower_bounds(self.log.evidence, Pairs.of(contexts)))
        return distances if scale == 1.0 else scale * distances

    def distances_that_matter(self, metric: MetricLearner, contexts: Floats) -> Floats | BoundedDistances:
        """The same distances; if they are expensive, bounds and a way to compute those that matter."""
        scale = self.margin.scale
        bounds = None if self._capped_at is not None or scale == 0.0 else metric.playable_bounds(contexts)
        if bounds is None:
            return self.distances_to_play(metric, contexts)

        def may_reach(probabilities: Floats, tolerance: float, settled: Mask) -> Indices:
            return bounds.may_reach(probabilities / scale, tolerance / scale, settled)

        def exact(indices: Indices) -> Floats:
            squared = metric.guess(Pairs.named(contexts, indices))
            return np.asarray(scale * np.sqrt(np.maximum(squared, 0.0)))

        return BoundedDistances(bounds.upper if scale == 1.0 else scale * bounds.upper, may_reach, exact)

    def decided(self, rounds: int = 1) -> None:
        """Count this many more decisions."""
        self.margin = self.margin.decided(rounds)
        self._rounds += rounds

    def after_review(self, decision: Decision, review: Review, verdicts: Verdicts) -> Safeguards:
        """The safeguards after a review with these verdicts; this object stays as it is."""
        after = self.copied()
        proved = self._capped_at is not None and decision.round >= self._capped_at
        if not review.any_unfair and not proved:  # that some pair was unfair proves nothing about any one of them
            after.log = self.log.extended(verdicts, source=decision.id)
        flagged = len(verdicts.gaps) > 0 and (review.any_unfair or bool(np.count_nonzero(verdicts.unfair)))
        after._refuted = self._refuted or (flagged and proved)
        if flagged and decision.round not in self.flagged_rounds:
            after.flagged_rounds = self.flagged_rounds.plus(decision.round)
            after.margin = self.margin.flagged()
            if len(after.flagged_rounds) == self.max_unfair_rounds:
                after._capped_at = self._rounds
        return after

    def add_evidence(self, verdicts: Verdicts) -> None:
        """Add verdicts on people who were shown without a decision: evidence, but no round is flagged."""
        self.log = self.log.extended(verdicts, source=ANSWER)

    def copied(self) -> Safeguards:
        """A copy that changes on its own. O(1)."""
        return shallow_copy(self)

    # Saving.

    def settings(self) -> dict[str, Any]:
        """The two settings."""
        return {"max_unfair_rounds": self.max_unfair_rounds, "target_unfair_share": self.margin.target}

    def state(self) -> dict[str, Any]:
        """Settings, counts and verdicts."""
        return {
            "max_unfair_rounds": self.max_unfair_rounds,
            "margin": asdict(self.margin),
            "gathering": self.log.state(),
            "flagged_rounds": np.array(sorted(self.flagged_rounds), dtype=np.int64),
            "rounds": self._rounds,
            "capped_at": self._capped_at,
            "refuted": self._refuted,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The safeguards with this `state`, to the bit."""
        log = VerdictLog.from_state(state["gathering"])
        safeguards = cls(log.space, Margin(**state["margin"]), state["max_unfair_rounds"])
        safeguards.log = log
        safeguards.flagged_rounds = GrowingSet(int(t) for t in state["flagged_rounds"])
        safeguards._rounds, safeguards._capped_at = int(state["rounds"]), state["capped_at"]
        safeguards._refuted = bool(state["refuted"])
        return safeguards
