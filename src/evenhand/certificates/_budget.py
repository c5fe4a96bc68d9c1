"""SearchBudget: how much work a search for proofs may do."""

from __future__ import annotations

import math
import time

BIG = 300.0
"""Work of one multiplication of whole numbers of hundreds of digits, as exact checks do; 1 is one of floats."""


class OutOfBudget(Exception):
    """The search has used up its budget; what it was about stays unknown."""


class SearchBudget:
    """Counts work, in multiplications of floats (one or two billion a second), and raises OutOfBudget beyond the limit.

    work: the same in every run, so that what depends on it can be replayed to the bit. seconds: from now on, for
    callers who wait. within: a wider budget that counts the same work.

    >>> budget = SearchBudget(work=100)
    >>> budget.spend(60)
    >>> budget.spend(60)
    Traceback (most recent call last):
    ...
    evenhand.certificates._budget.OutOfBudget
    >>> budget.is_spent
    True
    """

    def __init__(
        self, work: float = math.inf, seconds: float | None = None, within: SearchBudget | None = None
    ) -> None:
        self._left, self._within, self.used = work, within, 0.0
        self._deadline = math.inf if seconds is None else time.monotonic() + seconds

    def spend(self, work: float) -> None:
        """Count work that is about to be done, or was just done."""
        self._left -= work
        self.used += work
        if self._within is not None:
            self._within.spend(work)
        if self.is_spent:
            raise OutOfBudget

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self._left < 0.0 or (self._deadline < math.inf and time.monotonic() > self._deadline)


UNLIMITED = SearchBudget()
