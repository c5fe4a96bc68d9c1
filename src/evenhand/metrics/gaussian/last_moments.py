"""The moments of the pairs that were asked about last: several questions on one decision are usual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.metrics.verdicts import Pairs, all_pairs


@dataclass(frozen=True, eq=False)
class LastMoments:
    """Mean and standard deviation, under one belief, of the squared distances of some pairs, each (n,)."""

    belief: Any = None
    pairs: Pairs | None = None
    n_candidates: int = 0
    """k, if these are all pairs of k candidates, in order; else 0."""
    mean: Floats | None = None
    sd: Floats | None = None

    @classmethod
    def of(cls, belief: Any, pairs: Pairs, mean: Floats, sd: Floats) -> LastMoments:
        """The moments of these pairs."""
        k = int(pairs.indices[-1, 1]) + 1 if len(pairs) else 0
        is_all = k * (k - 1) // 2 == len(pairs) and np.array_equal(pairs.indices, all_pairs(k))
        return cls(belief, pairs, k if is_all else 0, mean, sd)

    def look_up(self, belief: Any, pairs: Pairs) -> tuple[Floats, Floats] | None:
        """The moments of these pairs, if all are among those asked about last under the same belief; to the bit."""
        if belief is not self.belief or self.pairs is None or self.mean is None or self.sd is None:
            return None
        if pairs is self.pairs:
            return self.mean.copy(), self.sd.copy()
        k, (i, j) = self.n_candidates, pairs.indices.T
        if not len(pairs) or np.any(j >= k) or np.any(i >= j):
            return None
        places = i * k - i * (i + 1) // 2 + (j - i - 1)
        if not np.array_equal(self.pairs.differences[places], pairs.differences):  # candidates of another decision
            return None
        return self.mean[places], self.sd[places]
