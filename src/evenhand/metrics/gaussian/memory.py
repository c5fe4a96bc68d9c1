"""Memory: the informative half-spaces, kept to start again from another prior should the bound grow."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.append_only import GrowingRows
from evenhand._internal.jit import jit
from evenhand.metrics.half_spaces import HalfSpaces

Floats = NDArray[np.float64]


class Memory:
    """The newest `max_rows` half-spaces. Copies share the table, so that a review copies none of the earlier ones.

    A row of the table is a normal, a threshold and a side: (n, m + 2).
    """

    def __init__(self, n_unknowns: int, max_rows: int) -> None:
        self._rows = GrowingRows(n_unknowns + 2)
        self._max_rows = max_rows

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, new: HalfSpaces, scores: Floats, low: float = -np.inf, high: float = np.inf) -> None:
        """Remember those with low < score < high as the newest; the oldest go once there are twice too many."""
        columns = (new.normals, new.thresholds, new.sides, scores)
        self._rows.add(_write(*columns, low, high, self._rows.room(len(new)), len(self._rows)))
        if len(self._rows) > 2 * self._max_rows:
            newest, self._rows = self._rows.all()[-self._max_rows :], GrowingRows(new.normals.shape[1] + 2)
            self._rows.room(self._max_rows)[: self._max_rows] = newest
            self._rows.add(self._max_rows)

    def copied(self) -> Self:
        """A copy that remembers more and leaves this one unchanged. O(1)."""
        twin = self.__class__.__new__(self.__class__)
        twin._rows, twin._max_rows = self._rows.copied(), self._max_rows
        return twin

    def all(self) -> HalfSpaces:
        """The newest `max_rows`."""
        rows = self._rows.all()[-self._max_rows :]
        return HalfSpaces(rows[:, :-2].copy(), rows[:, -2].copy(), np.ascontiguousarray(rows[:, -1]))


@jit
def _write(
    normals: Floats,
    thresholds: Floats,
    sides: Floats,
    scores: Floats,
    low: float,
    high: float,
    table: Floats,
    start: int,
) -> int:
    """Write the rows with low < score < high to the table from `start` on; return how many."""
    place, m = start, normals.shape[1]
    for row in range(len(scores)):
        if low < scores[row] < high:
            for i in range(m):
                table[place, i] = normals[row, i]
            table[place, m], table[place, m + 1] = thresholds[row], sides[row]
            place += 1
    return place - start
