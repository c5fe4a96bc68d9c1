"""State: what a desk knows after so many lines of its ledger, published for everybody to decide from."""

from __future__ import annotations

from dataclasses import dataclass, field

from evenhand.desk.projection.quiet_bandit import QuietBandit
from evenhand.desk.projection.round_history import RoundHistory


@dataclass(frozen=True)
class State:
    """What decisions are made from: the fold of all lines up to `seq`."""

    seq: int
    bandit: QuietBandit
    passed_over: int = 0
    """How many lines could not be learned from."""
    history: RoundHistory = field(default_factory=RoundHistory, compare=False)
    """What became of the decisions."""
