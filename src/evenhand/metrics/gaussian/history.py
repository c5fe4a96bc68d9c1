"""BeliefHistory: a belief, and what it takes to learn it again from a wider prior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Generic, Self, overload

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.metrics.gaussian.bound_by_evidence import Explained, best_bound
from evenhand.metrics.gaussian.fixed_lag import FixedLagSmoother
from evenhand.metrics.gaussian.forms import B, BeliefForm, Update
from evenhand.metrics.gaussian.reviewer_grid import ReviewerGrid
from evenhand.metrics.gaussian.soft_threshold import chance_exceeded
from evenhand.metrics.gaussian.tuning import BayesPointTuning
from evenhand.metrics.learner_settings import least_bound
from evenhand.metrics.verdicts import HalfSpaces, Memory


@dataclass(frozen=True)
class ReviewersAssumed:
    """What is assumed of reviewers: error rate and softness, None where it is learned; and the constants in force."""

    error_rate: float | None
    softness: float | None
    tuning: BayesPointTuning

    @cached_property
    def rate(self) -> float:
        """The fixed error rate, or 0."""
        return self.error_rate or 0.0

    @cached_property
    def are_learned(self) -> bool:
        """Whether anything is learned about them."""
        return self.error_rate is None or self.softness is None

    @cached_property
    def contradiction(self) -> float:
        """The score below which a verdict is a contradiction; none is, where errors are expected."""
        return self.tuning.contradiction if self.rate < self.tuning.slip_rate else -math.inf

    def grid(self, freedom: float) -> ReviewerGrid:
        """The grid on which they are learned, for so many unknowns."""
        return ReviewerGrid.of(self.error_rate, self.softness, freedom, self.tuning)


class BeliefHistory(Generic[B]):
    """A belief in one form, its bound on ||G||_F, the newest informative verdicts, and the belief before those.

    Immutable: `updated` gives the next one.
    """

    form: BeliefForm[B]
    assumed: ReviewersAssumed
    bound: float
    belief: B
    base: B | None
    """What was learned before the memory; None for the prior."""
    memory: Memory
    contradictions: float
    """Those in excess of what the error rate explains."""
    smoother: FixedLagSmoother[B] | None
    widths: Floats
    """The softness to expect of the next answer, (1,)."""
    evidence: float
    """The log-probability that was given to answers before they were learned, as far as it was asked for."""

    def __init__(self, form: BeliefForm[B], assumed: ReviewersAssumed, bound: float) -> None:
        self.form, self.assumed, self.bound, self.tuning = form, assumed, bound, assumed.tuning
        self.belief, self.base = form.prior(bound), None
        self.memory = Memory.empty(form.width, assumed.tuning.max_rows(form.width))
        self.contradictions = self.evidence = 0.0
        self._rates = np.array([assumed.rate])
        self.smoother = None
        if assumed.are_learned:
            grid = assumed.grid(self.belief.freedom)
            self.smoother = FixedLagSmoother(self.belief, form.width, grid, form.answer_size)
        self.widths = np.array([assumed.softness or 0.0])

    @property
    def ratio(self) -> float:
        """The prior's deviation of entries off the diagonal, in units of the diagonal's."""
        return 1.0 if self.form.shape is None else self.form.shape.ratio

    def _copied(self) -> Self:
        """As `copy.copy`, which makes a dozen calls more: a small round is made of little else."""
        history = object.__new__(type(self))
        history.__dict__.update(self.__dict__)
        return history

    def updated(
        self, half_spaces: HalfSpaces, reviewer: str | None, *, reviews: int, accuracy: float, sharpens: bool
    ) -> tuple[Self, list[int]]:
        """The history after one reviewer's answers, and the rows that contradict the belief and were skipped.

        reviews: so many before. accuracy: the epsilon in force. sharpens: whether epsilon halves with this review.
        """
        history = self._copied()
        if self.smoother is None:
            return history, history._update(half_spaces, reviews, accuracy, sharpens)
        history._smooth(self.smoother, half_spaces, reviewer, accuracy, sharpens)
        return history, []

    def expected_of(self, reviewer: str | None) -> tuple[float, float]:
        """The error rate and the softness to expect of this reviewer's next answer."""
        if self.smoother is None:
            return self.assumed.rate, self.assumed.softness or 0.0
        return self.smoother.expected_of(reviewer)

    def weighed(self, half_spaces: HalfSpaces, rate: float, softness: float) -> Self:
        """The history with the log-probability of these answers, not yet learned, added to its evidence.

        rate, softness: what is expected of the reviewer, the same for all histories that are compared. Of many answers
        on one decision only some count, since they share candidates. Each counts by itself.
        """
        n, most, history = len(half_spaces), self.tuning.max_weighed, self._copied()
        if n > most:
            half_spaces = half_spaces.take(np.arange(most) * n // most)
        mean, sd = self.belief.moments(half_spaces.normals)
        flagged = chance_exceeded(mean, sd, np.sqrt(half_spaces.thresholds), softness)
        right = np.where(half_spaces.sides < 0.0, flagged, 1.0 - flagged)
        rate = max(rate, self.tuning.min_evidence_rate if self.smoother is None else self.tuning.usual_rate)
        history.evidence += float(np.sum(np.log(rate + (1.0 - 2.0 * rate) * right)))
        return history

    def _update(self, half_spaces: HalfSpaces, reviews: int, accuracy: float, sharpens: bool) -> list[int]:
        """Update the belief at the fixed error rate, skipping the rows that contradict it; return these."""
        blur = self._blur(accuracy)
        update = self._updated(self.belief, half_spaces, blur)
        if update.contradictions:
            update = self._with_larger_bound(half_spaces, update, accuracy)
            blur = self._blur(accuracy)
        tuning, bound = self.tuning, self.bound
        belief, scores = self.form.project(update.belief, bound), update.score
        memory = self.memory.extended(half_spaces, scores, tuning.contradiction, tuning.informative)
        contradicting: list[int] = []
        contradictions = self.contradictions
        if update.contradictions:
            contradicting = np.flatnonzero(scores < self.assumed.contradiction).tolist()
        if contradicting or contradictions:
            contradictions = max(contradictions + len(contradicting) - self.assumed.rate * len(scores), 0.0)
        base = self.base
        if memory.is_full:
            oldest, memory = memory.split()
            base = self.form.project(self._updated(base or self.form.prior(bound), oldest, blur).belief, bound)
        if sharpens:
            belief, base = self._widened(belief), self._widened(base)
        if belief.outgrows(bound):
            bound = 2.0 * bound
            base = None if base is None else base.with_prior(self.form.prior(self.bound), self.form.prior(bound))
            belief = self._updated(base or self.form.prior(bound), memory.all(), blur).belief
            belief = self.form.project(belief, self.bound)
        elif contradictions > tuning.tolerated_contradictions:  # more than slips: the belief was too certain
            belief, base, contradictions = self._widened(belief), self._widened(base), 0.0
        self.bound, self.belief, self.contradictions = bound, belief, contradictions
        self.base, self.memory = base, memory
        if self._is_check_due(reviews + 1):
            self.belief = self._agreeing(belief, self._blur(accuracy))
        return contradicting

    def _with_larger_bound(self, half_spaces: HalfSpaces, update: Update[B], accuracy: float) -> Update[B]:
        """The update from a larger bound, if that takes away the contradictions and they surprise the prior itself.

        What nobody has denied contradicts the prior alone: its bound is too small.
        """
        surprising, bound = half_spaces.take(update.score < self.assumed.contradiction), self.bound
        for _ in range(self.tuning.max_doublings):
            if np.all(self.form.prior(bound).scores(surprising, self._blur(accuracy), self.widths) >= -1.0):
                break
            bound *= 2.0
        else:
            return update  # no bound explains them: twins judged different, say
        if bound == self.bound:
            return update
        wider = self._copied()
        wider._restart(bound, self._blur(accuracy))
        again = wider._updated(wider.belief, half_spaces, wider._blur(accuracy))
        if again.contradictions:
            return update
        self.bound, self.belief, self.base = bound, wider.belief, wider.base
        return again

    def _restart(self, bound: float, blur: float) -> None:
        """Learn again from a prior with another bound."""
        form = self.form
        if self.base is not None:
            self.base = self.base.with_prior(form.prior(self.bound), form.prior(bound))
        belief = self._updated(self.base or form.prior(bound), self.memory.all(), blur).belief
        self.bound, self.belief = bound, form.project(belief, self.bound)

    def _is_check_due(self, reviews: int) -> bool:
        """Whether to compare the belief with what is remembered: a few times in each doubling of the reviews."""
        tuning = self.tuning
        step = max(tuning.min_reviews_to_check, (1 << reviews.bit_length() - 1) // tuning.checks_per_doubling)
        is_due = reviews % step == 0 and self.assumed.rate < tuning.slip_rate
        return is_due and self.form.is_quick_to_refit(len(self.memory))

    def _agreeing(self, belief: B, blur: float) -> B:
        """The belief, or a refitted one if what is remembered contradicts the belief and not the refitted one."""
        memory, bound = self.memory.all(), self.bound
        most = self.tuning.tolerated_contradictions + self.assumed.rate * len(memory)

        def contradicts(belief: B) -> bool:
            return float(np.sum(belief.scores(memory, blur, self.widths) < self.tuning.contradiction)) > most

        if not contradicts(belief):
            return belief
        project = partial(self._projected, bound=bound)
        other = self.form.refitted(self.base or self.form.prior(bound), memory, self._rates, self.widths, blur, project)
        return belief if contradicts(other) else other

    def _projected(self, belief: B, bound: float) -> B:
        return self.form.project(belief, bound)

    @overload
    def _widened(self, belief: B) -> B: ...
    @overload
    def _widened(self, belief: B | None) -> B | None: ...
    def _widened(self, belief: B | None) -> B | None:
        """The belief less certain; nothing is less certain than the prior."""
        if belief is None:
            return None
        return belief.widened(self.tuning.widening, self.form.prior_variance(self.bound))

    def _updated(self, belief: B, half_spaces: HalfSpaces, blur: float) -> Update[B]:
        """The update with all half-spaces that do not contradict the belief."""
        limit = self.assumed.contradiction
        return belief.update(half_spaces, self._rates, blur=blur, softness=self.widths, contradiction=limit)

    def _smooth(
        self,
        smoother: FixedLagSmoother[B],
        half_spaces: HalfSpaces,
        reviewer: str | None,
        accuracy: float,
        sharpens: bool,
    ) -> None:
        """Update the belief at an error rate and a softness that are learned too."""
        blur, project = self._blur(accuracy), partial(self._projected, bound=self.bound)
        smoother, belief = smoother.updated(self.belief, half_spaces, reviewer, blur=blur, project=project)
        if sharpens:
            belief, smoother = self._widened(belief), smoother.with_base(self._widened(smoother.base))
        now, least = Explained(self.bound, smoother, belief), least_bound(accuracy)
        self.bound, smoother, self.belief = best_bound(now, self.form.prior, least, blur=blur, project=project)
        self.smoother, self.widths = smoother, np.array([smoother.rates.usual_softness()])

    def updated_bit(self, fair: HalfSpaces, *, any_unfair: bool, accuracy: float) -> Self:
        """The history after one bit: whether all of `fair` hold."""
        history = self._copied()
        history.belief = self._updated_bit(self.belief, fair, any_unfair, accuracy)
        if self.smoother is not None:
            history.smoother = self.smoother.with_base(
                self._updated_bit(self.smoother.base, fair, any_unfair, accuracy)
            )
        else:
            base = self.base or self.form.prior(self.bound)
            history.base = self._updated_bit(base, fair, any_unfair, accuracy)
        return history

    def _updated_bit(self, belief: B, fair: HalfSpaces, any_unfair: bool, accuracy: float) -> B:
        rate, blur = max(self.assumed.rate, self.tuning.min_bit_error), self._blur(accuracy)
        updated, _ = belief.update_bit(fair, any_unfair, error_rate=rate, blur=blur, softness=self.widths)
        return self.form.project(updated, self.bound)

    def _blur(self, accuracy: float) -> float:
        """The scale of thresholds: epsilon squared, and never so coarse as to drown the prior."""
        most = self.tuning.max_blur_of_prior * self.form.prior_deviation(self.bound)
        return min(self.tuning.max_blur, most, accuracy**2)

    # Saving. The keys of the state are those of version 0.1.

    def state(self) -> dict[str, Any]:
        """Belief and memory."""
        return {
            **({} if self.base is None else {"base": self.base.state()}),
            "surprises": self.contradictions,
            **self.belief.state(),
            "memory": self.memory.all().state(),
            "doubt": None if self.smoother is None else self.smoother.state(),
        }

    def restored(self, state: dict[str, Any]) -> Self:
        """The history with this `state`, to the bit; this one must be new, with the settings of that one."""
        history = self._copied()
        history.contradictions = float(state["surprises"])
        bound = history.bound = float(state["bound"])
        history.belief = self.form.restored(state, bound)
        memory = HalfSpaces(**state["memory"])
        history.memory = self.memory.extended(memory, np.zeros(len(memory)))
        base = state.get("base")  # only if something was learned before the memory; never in states of version 0.1
        history.base = None if base is None else self.form.restored(base, bound)
        if self.smoother is not None:
            history.smoother = self.smoother.restored(state["doubt"], lambda base: self.form.restored(base, bound))
            history.widths = np.array([history.smoother.rates.usual_softness()])
        return history
