"""Pairs that wait for a reviewer: what is known of each, and what every store of them does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Protocol


@dataclass(frozen=True)
class WaitingPair:
    """A pair of a decision that a reviewer should look at, and why."""

    decision: str
    """The id of the decision's event."""
    first: str
    second: str
    """The candidates' ids."""
    reason: str
    gap: float
    distance: float
    """The estimate of how different they are, when the pair was put here."""
    doubt: float
    chance_unfair: float
    priority: float
    """Pairs are handed out in the order of this, the highest first."""
    copy: int = 0
    """0, or 1 where a second reviewer is asked about the same pair."""

    @property
    def listed(self) -> Listed:
        """Where it stands in the order of the queue."""
        return Listed(self.priority, self.decision, self.first, self.second)

    @property
    def order(self) -> tuple[float, str, str, str, int]:
        """Which of two places comes first: the one of which this is the larger."""
        return (self.priority, self.decision, self.first, self.second, self.copy)

    def to_dict(self) -> dict[str, Any]:
        """Plain strings and numbers."""
        return asdict(self)


class Listed(NamedTuple):
    """Where a pair stands in the order of the queue."""

    priority: float
    decision: str
    first: str
    second: str


@dataclass(frozen=True)
class Answered:
    """Which pairs of a decision a reviewer has answered on; None for all."""

    decision: str
    pairs: frozenset[frozenset[str]] | None
    reviewer: str | None


class WaitingPairs(Protocol):
    """A store of waiting pairs."""

    def put(self, desk: str, pairs: Sequence[WaitingPair], most: int, *, anew: bool = False) -> None:
        """Add pairs; those there already stay as they are, or with `anew` get this reason and this priority.

        Beyond `most` the least telling are dropped.
        """

    def lease(self, desk: str, n: int, reviewer: str, now: float, until: float) -> list[WaitingPair]:
        """The n most telling pairs that nobody else looks at, kept for this reviewer until the given time.

        What the reviewer has on lease already comes again, before anything else. Of a pair with two places nobody gets
        both.
        """

    def listed(self, desk: str, n: int, now: float, after: Listed | None = None) -> list[WaitingPair]:
        """The n most telling pairs that nobody looks at, each once, none of them leased; those that come after one.

        `after` need not wait any more. A pair with two places of different priority may come on two pages.
        """

    def claim(
        self, desk: str, decision: str, pair: frozenset[str], place: int, reviewer: str, now: float, until: float
    ) -> bool:
        """Keep a place for a reviewer who wants the pair after all, also if they had declined it.

        False if somebody else looks at it; True also if it does not wait: then nobody else gets it.
        """

    def settle(self, desk: str, answers: Sequence[Answered]) -> None:
        """Reviewers have answered: one place of each pair waits no more. Told twice, it is the same one place."""

    def decline(self, desk: str, decision: str, pair: frozenset[str], reviewer: str) -> None:
        """A reviewer will not answer on a pair: it waits on, for others."""

    def count(self, desk: str) -> int:
        """How many places wait."""
