"""Rounds of different sizes as one padded table, so that all of them are computed at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask


@dataclass(frozen=True, eq=False)
class PaddedRounds:
    """Where each of N candidates stands in a table of n rounds by the size of the largest."""

    rounds: Indices
    """(N,), the round of each candidate."""
    places: Indices
    """(N,), its place in the round."""
    sizes: Indices
    """(n,)."""

    @classmethod
    def of(cls, starts: Indices) -> Self:
        """From the first candidate of each round and the end of the last, (n + 1,)."""
        sizes = np.diff(starts)
        rounds = np.repeat(np.arange(len(sizes)), sizes)
        return cls(rounds, np.arange(starts[-1]) - starts[:-1][rounds], sizes)

    @property
    def is_there(self) -> Mask:
        """(n, k), which places of the table are candidates."""
        return np.asarray(np.arange(max(self.sizes, default=0)) < self.sizes[:, None])

    def table(self, values: Floats) -> Floats:
        """Values of candidates (N,) as a table (n, k), 0 elsewhere."""
        padded = np.zeros(self.is_there.shape)
        padded[self.rounds, self.places] = values
        return padded

    def flat(self, table: Floats) -> Floats:
        """The values of candidates, (N,), of a table (n, k)."""
        return np.asarray(table[self.rounds, self.places])


def round_sums(values: Floats, starts: Indices) -> Floats:
    """The sums over the candidates of each round: (N,) -> (n,).

    >>> round_sums(np.array([1.0, 2.0, 3.0]), np.array([0, 2, 3])).tolist()
    [3.0, 3.0]
    """
    return np.asarray(np.add.reduceat(values, starts[:-1]))
