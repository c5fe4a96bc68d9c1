"""The lots of a desk: for each decision a stream of its own, known from the desk's seed and the decision's number."""

from __future__ import annotations

from typing import Any

import numpy as np

LOTS = 2
"""The streams spawned from a desk's seed: 0 the bandit's key, 1 the metric learner's, 2 the lots."""


class Lots:
    """Streams of random numbers, one for each decision: Philox, keyed by the seed, its counter set by the number.

    The same numbers come out of `np.random.Philox(key=lots.key, counter=[0, number, 0, 0])`, in any order of asking.

    >>> first = Lots(7).of(3).random()
    >>> fresh = np.random.Generator(np.random.Philox(key=Lots(7).key, counter=[0, 3, 0, 0]))
    >>> first == fresh.random()
    True
    """

    def __init__(self, seed: int) -> None:
        self.key = np.random.SeedSequence(seed).spawn(LOTS + 1)[LOTS].generate_state(2, np.uint64)
        self._bits = np.random.Philox(key=self.key)
        self._blank = self._bits.state
        self._generator = np.random.Generator(self._bits)

    def of(self, number: int) -> np.random.Generator:
        """The stream of decision `number`; valid until the next call, since one generator is wound to each in turn.

        Winding takes a microsecond, a new generator seventeen.
        """
        self._blank["state"]["counter"][:] = (0, number, 0, 0)
        self._bits.state = self._blank
        return self._generator

    @staticmethod
    def record(number: int) -> dict[str, Any]:
        """What a decision's record says of its stream."""
        return {"generator": "Philox", "counter": [0, number, 0, 0]}
