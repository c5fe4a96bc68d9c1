"""Lists, sets and tables that only grow. Copies share memory, so that keeping an older version costs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from itertools import islice
from typing import Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item")


class GrowingList(Generic[Item]):
    """An immutable list; `plus` gives a longer one in O(1) that shares its memory.

    Two lists grown from one each keep their own items: the second takes a copy first.

    >>> items = GrowingList([1, 2])
    >>> list(items.plus(3)), list(items.plus(4)), list(items)
    ([1, 2, 3], [1, 2, 4], [1, 2])
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

    def plus(self, item: Item) -> Self:
        """The list with one more item."""
        longer = self.__class__.__new__(self.__class__)
        longer._items = self._items if len(self._items) == self._length else self._items[: self._length]
        longer._items.append(item)
        longer._length = self._length + 1
        return longer


class GrowingSet(Set[int]):
    """An immutable set of whole numbers; `plus` works as in `GrowingList`.

    >>> numbers = GrowingSet([3, 1])
    >>> numbers.plus(7) == {1, 3, 7}, numbers == {1, 3}, 7 in numbers
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

    def plus(self, number: int) -> GrowingSet:
        """The set with this number in it."""
        if number in self:
            return self
        larger = GrowingSet.__new__(GrowingSet)
        is_shared = len(self._places) != self._length
        larger._places = {each: place for place, each in enumerate(self)} if is_shared else self._places
        larger._places[number] = self._length
        larger._length = self._length + 1
        return larger


class GrowingRows:
    """A table of numbers to which rows are added at the end. A copy costs nothing and grows on its own.

    A kernel writes rows directly into the room after the last one; `add` says how many it wrote.

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
        """The table with room for n more rows. Its size doubles whenever it is full."""
        if self._shared.used != self._length or self._length + n > len(self._shared.rows):
            rows = np.empty((max(2 * self._length, self._length + n), self._shared.rows.shape[1]))
            rows[: self._length] = self.all()
            self._shared = _Table(rows, self._length)
        return self._shared.rows

    def add(self, n: int) -> None:
        """Count the first n rows of the room as filled."""
        self._length = self._shared.used = self._length + n

    def extensible(self, n: int) -> tuple[Self, NDArray[np.float64]]:
        """A copy that grows on its own, and its table with room for n more rows."""
        twin = self.copied()
        return twin, twin.room(n)

    def copied(self) -> Self:
        """A copy that grows on its own. O(1)."""
        twin = self.__class__.__new__(self.__class__)
        twin._shared, twin._length = self._shared, self._length
        return twin


class _Table:
    """Memory shared by copies; rows below `used` are never written again."""

    def __init__(self, rows: NDArray[np.float64], used: int = 0) -> None:
        self.rows, self.used = rows, used
