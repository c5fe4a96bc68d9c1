"""What was measured: how many times as long as evenhand a peer takes for the same work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Size(Enum):
    """How much is measured: TINY only shows that everything runs, QUICK takes minutes, FULL an hour."""

    TINY = "tiny"
    QUICK = "quick"
    FULL = "full"


@dataclass(frozen=True)
class Measurement:
    """One line of the table; seconds are those of one call or one round. Without a ratio, `note` says why."""

    part: str
    work: str
    peer: str
    ours: float | None = None
    theirs: float | None = None
    ratio: float | None = None
    """The median over the repetitions of theirs / ours: above 1 evenhand is the faster one."""
    low: float | None = None
    """The lower quartile of the ratio."""
    high: float | None = None
    """The upper quartile of the ratio."""
    repetitions: int = 0
    goal: float | None = None
    """The ratio to reach at least."""
    stopped: bool = False
    """Whether the peer ran out of patience before it was done: the ratio is at least this."""
    along: float | None = None
    """Where on the horizontal axis of a sweep this measurement belongs: the number of candidates."""
    note: str = ""
    details: dict[str, float] = field(default_factory=dict)

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached; None if there is none, or nothing was measured."""
        return None if self.goal is None or self.ratio is None else self.ratio >= self.goal

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, the verdict on the goal among them."""
        return {**asdict(self), "met": self.met}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Measurement:
        """The measurement that `to_dict` wrote down."""
        return cls(**{name: value for name, value in record.items() if name != "met"})


@dataclass(frozen=True)
class Case:
    """One thing to measure, as the progress bar names it; it may give several lines."""

    part: str
    title: str
    measure: Callable[[], list[Measurement]]


def compared(part: str, work: str, peer: str, seconds: Floats, **more: Any) -> Measurement:
    """A line from the seconds (n, 2) of ours and theirs, each row one repetition; `more` goes into the line."""
    ratios = seconds[:, 1] / seconds[:, 0]
    ours, theirs = (float(value) for value in np.median(seconds, axis=0))
    low, middle, high = (float(value) for value in np.quantile(ratios, [0.25, 0.5, 0.75]))
    return Measurement(part, work, peer, ours, theirs, middle, low, high, len(seconds), **more)
