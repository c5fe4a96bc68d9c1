"""Safeguards between the learned distances and the probabilities: the margin, the cap, and the evidence for proofs."""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Self

import numpy as np

from evenhand._internal.append_only import GrowingMap, GrowingSet
from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.checks import check_number_or_none, check_one_of, check_whole_or_none
from evenhand.allocation import Allocation, BoundedDistances, fair_distribution, fair_distribution_within
from evenhand.bandit._proved_distances import ProvedDistances, binding_pairs, proved_distances
from evenhand.certificates import ANSWER, VerdictLog, lower_bounds
from evenhand.metrics import MetricLearner, Pairs, Verdicts
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.learner import as_square
from evenhand.records.decision import Decision, Pair, Review

STEP = 0.05
"""gamma: by how much one flagged round shortens all distances. A larger step recovers faster and varies more."""

Target = Literal["flagged", "estimated"]
"""What `target_unfair_share` limits: flagged rounds, or the sum of the probabilities that their flags are right."""

STEPS: dict[Target, float] = {"flagged": STEP, "estimated": 0.02}
"""The step of each. Verdicts on distances that were shortened much teach little, and what is learned decides what flags
count: with a step of 0.05 twice as many rounds were truly unfair as with 0.02, for less reward; 0.01 changed little."""


