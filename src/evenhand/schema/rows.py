"""Raw data: rows (dicts, sequences, a data frame) as values per feature, and the error if they do not fit.

Also whether a raw value is missing or a number, and how error messages show it.
"""

from __future__ import annotations

import datetime
import math
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Real
from typing import Any, Final, Literal, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_one_of, quoted
from evenhand._internal.frames import ArrowStream, Frame, FrameTable, as_frame
from evenhand.errors import ExtraColumns, InvalidInput

SHOWN = 50  # How many problems an error message lists.
NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
BLANKS = ("n/a", "#n/a", "na", "<na>", "nan", "null", "none")
"""Texts that stand for a missing number in tables, in any case; as a level of a category they stand for themselves."""

ID = "id"
"""The carried column that holds the ids of candidates."""


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
    id: str | None = None
    """The candidate of the row, where rows have ids."""

    @property
    def what(self) -> str:
        """The sentence without the place."""
        return self.reason if self.feature is None else f"{self.feature} {self.reason}"

    def __str__(self) -> str:
        if self.id is not None:
            return f"candidate {self.id}: {self.what}"
        return self.what if self.row is None else f"row {self.row}: {self.what}"


class DoesNotFit(InvalidInput):
    """Rows that do not fit the schema; `problems` has all problems, the message the first fifty.

    >>> error = DoesNotFit([RowProblem(0, "age", "must be a number from 18 to 99, got no value")])
    >>> str(error), error.problems[0].feature
    ('row 0: age must be a number from 18 to 99, got no value', 'age')
    """

    problems: tuple[RowProblem, ...]

    def __init__(self, problems: Sequence[RowProblem], hint: str = "") -> None:
        self.problems, self.hint = tuple(problems), hint
        super().__init__(self.problems, hint)  # the arguments themselves, so that it can be pickled between processes

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems[:SHOWN]]
        if len(self.problems) > SHOWN:
            lines.append(f"and {len(self.problems) - SHOWN} more, see .problems")
        return "\n".join([*lines, *([f"({self.hint})"] * bool(self.hint))])


Extra: TypeAlias = Literal["error", "warn", "ignore"]


Rows: TypeAlias = Frame | ArrowStream | FrameTable | Iterable[Mapping[str, Any] | Sequence[Any]]


@dataclass(frozen=True)
class RawColumns:
    """The raw values of all rows, one tuple per feature, and the problems with the shape of rows."""

    columns: Mapping[str, Sequence[object]]
    problems: tuple[RowProblem, ...]
    unread: frozenset[int] = frozenset()
    """Rows of the wrong shape: already in `problems`, their values are skipped."""
    carried: Mapping[str, Sequence[object]] = field(default_factory=dict)
    """The values of carried columns that are there."""
    ids: tuple[str, ...] = ()
    """Ids of candidates, one per row."""
    is_frame: bool = False
    """Whether numerals count as numbers: one bad cell, and a frame reads a whole column as text."""

    def fitting(self, name: str, read: Callable[[object], object]) -> tuple[list[object], list[RowProblem]]:
        """The values of a column, None for those that `read` refuses, and what is wrong with these."""
        values = self.columns[name]
        column = [None if row in self.unread else value for row, value in enumerate(values)]
        misfits = []
        for row, value in enumerate(column):
            try:
                _ = None if is_missing(value) else read(value)
            except InvalidInput as error:
                misfits.append(RowProblem(row, name, str(error)))
                column[row] = None
        return column, misfits


def read_rows(
    names: Sequence[str],
    rows: Rows,
    *,
    extra: Extra | None = None,
    carry: Sequence[str] = (),
    ids: Sequence[str] | None = None,
) -> RawColumns:
    """The values of rows; the shape of every row is checked, the values are not. See `Schema.read` for the rest.

    >>> raw = read_rows(["age", "city"], [{"age": 30, "city": "Bern"}, (40, "Rome")])
    >>> raw.columns
    {'age': (30, 40), 'city': ('Bern', 'Rome')}
    """
    if extra is not None:
        check_one_of("extra", extra, get_args(Extra))
    if isinstance(rows, Mapping):
        raise InvalidInput("rows must be a list of rows, got one dict; pass [row] for a single one")
    frame = as_frame(rows, "rows")
    if frame is not None:
        return _with_ids(_from_frame(names, frame, extra or "warn", carry), ids)
    if isinstance(rows, str | bytes) or not hasattr(type(rows), "__iter__") or getattr(rows, "ndim", 1) == 0:
        raise InvalidInput(f"rows must be a list of dicts or sequences, or a data frame, got {shown(rows)}")
    return _with_ids(_from_rows(names, list(cast("Iterable[object]", rows)), extra or "error", carry), ids)


def _with_ids(table: RawColumns, ids: Sequence[str] | None) -> RawColumns:
    """With ids: those passed, those of the carried column "id", or else those that the table has."""
    if ids is not None:
        if len(ids) != len(table.ids):
            raise InvalidInput(f"ids must be one for each of {len(table.ids)} rows, got {len(ids)}")
        return replace(table, ids=tuple(ids))
    values = table.carried.get(ID)
    if values is None:
        return table
    without = [row for row, value in enumerate(values) if is_missing(value) or value == ""]
    if without:
        raise InvalidInput(f"{ID} must have a value in every row, got none in row {without[0]}")
    names = tuple(_as_id(value) for value in values)
    if len(set(names)) < len(names):
        raise InvalidInput(f"{ID} must be unique, got {next(name for name in names if names.count(name) > 1)!r} twice")
    return replace(table, ids=names)


