"""Raw data: rows (dicts, sequences, a pandas or polars frame) as values per feature, and the error if they do not fit.

Also whether a raw value is missing or a number, and how error messages show it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, Final, Literal, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_one_of
from evenhand.errors import InvalidInput

SHOWN = 50  # How many problems an error message lists.


class _Absent:
    """The value of a key that is not there."""

    def __repr__(self) -> str:
        return "(absent)"


ABSENT: Final = _Absent()

_MISSING_TYPES = {"NAType", "NaTType"}
"""pandas' own missing values, known by name so that pandas need not be imported."""


@dataclass(frozen=True)
class RowProblem:
    """One value, row or column that does not fit.

    >>> print(RowProblem(row=3, feature="income", reason="must be a number from 0 to 200000 EUR, got 250000"))
    row 3: income must be a number from 0 to 200000 EUR, got 250000
    """

    row: int | None
    """Counted from 0, as candidates are; None for the whole table."""
    feature: str | None
    """None for the whole row or table."""
    reason: str

    def __str__(self) -> str:
        where = "" if self.row is None else f"row {self.row}: "
        what = "" if self.feature is None else f"{self.feature} "
        return f"{where}{what}{self.reason}"


class DoesNotFit(InvalidInput):
    """Rows that do not fit the schema; `problems` has all problems, the message the first fifty.

    >>> error = DoesNotFit([RowProblem(0, "age", "must be a number from 18 to 99, got no value")])
    >>> str(error), error.problems[0].feature
    ('row 0: age must be a number from 18 to 99, got no value', 'age')
    """

    problems: tuple[RowProblem, ...]

    def __init__(self, problems: list[RowProblem] | tuple[RowProblem, ...]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)  # the argument itself, so that the error can be pickled between processes

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems[:SHOWN]]
        if len(self.problems) > SHOWN:
            lines.append(f"and {len(self.problems) - SHOWN} more, see .problems")
        return "\n".join(lines)


Extra: TypeAlias = Literal["error", "ignore"]


class Frame(Protocol):
    """What pandas' and polars' data frames have in common, as far as needed here."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""

    def __getitem__(self, key: Any, /) -> Any: ...

    def __len__(self) -> int: ...


Rows: TypeAlias = Frame | Iterable[Mapping[str, Any] | Sequence[Any]]


@dataclass(frozen=True)
class RawColumns:
    """The raw values of all rows, one tuple per feature, and the problems with the shape of rows."""

    columns: Mapping[str, Sequence[object]]
    problems: tuple[RowProblem, ...]
    unread: frozenset[int] = frozenset()
    """Rows of the wrong shape: already in `problems`, their values are skipped."""


def read_rows(names: Sequence[str], rows: Rows, *, extra: Extra = "error") -> RawColumns:
    """The values of rows; the shape of every row is checked, the values are not.

    >>> raw = read_rows(["age", "city"], [{"age": 30, "city": "Bern"}, (40, "Rome")])
    >>> raw.columns
    {'age': (30, 40), 'city': ('Bern', 'Rome')}
    """
    check_one_of("extra", extra, ("error", "ignore"))
    if isinstance(rows, Mapping):
        raise InvalidInput("rows must be a list of rows, got one dict; pass [row] for a single one")
    if hasattr(type(rows), "collect") and hasattr(type(rows), "columns"):
        raise InvalidInput("rows must be an eager frame, got a lazy one; call its collect() first")
    if hasattr(type(rows), "columns") and hasattr(type(rows), "__getitem__"):
        return _from_frame(names, rows, extra)
    if isinstance(rows, str | bytes) or not hasattr(type(rows), "__iter__") or getattr(rows, "ndim", 1) == 0:
        raise InvalidInput(f"rows must be a list of dicts or sequences, or a data frame, got {shown(rows)}")
    return _from_rows(names, list(cast("Iterable[object]", rows)), extra)


def _from_frame(names: Sequence[str], frame: Any, extra: Extra) -> RawColumns:
    present = list(frame.columns)
    problems: list[RowProblem] = []
    columns: dict[str, Sequence[object]] = {}
    for name in names:
        if present.count(name) == 1:
            columns[name] = tuple(frame[name].to_list())
            continue
        columns[name] = ()
        problems.append(RowProblem(None, name, f"must be one column of the frame, got {present.count(name)}"))
    if extra == "error":
        problems += [RowProblem(None, None, _unknown(name, names)) for name in present if name not in names]
    return RawColumns(columns, tuple(problems))


def _from_rows(names: Sequence[str], rows: Sequence[object], extra: Extra) -> RawColumns:
    columns: dict[str, list[object]] = {name: [] for name in names}
    problems: list[RowProblem] = []
    unread: set[int] = set()
    for number, row in enumerate(rows):
        values: Sequence[object] = [ABSENT] * len(names)
        if isinstance(row, Mapping):
            values = [row.get(name, ABSENT) for name in names]
            if extra == "error":
                problems += [RowProblem(number, None, _unknown(key, names)) for key in row if key not in columns]
        elif reason := _wrong_sequence(row, names):
            problems.append(RowProblem(number, None, reason))
            unread.add(number)
        else:
            values = list(row)  # type: ignore[call-overload]  # a sequence or an array, just checked
        for name, value in zip(names, values, strict=True):
            columns[name].append(value)
    return RawColumns({name: tuple(values) for name, values in columns.items()}, tuple(problems), frozenset(unread))


def _wrong_sequence(row: object, names: Sequence[str]) -> str:
    expected = f"the row must be a dict or a sequence of {len(names)} values, {', '.join(names)}"
    is_array = isinstance(row, np.ndarray) and row.ndim == 1
    if not is_array and (isinstance(row, str | bytes) or not isinstance(row, Sequence)):
        return f"{expected}, got {shown(row)}"
    length = len(row)  # type: ignore[arg-type]
    return "" if length == len(names) else f"{expected}, got {length} values"


def _unknown(key: object, names: Sequence[str]) -> str:
    return f"unknown feature {shown(key)}; the schema has {', '.join(names)} (extra='ignore' skips others)"


def is_missing(value: object) -> bool:
    """Whether a value is absent, None, NaN, or pandas' NA or NaT.

    >>> [is_missing(value) for value in (None, float("nan"), 0, "", False)]
    [True, True, False, False, False]
    """
    if value is None or value is ABSENT or type(value).__name__ in _MISSING_TYPES:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float | np.floating) and math.isnan(value)


def as_number(value: object) -> float | None:
    """The value as a float, or None if it is not a number. Bools and strings are not numbers.

    >>> as_number(3), as_number(np.float32(0.5)), as_number(Decimal("1.5")), as_number(True), as_number("3")
    (3.0, 0.5, 1.5, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all floats
        return math.inf if abs(value) == value else -math.inf
    except ValueError:  # a signalling NaN
        return math.nan


def as_floats(value: ArrayLike, what: str) -> Floats:
    """An array of floats, or InvalidInput.

    >>> as_floats([[1, 2]], "the matrix").tolist()
    [[1.0, 2.0]]
    """
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"{what} must be a table of numbers, got {shown(value)}") from None


def shown(value: object) -> str:
    """A raw value as error messages quote it: numbers in full, strings in quotes, long ones cut.

    >>> shown(250000.0), shown("boat"), shown(np.float64(0.25)), shown(True)
    ('250000', "'boat'", '0.25', 'True')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    try:
        text = repr(value)
    except ValueError:  # a whole number of more digits than Python writes
        return "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:57]}..."
