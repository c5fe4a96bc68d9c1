"""What every simulated reviewer does."""

from __future__ import annotations

from typing import Protocol

from evenhand.decision import Decision, Review


class Auditor(Protocol):
    """Looks at a decision and says what was unfair: the paper's fairness oracle."""

    def review(self, decision: Decision) -> Review:
        """The review of one decision."""
        ...