def _as_id(value: object) -> str:
    number = as_number(value)
    return str(int(number)) if number is not None and number.is_integer() else str(value)


def checked_carry(carry: Any) -> tuple[str, ...]:
    """Names of carried columns."""
    names = () if isinstance(carry, str) or not hasattr(carry, "__iter__") else tuple(carry)
    if isinstance(carry, str) or not hasattr(carry, "__iter__") or not all(isinstance(name, str) for name in names):
        raise InvalidInput(f"carry must be a list of names of columns, got {shown(carry)}")
    return names


def _from_frame(names: Sequence[str], frame: FrameTable, extra: Extra, carry: Sequence[str]) -> RawColumns:
    present = frame.names
    problems: list[RowProblem] = []
    columns: dict[str, Sequence[object]] = {}
    for name in names:
        if present.count(name) == 1:
            columns[name] = tuple(frame.column(name))
            continue
        columns[name] = ()
        problems.append(RowProblem(None, name, f"must be one column of the frame, got {present.count(name)}"))
    others = [name for name in present if name not in names and name not in carry]
    if extra == "error":
        problems += [RowProblem(None, None, _unknown(name, names)) for name in others]
    elif extra == "warn" and others and not problems:
        unused = f"columns that the schema does not have are not used: {', '.join(map(str, others))}"
        ids = f"; a schema with carry=({ID!r},) takes the ids of candidates from {ID}" if ID in others else ""
        warnings.warn(ExtraColumns(unused + ids), stacklevel=4)
    carried = {name: tuple(frame.column(name)) for name in carry if present.count(name) == 1}
    return RawColumns(columns, tuple(problems), carried=carried, ids=frame.labels, is_frame=True)


def _from_rows(names: Sequence[str], rows: Sequence[object], extra: Extra, carry: Sequence[str]) -> RawColumns:
    columns: dict[str, list[object]] = {name: [] for name in names}
    problems: list[RowProblem] = []
    unread: set[int] = set()
    unused: dict[object, None] = {}
    for number, row in enumerate(rows):
        values: Sequence[object] = [ABSENT] * len(names)
        if isinstance(row, Mapping):
            values = [row.get(name, ABSENT) for name in names]
            others = [key for key in row if key not in columns and key not in carry] if extra != "ignore" else []
            if extra == "error":
                problems += [RowProblem(number, None, _unknown(key, names)) for key in others]
            unused |= dict.fromkeys(others)
        elif reason := _wrong_sequence(row, names):
            problems.append(RowProblem(number, None, reason))
            unread.add(number)
        else:
            values = list(row)  # type: ignore[call-overload]  # a sequence or an array, just checked
        for name, value in zip(names, values, strict=True):
            columns[name].append(value)
    if extra == "warn" and unused:
        sentence = f"keys that the schema does not have are not used: {', '.join(map(str, unused))}"
        warnings.warn(ExtraColumns(sentence), stacklevel=4)
    named = [row if isinstance(row, Mapping) else {} for row in rows]
    there = [name for name in carry if any(name in row for row in named)]
    return RawColumns(
        {name: tuple(values) for name, values in columns.items()},
        tuple(problems),
        frozenset(unread),
        carried={name: tuple(row.get(name) for row in named) for name in there},
        ids=tuple(map(str, range(len(rows)))),
    )


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
    """Whether a value is absent, None, NaN, pandas' NA or NaT, or a blank text.

    >>> [is_missing(value) for value in (None, float("nan"), " ", 0, False)]
    [True, True, True, False, False]
    """
    if type(value) is float:  # the common cases come before the slower ones
        return math.isnan(value)
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, int):
        return False
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
    if type(value) is float:  # a table has many of them, and abstract types are slow to check
        return value
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all floats
        return math.inf if abs(value) == value else -math.inf
    except ValueError:  # a signalling NaN
        return math.nan


def numeral(value: object) -> object:
    """The number that a text is the numeral of, in digits with a point; anything else as it is.

    >>> numeral("20"), numeral(" -1.5e3 "), numeral("1,5"), numeral("1_000"), numeral("nan")
    (20.0, -1500.0, '1,5', '1_000', 'nan')
    """
    return float(value) if isinstance(value, str) and NUMERAL.fullmatch(value.strip()) else value


def plain(value: Any) -> Any:
    """A raw value in JSON types, for records: None for a missing one, dates and times in ISO form.

    >>> plain(np.int64(3)), plain(float("nan")), plain(datetime.datetime(2026, 3, 31)), plain("car")
    (3, None, '2026-03-31', 'car')
    """
    if type(value) in (bool, int, str):
        return value
    if is_missing(value):
        return None
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    number = as_number(value) if isinstance(value, Decimal) else None
    return value if number is None else number


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
    return quoted(value, most=60)
