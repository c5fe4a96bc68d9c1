"""Lists, sets and tables that only grow: a copy costs nothing, and neither sees what the other adds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from itertools import islice
from typing import Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item")


class GrowingList(Generic[Item]):
    """A list to which items are added at the end, and nothing else.

    Copies share memory: each reads as far as it had come, and whoever adds to what another has added to already takes
    a list of its own first. That happens when both of two copies grow; a copy made to be thrown away costs nothing.

    >>> items = GrowingList([1, 2])
    >>> twin = items.copied()
    >>> items.append(3)
    >>> twin.append(4)
    >>> list(items), list(twin)
    ([1, 2, 3], [1, 2, 4])
    """

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._items = list(items)
        self._length = len(self._items)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items[: self._length])

    def since(self, start: int) -> list[Item]:
        """All items but the first `start`."""
        return self._items[start : self._length]

    def append(self, item: Item) -> None:
        """Add one item."""
        if len(self._items) != self._length:
            self._items = self._items[: self._length]
        self._items.append(item)
        self._length += 1

    def copied(self) -> Self:
        """A copy that grows on its own. O(1)."""
        twin = self.__class__.__new__(self.__class__)
        twin._items, twin._length = self._items, self._length
        return twin


class GrowingSet(Set[int]):
    """A set of whole numbers to which numbers are added, and nothing else; copies as in `GrowingList`.

    >>> numbers = GrowingSet([3, 1])
    >>> twin = numbers.copied()
    >>> numbers.add(7)
    >>> numbers == {1, 3, 7}, twin == {1, 3}, 7 in twin
    (True, True, False)
    """

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._places = {number: place for place, number in enumerate(dict.fromkeys(numbers))}
        self._length = len(self._places)

    def __contains__(self, number: object) -> bool:
        return self._places.get(number, self._length) < self._length  # type: ignore[call-overload, no-any-return]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[int]:
        return islice(iter(list(self._places)), self._length)

    def add(self, number: int) -> None:
        """Add one number, if it is not there yet."""
        if number in self:
            return
        if len(self._places) != self._length:
            self._places = {each: place for place, each in enumerate(self)}
        self._places[number] = self._length
        self._length += 1

    def copied(self) -> GrowingSet:
        """A copy that grows on its own. O(1)."""
        twin = GrowingSet.__new__(GrowingSet)
        twin._places, twin._length = self._places, self._length
        return twin


class GrowingRows:
    """A table of numbers to which rows are added, and nothing else; copies as in `GrowingList`.

    A kernel may write rows straight into the room after the last one; `add` says how many it wrote.

    >>> rows = GrowingRows(2)
    >>> twin = rows.copied()
    >>> rows.room(1)[len(rows)] = 3.0, 4.0
    >>> rows.add(1)
    >>> rows.all().tolist(), twin.all().tolist()
    ([[3.0, 4.0]], [])
    """

    def __init__(self, width: int) -> None:
        self._shared = _Table(np.empty((0, width)))
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def all(self) -> NDArray[np.float64]:
        """All rows, (n, width); a view, not to be written to."""
        return self._shared.rows[: self._length]

    def room(self, n: int) -> NDArray[np.float64]:
        """The table, with room for n rows after those there are. Twice as large whenever it is full."""
        if self._shared.used != self._length or self._length + n > len(self._shared.rows):
            rows = np.empty((max(2 * self._length, self._length + n), self._shared.rows.shape[1]))
            rows[: self._length] = self.all()
            self._shared = _Table(rows, self._length)
        return self._shared.rows

    def add(self, n: int) -> None:
        """The first n rows of the room are filled."""
        self._length = self._shared.used = self._length + n

    def copied(self) -> Self:
        """A copy that grows on its own. O(1)."""
        twin = self.__class__.__new__(self.__class__)
        twin._shared, twin._length = self._shared, self._length
        return twin


class _Table:
    """Memory that copies share: as far as it is used, nothing is written to it any more."""

    def __init__(self, rows: NDArray[np.float64], used: int = 0) -> None:
        self.rows, self.used = rows, used
