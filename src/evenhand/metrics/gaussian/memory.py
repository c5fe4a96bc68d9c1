"""Memory: the half-spaces that taught something, kept to be told again should the bound grow."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.append_only import GrowingRows
from evenhand.metrics.half_spaces import HalfSpaces

Floats = NDArray[np.float64]

REMEMBERED_PER_UNKNOWN = 64
MOST_NUMBERS_REMEMBERED = 2_000_000
"""Verdicts kept for each unknown, and numbers kept in all: enough to find the way back after the bound was doubled."""


def most_remembered(n_unknowns: int) -> int:
    """How many verdicts are remembered."""
    return min(REMEMBERED_PER_UNKNOWN * n_unknowns, max(MOST_NUMBERS_REMEMBERED // n_unknowns, 1))


def remembered(memory: HalfSpaces, new: HalfSpaces) -> HalfSpaces:
    """The newest of what was told, within both limits."""
    return memory.joined(new).take(slice(-most_remembered(memory.normals.shape[1]), None))


class Memory:
    """The newest half-spaces within the limits of `most_remembered`, so that a review copies none from before it.

    A row of the table is a normal, a threshold and a side: (n, m + 2).
    """

    def __init__(self, n_unknowns: int) -> None:
        self._rows = GrowingRows(n_unknowns + 2)
        self._most = most_remembered(n_unknowns)

    @classmethod
    def of(cls, half_spaces: HalfSpaces) -> Self:
        """These."""
        memory = cls(half_spaces.normals.shape[1])
        memory.add(half_spaces)
        return memory

    def __len__(self) -> int:
        return len(self._rows)

    def room(self, n: int) -> Floats:
        """The table with room for n more; what is written there, after the rows there are, counts once it `took`."""
        return self._rows.room(n)

    def took(self, n: int) -> None:
        """So many were written; the oldest are forgotten once there are twice too many."""
        self._rows.add(n)
        most = self._most
        if len(self._rows) > 2 * most:
            newest, self._rows = self._rows.all()[-most:], GrowingRows(self._rows.all().shape[1])
            self._rows.room(most)[:most] = newest
            self._rows.add(most)

    def add(self, new: HalfSpaces) -> None:
        """Remember these as the newest."""
        place = slice(len(self), len(self) + len(new))
        table = self.room(len(new))
        table[place, :-2], table[place, -2], table[place, -1] = new.normals, new.thresholds, new.sides
        self.took(len(new))

    def copied(self) -> Memory:
        """A copy that remembers more, and leaves this one as it is. O(1)."""
        twin = Memory.__new__(Memory)
        twin._rows, twin._most = self._rows.copied(), self._most
        return twin

    def all(self) -> HalfSpaces:
        """The newest of what was told, within the limits."""
        rows = self._rows.all()
        rows = rows[-self._most :]
        return HalfSpaces(rows[:, :-2].copy(), rows[:, -2].copy(), rows[:, -1].copy())
