"""What FairBandit and everything one would do instead have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from evenhand.metrics import Learned
from evenhand.records.decision import Decision, Review


class Policy(Protocol):
    """Decides among contexts and learns from what comes back."""

    def decide(self, contexts: Any) -> Decision:
        """Choose among the candidates with these contexts (k, d)."""
        ...

    def learn(
        self, decision: Decision, *, rewards: Mapping[int, float] | None = None, review: Review | None = None
    ) -> Learned:
        """Learn from outcomes and a review of a decision."""
        ...
