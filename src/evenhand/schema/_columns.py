"""The columns of a table that a schema is proposed for, and what their types say about levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand._internal.checks import check_one_of
from evenhand._internal.frames import as_frame
from evenhand.errors import InvalidInput
from evenhand.schema._coordinate import as_level
from evenhand.schema.category import Category, Ordinal
from evenhand.schema.rows import as_number, is_missing, shown


@dataclass(frozen=True)
class Columns:
    """The columns of a table, the levels of those that have an order, and those that hold codes."""

    values: dict[str, Sequence[object]]
    orders: dict[str, list[str]]
    codes: set[str]
    """Names of columns whose values are levels, whatever they look like."""


def columns_of(frame: Any, kinds: Mapping[str, str]) -> Columns:
    """The columns of a data frame or of a list of dicts. kinds: see `Schema.from_frame`."""
    table = _columns(frame)
    n_rows = len(next(iter(table.values.values()), ()))
    if n_rows < 2:
        raise InvalidInput(f"a table must have at least 2 rows to propose a schema, got {n_rows}")
    for name, kind in kinds.items():
        if name not in table.values:
            raise InvalidInput(f"kinds must name columns of the table, got {shown(name)}")
        check_one_of(f"the kind of {name}", kind, (Category.kind, Ordinal.kind))
        values = table.values[name]
        odd = [value for value in values if not _are_levels([value])]
        if odd:
            raise InvalidInput(f"the values of {name} must be texts or whole numbers to be levels, got {shown(odd[0])}")
        if kind == Category.kind:
            table.orders.pop(name, None)
            table.codes.add(name)
        elif name not in table.orders:
            table.orders[name] = _in_order(values)
        table.values[name] = _as_levels(values)
    return table


def _columns(frame: Any) -> Columns:
    table = as_frame(frame, "frame")
    if table is not None:
        names = table.names
        _check_names(names)
        columns: dict[str, Sequence[object]] = {name: table.column(name) for name in names}
        orders = {name: levels for name in names if (levels := table.levels(name)) and _are_levels(levels)}
        codes = {name for name in names if table.is_category(name) and _are_codes(columns[name])} - orders.keys()
        columns |= {name: _as_levels(columns[name]) for name in orders.keys() | codes}
        return Columns(columns, {name: _as_levels(levels) for name, levels in orders.items()}, codes)
    if isinstance(frame, Sequence) and not isinstance(frame, str) and all(isinstance(row, Mapping) for row in frame):
        names = list(dict.fromkeys(name for row in frame for name in row))
        if frame:
            _check_names(names)
        return Columns({name: [row.get(name) for row in frame] for name in names}, {}, set())
    raise InvalidInput(f"frame must be a data frame of pandas, polars or Arrow, or a list of dicts, got {shown(frame)}")


def _are_levels(values: Sequence[Any]) -> bool:
    """Whether all values that are not missing may be levels."""
    return all(is_missing(value) or as_level(value) is not None for value in values)


def _are_codes(values: Sequence[Any]) -> bool:
    """Whether all values that are not missing are whole numbers."""
    return _are_levels(values) and not any(isinstance(value, str) for value in values)


def _as_levels(values: Sequence[Any]) -> list[Any]:
    """Values as the texts of levels; missing ones as they are."""
    return [value if is_missing(value) else as_level(value) for value in values]


def _in_order(values: Sequence[Any]) -> list[str]:
    """The different values in order, as levels: numbers by size, texts by the alphabet."""
    known = [value for value in values if not is_missing(value)]
    numbers = {number: value for value in known if (number := as_number(value)) is not None}
    if all(as_number(value) is not None for value in known):
        return _as_levels([numbers[number] for number in sorted(numbers)])
    return sorted(set(_as_levels(known)))


def _check_names(names: Sequence[object]) -> None:
    if not names:
        raise InvalidInput("a table must have at least 1 column, got none")
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise InvalidInput(f"the names of columns must be texts, got {shown(name)}")
        if names.count(name) > 1:
            raise InvalidInput(f"the names of columns must be unique, got {name!r} {names.count(name)} times")
