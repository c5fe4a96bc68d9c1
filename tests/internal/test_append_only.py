"""Growing lists, sets and tables: copies cost nothing and go their own ways."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenhand._internal.append_only import GrowingList, GrowingRows, GrowingSet

STEPS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), st.booleans()), max_size=60)


@given(STEPS)
def test_copies_are_independent(steps: list[tuple[int, int, bool]]) -> None:
    """Any sequence of additions to any version leaves each version what a plain copy would be."""
    lists, sets = [GrowingList([7])], [GrowingSet([7])]
    plain_lists, plain_sets = [[7]], [{7}]
    for at, number, copies in steps:
        which = at % len(lists)
        if copies:
            lists.append(lists[which])
            sets.append(sets[which])
            plain_lists.append(list(plain_lists[which]))
            plain_sets.append(set(plain_sets[which]))
        else:
            lists[which] = lists[which].plus(number)
            sets[which] = sets[which].plus(number)
            plain_lists[which].append(number)
            plain_sets[which].add(number)
    for growing, plain in zip(lists, plain_lists, strict=True):
        assert list(growing) == plain
        assert len(growing) == len(plain)
    for numbers, reference in zip(sets, plain_sets, strict=True):
        assert set(numbers) == reference
        assert len(numbers) == len(reference)
        assert all((number in numbers) == (number in reference) for number in range(10))


def test_versions_share_memory() -> None:
    """A longer list or set is made without copying an item, and so is a longer table while its memory has room."""
    items = GrowingList(range(1000))
    assert items.plus(1)._items is items._items
    numbers = GrowingSet(range(1000))
    assert numbers.plus(1000)._places is numbers._places
    rows = GrowingRows(3).plus(np.ones((3, 3))).plus(np.ones((1, 3)))
    assert rows.plus(np.ones((1, 3))).all().base is rows.all().base


@given(STEPS)
def test_versions_of_tables_are_independent(steps: list[tuple[int, int, bool]]) -> None:
    """The same of tables: rows added to one version are in no other."""
    tables, plain = [GrowingRows(2)], [np.zeros((0, 2))]
    for at, number, copies in steps:
        which = at % len(tables)
        if copies:
            tables.append(tables[which])
            plain.append(plain[which])
            continue
        rows = np.full((number, 2), 10.0 * number + which)
        tables[which] = tables[which].plus(rows)
        plain[which] = np.concatenate([plain[which], rows])
    for growing, reference in zip(tables, plain, strict=True):
        assert len(growing) == len(reference)
        assert np.array_equal(growing.all(), reference)
