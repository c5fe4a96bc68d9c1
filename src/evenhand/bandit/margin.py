"""Margin: all distances are played a little shorter whenever somebody was flagged, so that flags stay as rare as asked.

It needs no metric at all: the promise holds for any way of flagging.
"""

from __future__ import annotations

from typing import Any, Self

from evenhand._internal.checks import is_number
from evenhand.errors import InvalidInput

STEP = 0.05
"""gamma: how much shorter one flagged round makes all distances. A larger one forgets faster and wavers more."""


class Margin:
    """Holds the share of flagged rounds at or below `target`, whoever flags, and why.

    Distances are multiplied by `scale` = max(0, s). Every decision adds step * target to s, up to 1; every flagged
    round takes off step. s is not clipped from below: that would forgive debts.

    Promise: after T rounds, with at most D decisions still under review at any time,

        flagged rounds <= target * T + 1/step + 1 + D,    for *any* reviewer, even one who follows no metric.

    Proof. With s <= 0 all distances are 0, so all odds are equal, and a flag on equal odds is no flag. So a flagged
    round was decided with s > 0. The first flag that takes s to 0 or below takes it to more than -step; after it only
    decisions already under review, at most D, can still be flagged before s is above 0 again: s > -step (1 + D),
    always. Every flagged round takes off step, every decision adds at most step * target, and s starts at 1:
    -step (1 + D) < s <= 1 + step * target * T - step * flagged. Divide by step.

    The same proof holds with D counted afterwards: D is at most the number of flags that came while s <= 0.

    >>> margin = Margin(0.01)
    >>> for _ in range(20):
    ...     margin.flagged()
    >>> margin.scale
    0.0
    >>> for _ in range(1000):
    ...     margin.decided()
    >>> round(margin.scale, 3)
    0.5
    """

    def __init__(self, target: float | None, step: float = STEP) -> None:
        if target is not None and (not is_number(target) or not 0 < target < 1):
            raise InvalidInput(
                f"target_unfair_share is {target!r}; allowed is a share of rounds between 0 and 1, or None"
            )
        self.target = None if target is None else float(target)
        self.step = float(step)
        self._s = 1.0

    @property
    def scale(self) -> float:
        """What all distances are multiplied by, from 0 to 1."""
        return max(0.0, self._s)

    @property
    def is_working(self) -> bool:
        """Whether there is a target, and odds that can still be drawn closer together."""
        return self.target is not None and self._s > 0.0

    def decided(self, rounds: int = 1) -> None:
        """So many more rounds were decided."""
        if self.target is not None:
            self._s = min(1.0, self._s + rounds * self.step * self.target)

    def flagged(self) -> None:
        """One more round was flagged."""
        if self.target is not None:
            self._s -= self.step

    def copied(self) -> Margin:
        """A copy that goes its own way; without a target there is no way to go."""
        if self.target is None:
            return self
        margin = Margin.__new__(Margin)
        margin.__dict__.update(self.__dict__)
        return margin

    def state(self) -> dict[str, Any]:
        """Settings and the scale, with its debts."""
        return {"target": self.target, "step": self.step, "s": self._s}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The same, to the bit."""
        margin = cls(state["target"], state["step"])
        margin._s = float(state["s"])
        return margin
