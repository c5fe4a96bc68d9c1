"""Margin: a factor on all distances that keeps flagged rounds below a target share, whoever flags."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from evenhand._internal.checks import check_number_or_none

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

    def state(self) -> dict[str, Any]:
        """Settings and s."""
        return asdict(self)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The margin with this `state`."""
        return cls(state["target"], float(state["step"]), float(state["s"]))
