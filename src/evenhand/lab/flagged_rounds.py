"""FlaggedRounds: how many rounds a reviewer flagged, as she answered, true or not."""

from __future__ import annotations

from collections.abc import Iterable

from evenhand.auditors import Arrival
from evenhand.auditors.pairs import unequal_pairs
from evenhand.records.decision import Decision, Review


def is_flag(decision: Decision, review: Review) -> bool:
    """Whether `review` calls something unfair in `decision` that could be: equal odds cannot, a flag on them is none.

    >>> import numpy as np
    >>> decision = Decision("", 0, np.eye(3), np.array([0.6, 0.2, 0.2]), (0,), 1, np.zeros(3))
    >>> [is_flag(decision, Review.complete(unfair=[pair])) for pair in ((0, 1), (1, 2))]
    [True, False]
    """
    unequal = unequal_pairs(decision)
    return bool(review.any_unfair and unequal.any()) or any(bool(unequal[pair]) for pair in review.unfair)


class FlaggedRounds:
    """Counts the rounds whose decision was flagged by one review or more; late reviews count for their own round.

    A round counts once, when its first flag comes in. One bit of memory a round.

    >>> import numpy as np
    >>> decision = Decision("", 7, np.eye(2), np.array([0.9, 0.1]), (0,), 1, np.zeros(2))
    >>> flagged = FlaggedRounds()
    >>> flagged.add([(decision, Review.one_bit(any_unfair=True)), (decision, Review.complete(unfair=[(0, 1)]))])
    >>> flagged.count
    1
    """

    def __init__(self) -> None:
        self.count = 0
        self._bits = bytearray()

    def add(self, reviews: Iterable[Arrival]) -> None:
        """Enter reviews as they come in, each with the decision it speaks of."""
        for decision, review in reviews:
            if is_flag(decision, review):
                self._mark(decision.round)

    def _mark(self, round: int) -> None:
        byte, bit = divmod(round, 8)
        self._bits.extend(bytes(max(0, byte + 1 - len(self._bits))))
        if not self._bits[byte] >> bit & 1:
            self._bits[byte] |= 1 << bit
            self.count += 1
