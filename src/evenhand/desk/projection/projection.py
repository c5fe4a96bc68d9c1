"""Projection: what a desk knows after a number of events: a bandit that decides, and the history of its rounds."""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evenhand.allocation.draw import draw_from
from evenhand.bandit import FairBandit
from evenhand.errors import UnsupportedReview
from evenhand.metrics import Verdicts
from evenhand.records.decision import Decision, Review

Floats = NDArray[np.float64]


SPANS = 512
"""Decisions are counted in this many spans of equal width; when they are full, each two become one."""

MARKS_NEWS = frozenset({"opened", "review", "withdrawal", "answer", "settings", "imported", "erasure"})
"""Kinds of events after which the metric, or what is known of reviewers, may differ."""


class QuietBandit(FairBandit):
    """A FairBandit without warnings: `conflicts` counts reviews in conflict, `misleading` names reviewers."""

    def _warn(self, warning: Warning) -> None:
        """Nothing: the warnings module is shared by all threads."""

    def learn_outcomes(
        self, decision: Decision, rewards: Mapping[int, float], shares: Sequence[float] | None = None
    ) -> None:
        """Learn the outcomes of the chosen candidates, also where somebody overrode the draw.

        The reward model needs contexts and rewards, not why somebody was chosen; so the outcome of a candidate who was
        not drawn is one more observation. Nothing is learned about distances. shares: those that another system gave
        instead, in the order of the rewards.
        """
        if shares is None and set(rewards) <= set(decision.chosen):
            self.learn(decision, rewards=rewards)
            return
        self._check_own(decision)
        model = copy.deepcopy(self.reward)
        outcomes = np.array(list(rewards.values()), dtype=np.float64)
        model.learn_outcomes(
            decision.contexts[list(rewards)], outcomes, None if shares is None else np.array(shares, dtype=np.float64)
        )
        self.reward = model

    def learn_past_review(
        self, contexts: Sequence[Sequence[float]] | Floats, probabilities: Sequence[float], review: Review
    ) -> None:
        """Learn from a review of a decision made elsewhere: as evidence, but no round of this bandit is flagged.

        A one-bit review that the metric learner cannot use is skipped. Which pairs were tight is unknown: all count as
        if they were.
        """
        table = np.array(contexts, dtype=np.float64)
        past = Decision("", 0, table, np.array(probabilities, dtype=np.float64), (), None, np.zeros(len(table)))
        verdicts = Verdicts.of(past, review)
        verdicts = replace(verdicts, tight=np.ones(len(verdicts), dtype=np.bool_))
        if len(verdicts) == 0 and review.kind not in ("ratings", "comparisons"):
            return
        if review.any_unfair:
            with contextlib.suppress(UnsupportedReview):
                self._report(self.metric.learn_bit(verdicts, any_unfair=True))
            return
        learned = self._learn_distances(past, review, verdicts)
        self.safeguards.add_evidence(verdicts)
        self._report(learned)

    def own(self, decision: Decision) -> Decision:
        """A decision of the ledger with this bandit's signature: the ledger, not the signature, says whose it is.

        The recorded signature may not fit. Candidates may have been erased since; and the key depends on the learner's
        first numbers, which another processor rounds in another way.
        """
        return decision.signed(self._key)

    def published(self, previous: Self | None = None) -> Self:
        """A copy that decides as this one does now, and that does not change when this one learns.

        previous: the copy made before, if no review was learned since: its metric can be shared.
        """
        twin = copy.copy(self)
        twin.metric = copy.deepcopy(self.metric) if previous is None else previous.metric
        twin.reward = copy.deepcopy(self.reward)
        twin.safeguards = self.safeguards.copied()
        return twin

    def with_capacity(self, capacity: float | None) -> Self:
        """This bandit with another capacity, all else shared: for deciding, not for learning."""
        if capacity == self.capacity:
            return self
        twin = copy.copy(self)
        twin.capacity = capacity
        return twin

    def drawn_again(self, decision: Decision, *, number: int, rng: np.random.Generator) -> Decision:
        """The decision of `propose` for the same contexts in round `number`, without computing it again."""
        chosen = decision.chosen  # in shares nobody is drawn
        if self.mode == "lottery":
            chosen = draw_from(decision.probabilities, math.inf if self.capacity is None else float(self.capacity), rng)
        return replace(decision, round=number, chosen=chosen).signed(self._key)