@dataclass(frozen=True)
class Margin:
    """Keeps the share of flagged rounds at or below `target`, for any reviewer.

    Distances are multiplied by `scale` = max(0, s). Every decision adds step * target to s, up to 1; every flagged
    round subtracts step, or step times its count. s is not clipped from below, which would forgive debts.

    Promise: after T rounds, with at most D decisions still under review at any time,

        flagged rounds <= target * T + 1/step + 1 + D,    for any reviewer, even one who follows no metric.

    Proof. With s <= 0 all distances are 0, so all probabilities are equal, and a flag on equal probabilities does not
    count. So a flagged round was decided with s > 0. The first flag that takes s to 0 or below takes it to more than
    -step; after it only decisions already under review, at most D, can be flagged before s is above 0 again: s > -step
    (1 + D), always. Every flagged round subtracts step, every decision adds at most step * target, and s starts at 1:
    -step (1 + D) < s <= 1 + step * target * T - step * flagged. Divide by step.

    The same proof holds with D counted afterwards: D is at most the number of flags that came while s <= 0.

    It also holds for counts between 0 and 1 in place of flags: the sum of the counts is at most the same. With
    `target="estimated"` a round's count is the probability that some flag on it is right. The sum of these bounds the
    rounds that are truly unfair and flagged, in expectation, only where the probabilities are calibrated: the reviewer
    follows a metric, errs independently, and the belief is a posterior (docs/mathematics.md).

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

    @classmethod
    def counting(cls, target: Target, share: float | None) -> Margin:
        """The margin at the start, for one kind of target."""
        check_one_of("target", target, STEPS)
        return cls(share, STEPS[target])

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

    def flagged(self, count: float = 1.0) -> Margin:
        """The margin after one more flagged round, or this much of one."""
        return self if self.target is None else replace(self, s=self.s - self.step * count)


def chance_right(chance_unfair: Floats, error_rate: float) -> Floats:
    """The probability that a flag is right, by Bayes' rule, (n,): 1 if flags are never wrong.

    chance_unfair: the probability that the pair is unfair, before the flag, (n,). error_rate: the probability that a
    verdict is wrong, at most 0.5.

    >>> chance_right(np.array([0.0, 0.1, 0.5]), 0.1).round(3).tolist()
    [0.0, 0.5, 0.9]
    """
    right, wrong = chance_unfair * (1.0 - error_rate), (1.0 - chance_unfair) * error_rate
    return np.divide(right, right + wrong, out=np.ones_like(right), where=right + wrong > 0.0)


def chance_of_any(chances: Floats) -> float:
    """The probability that at least one of independent events happens."""
    return float(1.0 - np.prod(1.0 - chances))


def chance_truly_unfair(metric: MetricLearner, review: Review, verdicts: Verdicts) -> float:
    """The probability that at least one flag of a review is right, by what `metric` believes before it learns them.

    Pairs count as independent. Errors in their distances are correlated, so this tends to be too high.
    """
    error_rate = metric.error_rate_of(verdicts.reviewer)
    if review.any_unfair:
        any_unfair = chance_of_any(metric.chance_unfair(verdicts.pairs, verdicts.gaps))
        return float(chance_right(np.array([any_unfair]), error_rate)[0])
    flags = verdicts.take(verdicts.unfair)
    return chance_of_any(chance_right(metric.chance_unfair(flags.pairs, flags.gaps), error_rate))


class Safeguards:
    """Counts rounds with a flag, once each, and limits the distances to be played accordingly.

    margin: shortens all distances after each flagged round (`Margin`). target: "flagged", every flagged round counts in
    full; "estimated", by the probability that some flag on it is right. max_unfair_rounds: after this many flagged
    rounds only distances that the evidence proves are played. A reviewer who follows a metric then never flags again:
    no gap exceeds a lower bound on the distance that follows from her own verdicts. A flag on such a round proves that
    no metric fits her verdicts; from then on all distances played are 0.
    """

    def __init__(
        self,
        space: MetricSpace,
        margin: Margin,
        max_unfair_rounds: int | None = None,
        target: Target = "flagged",
    ) -> None:
        self.max_unfair_rounds = check_whole_or_none("max_unfair_rounds", max_unfair_rounds, least=0)
        check_one_of("target", target, STEPS)
        self.margin = margin
        self.target: Target = target
        self.flagged_rounds = GrowingSet()
        self.counted = 0.0
        """The sum of the counts of all flagged rounds: what the target limits."""
        self._counts = GrowingMap()  # of the flagged rounds that do not count in full
        self.log = VerdictLog(space)
        """The verdicts of all reviews, as far as they are kept: what proofs are made from."""
        self._rounds = 0
        self._capped_at: int | None = 0 if self.max_unfair_rounds == 0 else None
        self._refuted = False

    @property
    def is_capped(self) -> bool:
        """Whether max_unfair_rounds is reached, so that only proved distances are played."""
        return self._capped_at is not None

    @property
    def limits_flags(self) -> bool:
        """Whether the margin limits the number of flagged rounds, and has not made all probabilities equal yet."""
        return self.target == "flagged" and self.margin.is_working

    def allocate(
        self, metric: MetricLearner, contexts: Floats, rewards: Floats, capacity: float | None, lower: Any, upper: Any
    ) -> tuple[Allocation, tuple[Pair, ...], int]:
        """The best probabilities for the rows of `contexts` (k, d) with these rewards (k,), floors and ceilings.

        With them the pairs that bind, and how many pairs lack a proof that the cap asks for.
        """
        bounds = {"lower": lower, "upper": upper}
        if self.is_capped:
            proved = self.proved_distances(contexts, rewards, capacity, **bounds)
            best = fair_distribution(rewards, proved.table, capacity, **bounds)
            return best, binding_pairs(best.probabilities, proved.table), proved.unproved_pairs
        distances = self.distances_that_matter(metric, contexts)
        if isinstance(distances, BoundedDistances):
            best = fair_distribution_within(rewards, distances, capacity, **bounds)
        else:
            best = fair_distribution(rewards, distances, capacity, **bounds)
        return best, best.tight_pairs, 0

    def distances_to_play(self, metric: MetricLearner, contexts: Floats) -> Floats:
        """The learned distances between the rows of `contexts`, or the proved ones if capped; scaled, (k, k).

        All that can be proved, however long it takes; `proved_distances` has a limit.
        """
        scale = self.margin.scale  # on proved distances as well: the margin's promise is for any reviewer
        if self._capped_at is None:
            distances = metric.playable_distances(contexts)
        elif self._refuted:
            distances = np.zeros((len(contexts), len(contexts)))
        else:
            distances = as_square(len(contexts), lower_bounds(self.log.evidence, Pairs.of(contexts)))
        return distances if scale == 1.0 else scale * distances

    def proved_distances(
        self, contexts: Floats, rewards: Floats, capacity: float | None, lower: Any = None, upper: Any = None
    ) -> ProvedDistances:
        """The distances to play if capped, as far as they matter for these rewards (k,): proved ones, scaled, or 0.

        The work is limited: beyond the limit distances are 0, so probabilities are equal, which is always fair.
        """
        if self._refuted or self.margin.scale == 0.0:
            return ProvedDistances(np.zeros((len(contexts), len(contexts))))
        bounds = {"lower": lower, "upper": upper}
        return proved_distances(self.log.evidence, contexts, rewards, capacity, self.margin.scale, **bounds)

    def prepare(self, previous: Safeguards | None = None) -> None:
        """Compute now what `proved_distances` needs beside the candidates, as far as `previous` has not done it."""
        if previous is not None:
            self.log.adopt(previous.log)
        _ = self.log.evidence

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

    def count_of(self, round: int) -> float:
        """How much of a flagged round this one counts for, from 0 to 1."""
        return self._counts.get(round, 1.0) if round in self.flagged_rounds else 0.0

    def after_review(self, decision: Decision, review: Review, verdicts: Verdicts, metric: MetricLearner) -> Safeguards:
        """The safeguards after a review with these verdicts; this object stays as it is.

        metric: the learner before it learns the verdicts.
        """
        after = self.copied()
        proved = self._capped_at is not None and decision.round >= self._capped_at
        if not review.any_unfair and not proved:  # that some pair was unfair proves nothing about any one of them
            after.log = self.log.extended(verdicts, source=decision.id)
        flagged = len(verdicts.gaps) > 0 and (review.any_unfair or bool(np.count_nonzero(verdicts.unfair)))
        after._refuted = self._refuted or (flagged and proved)
        if flagged:
            after._count(decision.round, self._count_after(decision.round, review, verdicts, metric))
            if decision.round not in self.flagged_rounds:
                after.flagged_rounds = self.flagged_rounds.plus(decision.round)
                if len(after.flagged_rounds) == self.max_unfair_rounds:
                    after._capped_at = self._rounds
        return after

    def _count_after(self, round: int, review: Review, verdicts: Verdicts, metric: MetricLearner) -> float:
        """The count of a round after a review with a flag."""
        if self.target == "flagged" or self.margin.target is None:
            return 1.0
        before = self.count_of(round)
        return before + (1.0 - before) * chance_truly_unfair(metric, review, verdicts)

    def _count(self, round: int, count: float) -> None:
        more = count - self.count_of(round)
        if more > 0.0:
            self.margin, self.counted = self.margin.flagged(more), self.counted + more
        if count < 1.0 or (more > 0.0 and round in self.flagged_rounds):
            self._counts = self._counts.plus(round, count)

    def add_evidence(self, verdicts: Verdicts) -> None:
        """Add verdicts on people who were shown without a decision: evidence, but no round is flagged."""
        self.log = self.log.extended(verdicts, source=ANSWER)

    def copied(self) -> Safeguards:
        """A copy that changes on its own. O(1)."""
        return copy.copy(self)

    # Saving.

    def settings(self) -> dict[str, Any]:
        """The settings. The default of `target` is left out, so that bandits keep the keys they had without it."""
        settings = {"max_unfair_rounds": self.max_unfair_rounds, "target_unfair_share": self.margin.target}
        return settings if self.target == "flagged" else {**settings, "target": self.target}

    def state(self) -> dict[str, Any]:
        """Settings, counts and verdicts; the same as in 0.1 if every flagged round counts in full."""
        counts = np.array(self._counts.items(), dtype=np.float64).reshape(-1, 2)
        estimated = {"target": self.target, "counted": self.counted, "counts": counts}
        return {
            "max_unfair_rounds": self.max_unfair_rounds,
            "margin": asdict(self.margin),
            "gathering": self.log.state(),
            "flagged_rounds": np.array(sorted(self.flagged_rounds), dtype=np.int64),
            "rounds": self._rounds,
            "capped_at": self._capped_at,
            "refuted": self._refuted,
            **(estimated if self.target == "estimated" or len(counts) else {}),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The safeguards with this `state`, to the bit; without a "target" every flagged round counted in full."""
        log, target = VerdictLog.from_state(state["gathering"]), state.get("target", "flagged")
        safeguards = cls(log.space, Margin(**state["margin"]), state["max_unfair_rounds"], target)
        safeguards.log = log
        safeguards.flagged_rounds = GrowingSet(int(t) for t in state["flagged_rounds"])
        safeguards.counted = float(state.get("counted", len(safeguards.flagged_rounds)))
        safeguards._counts = GrowingMap({int(t): float(count) for t, count in state.get("counts", ())})
        safeguards._rounds, safeguards._capped_at = int(state["rounds"]), state["capped_at"]
        safeguards._refuted = bool(state["refuted"])
        return safeguards
