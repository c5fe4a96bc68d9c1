"""RoundHistory: what became of a desk's decisions over time, in a few numbers that never grow beyond a fixed size.

It is part of the fold: kept up to date line by line, saved with every snapshot, published with every state. So a chart
of a million decisions is as quick to draw as one of a hundred.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SPANS = 512
"""Decisions are counted in at most so many spans of equal width; when they are full, each two become one."""

MARKS_NEWS = frozenset({"opened", "review", "withdrawal", "answer", "settings", "imported"})
"""Kinds of lines after which the metric, or what is known of reviewers, may be another."""


class RoundHistory:
    """Rewards by the number of the decision they came of, and how many lines of each kind there are.

    >>> history = RoundHistory()
    >>> history.outcome(3, {"a": 0.5, "b": 0.1})
    >>> history.rewards[3].tolist()
    [2.0, 0.6, 0.26]
    """

    def __init__(self) -> None:
        self.width = 1
        """Decisions a span."""
        self.rewards: Floats = np.zeros((SPANS, 3))
        """Of each span the number of rewards, their sum, and the sum of their squares."""
        self.kinds: dict[str, int] = {}
        """Lines of each kind, those that were taken back among them."""
        self.news = 0
        """The last line after which the metric may be another."""
        self.taught = 0
        """Reviews and answers that said something of a pair, were not taken back, and were not asked for twice."""
        self.flags: Floats = np.zeros((SPANS, 2))
        """Of each span the decisions that were first called unfair when so many had been made, and how many of those
        the margin made no promise about: it had no target, or all odds had been made equal before."""
        self.targets: list[tuple[int, float | None]] = []
        """From which decision on which share of unfair decisions was the target."""

    def line(self, seq: int, kind: str) -> None:
        """A line of the ledger was taken in."""
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if kind in MARKS_NEWS:
            self.news = seq

    def decided(self, number: int, target: float | None) -> None:
        """The decision of this number was made under this target."""
        if not self.targets or self.targets[-1][1] != target:
            self.targets.append((number, target))

    def heard(self, kind: str, body: Mapping[str, Any]) -> None:
        """A review or an answer was learned from, if there was anything to learn in it."""
        self.taught += teaches(kind, body)

    def outcome(self, number: int, rewards: Mapping[str, float]) -> None:
        """Rewards were told of the decision of this number."""
        self._reach(number)
        span = self.rewards[number // self.width]
        for reward in rewards.values():  # one number at a time is quicker than three as an array
            span[0] += 1.0
            span[1] += reward
            span[2] += reward * reward

    def flag(self, decided: int, *, promised: bool) -> None:
        """A decision was called unfair for the first time when so many had been made."""
        self._reach(decided - 1)
        self.flags[(decided - 1) // self.width] += (1.0, not promised)

    def target_by(self, edges: NDArray[np.int64]) -> Floats:
        """What the targets allow by each of these numbers of decisions."""
        allowed = np.zeros(len(edges))
        ends = [start for start, _ in self.targets[1:]] + [np.inf]
        for (start, target), end in zip(self.targets, ends, strict=False):
            allowed += (target or 0.0) * np.clip(edges - start, 0, end - start)
        return allowed

    def _reach(self, number: int) -> None:
        """See that the decision of this number has a span."""
        while number >= self.width * SPANS:
            self.rewards, self.flags, self.width = _joined(self.rewards), _joined(self.flags), 2 * self.width

    def copied(self) -> Self:
        """A copy that nothing taken in later reaches."""
        twin = self.__class__.__new__(self.__class__)
        twin.__dict__.update(self.__dict__)
        twin.rewards, twin.flags = self.rewards.copy(), self.flags.copy()
        twin.kinds, twin.targets = dict(self.kinds), list(self.targets)
        return twin

    def state(self) -> dict[str, Any]:
        """All of it, for a snapshot."""
        return {
            "width": self.width,
            "rewards": self.rewards,
            "kinds": dict(self.kinds),
            "news": self.news,
            "taught": self.taught,
            "flags": self.flags,
            "targets": [list(change) for change in self.targets],
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The same, to the bit."""
        history = cls()
        history.width, history.news = int(state["width"]), int(state["news"])
        history.taught, history.flags = int(state["taught"]), np.array(state["flags"], dtype=np.float64)
        history.targets = [(int(start), target) for start, target in state["targets"]]
        history.rewards = np.array(state["rewards"], dtype=np.float64).reshape(SPANS, 3)
        history.kinds = {str(kind): int(number) for kind, number in state["kinds"].items()}
        return history


def _joined(spans: Floats) -> Floats:
    """Each two spans become one."""
    joined = np.zeros_like(spans)
    joined[: SPANS // 2] = spans[::2] + spans[1::2]
    return joined


def teaches(kind: str, body: Mapping[str, Any]) -> bool:
    """Whether a review or an answer says anything: "unsure" and the like do not, nor does what was asked for twice.

    >>> teaches("answer", {"unfair": None}), teaches("review", {"kind": "one_bit", "circumstances": None})
    (False, True)
    """
    if kind == "answer":
        return body["unfair"] is not None
    if kind != "review" or (body["circumstances"] or {}).get("repeat"):
        return False
    return body["kind"] != "partial" or bool(body["unfair"] or body["fair"])
