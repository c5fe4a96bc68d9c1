"""Lists, sets, maps and tables that only grow: keeping an older version costs little."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import islice
from typing import Generic, Self, TypeVar

import numpy as np

from evenhand._internal.arrays import Floats

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


CHUNK = 512
"""Numbers of a `GrowingMap` that one change copies; with n of them, n / CHUNK references are copied as well."""


class GrowingMap:
    """An immutable map of whole numbers to numbers; `plus` gives one with one value set and shares the other chunks.

    >>> values = GrowingMap({3: 0.5})
    >>> values.plus(3, 0.75).get(3, 0.0), values.get(3, 0.0), values.get(4, 0.0)
    (0.75, 0.5, 0.0)
    """

    def __init__(self, values: Mapping[int, float] | None = None) -> None:
        self._chunks: dict[int, dict[int, float]] = {}
        for key, value in (values or {}).items():
            self._chunks.setdefault(key // CHUNK, {})[key] = value

    def get(self, key: int, default: float) -> float:
        """The value at a key."""
        return self._chunks.get(key // CHUNK, {}).get(key, default)

    def items(self) -> list[tuple[int, float]]:
        """All keys and values, in the order of the keys."""
        return sorted(item for chunk in self._chunks.values() for item in chunk.items())

    def plus(self, key: int, value: float) -> GrowingMap:
        """The map with this value at this key."""
        place, larger = key // CHUNK, GrowingMap()
        larger._chunks = {**self._chunks, place: {**self._chunks.get(place, {}), key: value}}
        return larger


class GrowingRows:
    """An immutable table of numbers; `plus` gives a longer one that shares its memory, which grows when it is full.

    >>> rows = GrowingRows(2)
    >>> longer = rows.plus(np.array([[3.0, 4.0]]))
    >>> longer.all().tolist(), rows.all().tolist()
    ([[3.0, 4.0]], [])
    """

    def __init__(self, width: int) -> None:
        self._table = np.empty((0, width))
        self._used = [0]
        """The number of rows of the table that are taken, shared by all versions: those are never written again."""
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def all(self) -> Floats:
        """All rows, (n, width); a view, not to be written to."""
        return self._table[: self._length]

    def plus(self, rows: Floats) -> Self:
        """The table with these rows, (n, width), at the end. O(n), amortised."""
        start, end = self._length, self._length + len(rows)
        longer = self.__class__.__new__(self.__class__)
        if self._used[0] == start and end <= len(self._table):
            longer._table, longer._used = self._table, self._used
        else:
            longer._table, longer._used = np.empty((max(_more(start), end), self._table.shape[1])), [start]
            longer._table[:start] = self._table[:start]
        longer._table[start:end] = rows
        longer._used[0] = longer._length = end
        return longer


def _more(n: int) -> int:
    """How many rows to have room for when n are full: twice as many, half as many again of a large table."""
    return n + max(min(n, CHUNK // 2), n // 2)
