"""QuietBandit: a FairBandit without warnings, for projections: what others are warned of is in its counters."""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from evenhand.allocation.draw import draw_from
from evenhand.bandit import FairBandit
from evenhand.errors import UnsupportedReview
from evenhand.metrics import Verdicts
from evenhand.records.decision import Decision, Review

Floats = NDArray[np.float64]


class QuietBandit(FairBandit):
    """Learns without a warning: how often reviews conflicted is in `conflicts`, who misleads in `misleading`."""

    def _warn(self, warning: Warning) -> None:
        """Both are counted; the warnings module would be shared by all threads besides."""

    def learn_outcomes(self, decision: Decision, rewards: Mapping[int, float]) -> None:
        """Learn the outcomes of the chosen candidates, also where somebody overrode the draw.

        The reward model needs contexts and rewards, not why somebody was chosen; so the outcome of a candidate who was
        not drawn is one more observation. Nothing is learned about distances.
        """
        if set(rewards) <= set(decision.chosen):
            self.learn(decision, rewards=rewards)
            return
        self._check_own(decision)
        model = copy.deepcopy(self.reward)
        model.learn(decision.contexts[list(rewards)], np.array(list(rewards.values()), dtype=np.float64))
        self.reward = model

    def learn_past_review(
        self, contexts: Sequence[Sequence[float]], probabilities: Sequence[float], review: Review
    ) -> None:
        """Learn from a review of a decision made elsewhere: as evidence, but no round of this bandit is flagged.

        A one-bit review that the metric learner cannot use is skipped. Which pairs were tight is unknown: all count as
        if they were.
        """
        table = np.array(contexts, dtype=np.float64)
        past = Decision("", 0, table, np.array(probabilities, dtype=np.float64), (), None, np.zeros(len(table)))
        verdicts = Verdicts.of(past, review)
        verdicts = replace(verdicts, tight=np.ones(len(verdicts), dtype=np.bool_))
        if len(verdicts) == 0:
            return
        if review.any_unfair:
            with contextlib.suppress(UnsupportedReview):
                self._report(self.metric.learn_bit(verdicts, any_unfair=True))
            return
        learned = self.metric.learn(verdicts)
        self.safeguards.add_evidence(verdicts)
        self._report(learned)

    def published(self, previous: Self | None = None) -> Self:
        """A copy that decides as this one does now, and that does not change when this one learns.

        previous: the copy made before, if no review was learned since: its metric can be shared.
        """
        if self.safeguards.is_capped:  # then proposals compute evidence, which copies must not share
            return type(self).from_state(self.state())
        twin = copy.copy(self)
        twin.metric = copy.deepcopy(self.metric) if previous is None else previous.metric
        twin.reward = copy.deepcopy(self.reward)
        twin.safeguards = self.safeguards.copied()
        return twin

    def with_capacity(self, capacity: int | None) -> Self:
        """This bandit with another capacity, all else shared: for deciding, not for learning."""
        if capacity == self.capacity:
            return self
        twin = copy.copy(self)
        twin.capacity = capacity
        return twin

    def drawn_again(self, decision: Decision, *, number: int, rng: np.random.Generator) -> Decision:
        """The decision of `propose` for the same contexts in round `number`, without computing it again."""
        chosen = draw_from(decision.probabilities, math.inf if self.capacity is None else float(self.capacity), rng)
        return replace(decision, round=number, chosen=chosen).signed(self._key)
