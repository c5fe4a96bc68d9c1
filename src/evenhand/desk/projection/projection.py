"""Projection: what a desk knows after a number of events, published for decisions to be made from."""

from __future__ import annotations

from dataclasses import dataclass, field

from evenhand.desk.projection.quiet_bandit import QuietBandit
from evenhand.desk.projection.round_history import RoundHistory


@dataclass(frozen=True)
class Projection:
    """The events up to `seq`, reduced to a bandit that decides."""

    seq: int
    bandit: QuietBandit
    skipped: int = 0
    """Events that the bandit could not learn from."""
    history: RoundHistory = field(default_factory=RoundHistory, compare=False)
    """Rewards, flags and counts over time."""
