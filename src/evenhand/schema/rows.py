"""Rows in any of their shapes - dicts, sequences, a pandas or polars frame - to one list of values a feature."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, cast

import numpy as np

from evenhand.errors import InvalidInput
from evenhand.schema.fit import Problem
from evenhand.schema.values import ABSENT, shown

Extra: TypeAlias = Literal["error", "ignore"]


class Frame(Protocol):
    """What pandas' and polars' data frames have in common, as far as it is needed here."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""

    def __getitem__(self, key: Any, /) -> Any: ...

    def __len__(self) -> int: ...


Rows: TypeAlias = Frame | Iterable[Mapping[str, Any] | Sequence[Any]]


@dataclass(frozen=True)
class Table:
    """The raw values of all rows, one tuple a feature, with whatever was wrong with the shape of the rows."""

    columns: Mapping[str, Sequence[object]]
    problems: tuple[Problem, ...]
    unread: frozenset[int] = frozenset()
    """Rows whose shape is wrong: reported already, their values not to be looked at."""


def read_rows(names: Sequence[str], rows: Rows, *, extra: Extra = "error") -> Table:
    """The table behind rows; the shape of every row is checked, the values are not.

    >>> table = read_rows(["age", "city"], [{"age": 30, "city": "Bern"}, (40, "Rome")])
    >>> table.columns
    {'age': (30, 40), 'city': ('Bern', 'Rome')}
    """
    if extra not in ("error", "ignore"):
        raise InvalidInput(f"extra is {shown(extra)}; allowed are 'error' and 'ignore'")
    if isinstance(rows, Mapping):
        raise InvalidInput("rows is one dict; give a list of rows, [row] for a single one")
    if hasattr(type(rows), "collect") and hasattr(type(rows), "columns"):
        raise InvalidInput("rows is a lazy frame; call its collect() first")
    if hasattr(type(rows), "columns") and hasattr(type(rows), "__getitem__"):
        return _from_frame(names, rows, extra)
    if isinstance(rows, str | bytes) or not hasattr(type(rows), "__iter__") or getattr(rows, "ndim", 1) == 0:
        raise InvalidInput(f"rows is {shown(rows)}; it must be a list of dicts or sequences, or a data frame")
    return _from_rows(names, list(cast("Iterable[object]", rows)), extra)


def _from_frame(names: Sequence[str], frame: Any, extra: Extra) -> Table:
    present = list(frame.columns)
    problems: list[Problem] = []
    columns: dict[str, Sequence[object]] = {}
    for name in names:
        if present.count(name) == 1:
            columns[name] = tuple(frame[name].to_list())
            continue
        columns[name] = ()
        reason = "is no column of the frame" if name not in present else "is a column twice"
        problems.append(Problem(None, name, f"{reason}; every feature needs one column"))
    if extra == "error":
        problems += [Problem(None, None, f"column {_unknown(name, names)}") for name in present if name not in names]
    return Table(columns, tuple(problems))


def _from_rows(names: Sequence[str], rows: Sequence[object], extra: Extra) -> Table:
    columns: dict[str, list[object]] = {name: [] for name in names}
    problems: list[Problem] = []
    unread: set[int] = set()
    for number, row in enumerate(rows):
        values: Sequence[object] = [ABSENT] * len(names)
        if isinstance(row, Mapping):
            values = [row.get(name, ABSENT) for name in names]
            if extra == "error":
                problems += [Problem(number, None, _unknown(key, names)) for key in row if key not in columns]
        elif reason := _wrong_sequence(row, names):
            problems.append(Problem(number, None, reason))
            unread.add(number)
        else:
            values = list(row)  # type: ignore[call-overload]  # a sequence or an array, just checked
        for name, value in zip(names, values, strict=True):
            columns[name].append(value)
    return Table({name: tuple(values) for name, values in columns.items()}, tuple(problems), frozenset(unread))


def _wrong_sequence(row: object, names: Sequence[str]) -> str:
    wanted = f"a row is a dict, or a sequence of {len(names)} values: {', '.join(names)}"
    is_array = isinstance(row, np.ndarray) and row.ndim == 1
    if not is_array and (isinstance(row, str | bytes) or not isinstance(row, Sequence)):
        return f"the row is {shown(row)}; {wanted}"
    length = len(row)  # type: ignore[arg-type]
    return "" if length == len(names) else f"the row has {length} values; {wanted}"


def _unknown(key: object, names: Sequence[str]) -> str:
    return f"{shown(key)} is no feature; the features are {', '.join(names)} (extra='ignore' passes over others)"
