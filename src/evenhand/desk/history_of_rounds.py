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
        self.latest_flag = 0
        """The most decisions that were made from a flagged one to the flag, that one among them."""

    def line(self, seq: int, kind: str) -> None:
        """A line of the ledger was taken in."""
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if kind in MARKS_NEWS:
            self.news = seq

    def outcome(self, number: int, rewards: Mapping[str, float]) -> None:
        """Rewards were told of the decision of this number."""
        while number >= self.width * SPANS:
            self._widen()
        span = self.rewards[number // self.width]
        for reward in rewards.values():  # one number at a time is quicker than three as an array
            span[0] += 1.0
            span[1] += reward
            span[2] += reward * reward

    def flag(self, number: int, decided: int) -> None:
        """The decision of this number was called unfair when so many had been made."""
        self.latest_flag = max(self.latest_flag, decided - number)

    def _widen(self) -> None:
        """Each two spans become one."""
        joined = np.zeros_like(self.rewards)
        joined[: SPANS // 2] = self.rewards[::2] + self.rewards[1::2]
        self.rewards, self.width = joined, 2 * self.width

    def copied(self) -> Self:
        """A copy that nothing taken in later reaches."""
        twin = self.__class__.__new__(self.__class__)
        twin.__dict__.update(self.__dict__)
        twin.rewards, twin.kinds = self.rewards.copy(), dict(self.kinds)
        return twin

    def state(self) -> dict[str, Any]:
        """All of it, for a snapshot."""
        return {
            "width": self.width,
            "rewards": self.rewards,
            "kinds": dict(self.kinds),
            "news": self.news,
            "latest_flag": self.latest_flag,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The same, to the bit."""
        history = cls()
        history.width, history.news = int(state["width"]), int(state["news"])
        history.latest_flag = int(state["latest_flag"])
        history.rewards = np.array(state["rewards"], dtype=np.float64).reshape(SPANS, 3)
        history.kinds = {str(kind): int(number) for kind, number in state["kinds"].items()}
        return history
