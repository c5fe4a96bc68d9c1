"""PureNoiseAuditor: flags by lot; there is nothing to learn from it."""

from __future__ import annotations

from evenhand._internal.randomness import Seed, as_generator
from evenhand.auditors.checks import as_share
from evenhand.auditors.gaps import unequal_odds
from evenhand.auditors.said import flagging
from evenhand.records.decision import Decision, Review


class PureNoiseAuditor:
    """Flags each pair with unequal odds with probability `rate`, whoever they are; complete reviews.

    >>> import numpy as np
    >>> decision = Decision("", 0, np.eye(3), np.array([0.6, 0.2, 0.2]), (0,), 1, np.zeros(3))
    >>> PureNoiseAuditor(1.0, seed=0).review(decision).unfair
    ((0, 1), (0, 2))
    """

    def __init__(self, rate: float, *, seed: Seed = None) -> None:
        self.rate = as_share("rate", rate)
        self._rng = as_generator(seed)

    def review(self, decision: Decision) -> Review:
        """A complete review; as many numbers are drawn whatever the odds."""
        unequal = unequal_odds(decision)
        return flagging((self._rng.random(unequal.shape) < self.rate) & unequal)
