"""HostileAuditor: finds something to flag whenever there is something, so as to keep everybody from learning."""

from __future__ import annotations

import numpy as np

from evenhand._internal.randomness import Seed, as_generator
from evenhand.auditors.gaps import gaps, unequal_odds
from evenhand.records.decision import Decision, Review


class HostileAuditor:
    """Flags the pair with the widest gap in every decision and calls all others fair; complete reviews.

    Whatever is played, somebody is flagged, unless all odds are equal; and the fair verdicts on all other pairs say
    that there is still something to gain. Of pairs with equally wide gaps one is drawn.

    >>> from evenhand.records.decision import Decision
    >>> odds = np.array([0.7, 0.2, 0.1])
    >>> HostileAuditor(seed=0).review(Decision("", 0, np.eye(3), odds, (0,), 1, np.zeros(3))).unfair
    ((0, 2),)
    """

    def __init__(self, *, seed: Seed = None) -> None:
        self._rng = as_generator(seed)

    def review(self, decision: Decision) -> Review:
        """A complete review with one flag, or none if all odds are equal."""
        widths = np.triu(np.where(unequal_odds(decision), gaps(decision), 0.0), 1)
        lots = self._rng.random(widths.shape)  # as many, whatever the odds
        if not widths.any():
            return Review.complete()
        widest = widths >= widths.max()
        first, second = np.unravel_index(int(np.argmax(np.where(widest, lots, -1.0))), widths.shape)
        return Review.complete(unfair=[(int(first), int(second))])