class RoundHistory:
    """Rewards, flags and counts of a desk over time, in tables of one size for any number of decisions.

    >>> history = RoundHistory()
    >>> history.outcome(3, {"a": 0.5, "b": 0.1})
    >>> history.rewards[3].tolist()
    [2.0, 0.6, 0.26]
    """

    def __init__(self) -> None:
        self.width = 1
        """Decisions per span."""
        self.rewards: Floats = np.zeros((SPANS, 3))
        """Per span the number of rewards, their sum, and the sum of their squares."""
        self.system_rewards: Floats = np.zeros(3)
        """The same sums for all outcomes of what the system in force did while the desk was in shadow mode."""
        self.kinds: dict[str, int] = {}
        """Events of each kind, including withdrawn ones."""
        self.news = 0
        """The last event after which the metric may differ."""
        self.taught = 0
        """Reviews and answers that were learned from and not withdrawn."""
        self.flags: Floats = np.zeros((SPANS, 2))
        """Per span, by the number of decisions made when they were first flagged: flagged decisions, and how many of
        those the margin made no promise about, since it had no target or all probabilities were equal."""
        self.targets: list[tuple[int, float | None]] = []
        """The targets for the share of unfair decisions, each with the number of the first decision it applied to."""
        self.modes: list[tuple[int, bool]] = []
        """Each switch of the desk: the number of the next decision, and whether that is in shadow mode. Live before."""

    def count(self, seq: int, kind: str) -> None:
        """An event was applied."""
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if kind in MARKS_NEWS:
            self.news = seq

    def decided(self, number: int, target: float | None) -> None:
        """The decision of this number was made under this target."""
        if not self.targets or self.targets[-1][1] != target:
            self.targets.append((number, target))

    def switched(self, number: int, *, shadow: bool) -> None:
        """From the decision of this number on the desk is in shadow mode, or live."""
        if shadow != (self.modes[-1][1] if self.modes else False):
            self.modes.append((number, shadow))

    def shadow_numbers(self, decisions: int, last: int) -> list[int]:
        """The numbers of the newest `last` decisions in shadow mode, the newest first, of all `decisions`.

        >>> history = RoundHistory()
        >>> history.switched(0, shadow=True)
        >>> history.switched(3, shadow=False)
        >>> history.shadow_numbers(10, 2)
        [2, 1]
        """
        ends = [start for start, _ in self.modes[1:]] + [decisions]
        found = list[int]()
        for (start, shadow), end in reversed(
            list(zip(self.modes, ends, strict=False))
        ):  # without modes there is one end
            if shadow:
                found += range(end - 1, max(start, end - (last - len(found))) - 1, -1)
        return found

    def outcome(self, number: int | None, rewards: Mapping[str, float]) -> None:
        """Rewards of the decision of this number were recorded; None for those of the system in force."""
        if number is None:
            span = self.system_rewards
        else:
            self._make_room(number)
            span = self.rewards[number // self.width]
        for reward in rewards.values():  # one number at a time is faster than three as an array
            span[0] += 1.0
            span[1] += reward
            span[2] += reward * reward

    def flag(self, decided: int, *, promised: bool) -> None:
        """A decision was flagged for the first time when this many had been made."""
        self._make_room(decided - 1)
        self.flags[(decided - 1) // self.width] += (1.0, not promised)

    def target_by(self, edges: NDArray[np.int64]) -> Floats:
        """Flagged decisions that the targets permit by each of these numbers of decisions."""
        permitted = np.zeros(len(edges))
        ends = [start for start, _ in self.targets[1:]] + [np.inf]
        for (start, target), end in zip(self.targets, ends, strict=False):
            permitted += (target or 0.0) * np.clip(edges - start, 0, end - start)
        return permitted

    def _make_room(self, number: int) -> None:
        """Join spans until the decision of this number has one."""
        while number >= self.width * SPANS:
            self.rewards, self.flags, self.width = _joined(self.rewards), _joined(self.flags), 2 * self.width

    def state(self) -> dict[str, Any]:
        """All of it, for a snapshot."""
        lists = {name: [list(change) for change in getattr(self, name)] for name in ("targets", "modes")}
        return {**vars(self), **lists}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The same, to the bit."""
        history = cls()
        history.width, history.news = int(state["width"]), int(state["news"])
        history.taught, history.flags = int(state["taught"]), np.array(state["flags"], dtype=np.float64)
        history.targets = [(int(start), target) for start, target in state["targets"]]
        history.rewards = np.array(state["rewards"], dtype=np.float64).reshape(SPANS, 3)
        if "system_rewards" in state:  # not in older snapshots
            history.modes = [(int(start), bool(shadow)) for start, shadow in state["modes"]]
            history.system_rewards = np.array(state["system_rewards"], dtype=np.float64)
        history.kinds = {str(kind): int(number) for kind, number in state["kinds"].items()}
        return history


def _joined(spans: Floats) -> Floats:
    """Each two spans become one."""
    joined = np.zeros_like(spans)
    joined[: SPANS // 2] = spans[::2] + spans[1::2]
    return joined


@dataclass(frozen=True)
class Projection:
    """The events up to `seq`, reduced to a bandit that decides; published, and never changed."""

    seq: int
    bandit: QuietBandit
    skipped: int = 0
    """Events that the bandit could not learn from."""
    history: RoundHistory = field(default_factory=RoundHistory, compare=False)
