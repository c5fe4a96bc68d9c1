"""Lists and sets that only grow: a copy costs nothing, and neither sees what the other adds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from itertools import islice
from typing import Generic, Self, TypeVar

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
