"""Safeguards: what stands between the learner's distances and the odds: the margin, the cap, and the proofs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.append_only import GrowingSet
from evenhand._internal.checks import is_whole
from evenhand.allocation import BoundedDistances
from evenhand.bandit.margin import Margin
from evenhand.certificates import ANSWER, Evidence, Gathering, lower_bounds
from evenhand.certificates.statements import Statements
from evenhand.errors import InvalidInput
from evenhand.metrics import MetricLearner, Pairs, Verdicts
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.learner import as_square
from evenhand.records.decision import Decision, Pair, Review

Floats = NDArray[np.float64]


class Safeguards:
    """Rounds with a flag, counted once each, and what they lead to.

    margin: all distances a little shorter after each (`Margin`). max_unfair_rounds: after so many, only distances that
    the evidence proves. Proof that an exact reviewer flags no round after that: a pair's odds then differ by no more
    than a lower bound on its distance that follows from her own verdicts. A flag on such odds proves that no metric
    fits; nothing is proved any more, and all distances played are 0.
    """

    def __init__(self, space: MetricSpace, margin: Margin, max_unfair_rounds: int | None = None) -> None:
        if max_unfair_rounds is not None and (not is_whole(max_unfair_rounds) or max_unfair_rounds < 0):
            raise InvalidInput(f"max_unfair_rounds is {max_unfair_rounds!r}; allowed is a whole number >= 0, or None")
        self.max_unfair_rounds = None if max_unfair_rounds is None else int(max_unfair_rounds)
        self.margin = margin
        self.flagged_rounds = GrowingSet()
        self._gathering = Gathering(space)
        self._rounds = 0
        self._capped_at: int | None = 0 if self.max_unfair_rounds == 0 else None
        self._refuted = False

    @property
    def is_capped(self) -> bool:
        """Whether so many rounds were flagged that only what is proved is played."""
        return self._capped_at is not None

    @property
    def evidence(self) -> Evidence:
        """What proofs are made from."""
        return self._gathering.evidence

    def distances_to_play(self, metric: MetricLearner, contexts: Floats) -> Floats:
        """The learner's distances between rows of `contexts`, or, capped, those proved; within the margin, (k, k)."""
        if self.is_capped and self._refuted:
            distances = np.zeros((len(contexts), len(contexts)))
        elif self.is_capped:
            pairs = Pairs.of(contexts)
            distances = as_square(len(contexts), lower_bounds(self.evidence, pairs))
        else:
            distances = metric.playable_distances(contexts)
        scale = self.margin.scale  # of what is proved as well: the margin's promise is for any reviewer
        return distances if scale == 1.0 else scale * distances

    def distances_that_matter(self, metric: MetricLearner, contexts: Floats) -> Floats | BoundedDistances:
        """The same distances; if they take long to find, only bounds, and a way to find out those that matter."""
        scale = self.margin.scale
        bounds = None if self._capped_at is not None or scale == 0.0 else metric.playable_bounds(contexts)
        if bounds is None:
            return self.distances_to_play(metric, contexts)

        def may_reach(odds: Floats, tolerance: float, settled: NDArray[np.bool_]) -> NDArray[np.int64]:
            return bounds.may_reach(odds / scale, tolerance / scale, settled)

        def exact(indices: NDArray[np.int64]) -> Floats:
            squared = metric.guess(Pairs.named(contexts, indices))
            return np.asarray(scale * np.sqrt(np.maximum(squared, 0.0)))

        return BoundedDistances(bounds.upper if scale == 1.0 else scale * bounds.upper, may_reach, exact)

    def decided(self, rounds: int = 1) -> None:
        """So many more rounds were decided."""
        self.margin.decided(rounds)
        self._rounds += rounds

    def hear(self, decision: Decision, review: Review, verdicts: Verdicts) -> None:
        """Take in a review, given its verdicts on pairs with different odds."""
        proved = self._capped_at is not None and decision.round >= self._capped_at
        if not review.any_unfair and not proved:  # that some pair was unfair proves nothing of any of them
            self._gathering.hear(verdicts, source=decision.id)
        flagged = bool(len(verdicts)) and (review.any_unfair or bool(verdicts.unfair.any()))
        self._refuted = self._refuted or (flagged and proved)
        if flagged and decision.round not in self.flagged_rounds:
            self.flagged_rounds.add(decision.round)
            self.margin.flagged()
            if len(self.flagged_rounds) == self.max_unfair_rounds:
                self._capped_at = self._rounds

    def hear_answer(self, verdicts: Verdicts) -> None:
        """Take in an answer on two people who were shown without a decision: evidence, but no round is flagged."""
        self._gathering.hear(verdicts, source=ANSWER)

    def statements(self) -> Statements:
        """What reviewers said, as far as it is remembered."""
        return self._gathering.statements()

    def flagged_pairs(self, decision: Decision) -> frozenset[Pair]:
        """The pairs of a decision that somebody called unfair, as far as it is remembered."""
        return self._gathering.flagged(decision.id)

    def copied(self) -> Safeguards:
        """A copy that can hear more, and leaves this one as it is."""
        twin = self.__class__.__new__(self.__class__)
        twin.__dict__.update(self.__dict__)
        twin.margin, twin._gathering = self.margin.copied(), self._gathering.copied()
        twin.flagged_rounds = self.flagged_rounds.copied()
        return twin

    def anew(self) -> Safeguards:
        """The same settings, nothing heard yet."""
        margin = Margin(self.margin.target, self.margin.step)
        return Safeguards(self._gathering.space, margin, self.max_unfair_rounds)

    # Saving.

    def settings(self) -> dict[str, Any]:
        """What it was made with."""
        return {"max_unfair_rounds": self.max_unfair_rounds, "target_unfair_share": self.margin.target}

    def state(self) -> dict[str, Any]:
        """Settings and all that was heard."""
        return {
            "max_unfair_rounds": self.max_unfair_rounds,
            "margin": self.margin.state(),
            "gathering": self._gathering.state(),
            "flagged_rounds": np.array(sorted(self.flagged_rounds), dtype=np.int64),
            "rounds": self._rounds,
            "capped_at": self._capped_at,
            "refuted": self._refuted,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The same, to the bit."""
        gathering = Gathering.from_state(state["gathering"])
        safeguards = cls(gathering.space, Margin.from_state(state["margin"]), state["max_unfair_rounds"])
        safeguards._gathering = gathering
        safeguards.flagged_rounds = GrowingSet(int(t) for t in state["flagged_rounds"])
        safeguards._rounds, safeguards._capped_at = int(state["rounds"]), state["capped_at"]
        safeguards._refuted = bool(state["refuted"])
        return safeguards
