"""A schema proposed for a table: the kind, range, levels, scale and missing values of every column."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_one_of
from evenhand._internal.frames import as_frame
from evenhand.errors import InvalidInput
from evenhand.schema._coordinate import UNKNOWN, as_level
from evenhand.schema.category import Category, Ordinal
from evenhand.schema.date import Date, as_day
from evenhand.schema.features import Feature
from evenhand.schema.number import Number
from evenhand.schema.rows import ID, as_number, is_missing, shown
from evenhand.schema.yes_no import YesNo

RARE = 0.01
"""Levels with a smaller share of the rows count as "other"."""

MOST_LEVELS = 12
"""Maximum number of levels of a category; rarer ones count as "other"."""

FEW_VALUES = 12
"""Whole numbers with no more different values than this may be codes or grades."""

GROUPED = re.compile(r"[+-]?\d{1,3}([.,' ]\d{3})+([.,]\d+)?", re.ASCII)
"""Numerals whose digits stand in groups, such as 1,250.00 and 1.250,00: which is which, nobody can tell."""

SAME = 1.0 - 1e-9
"""Columns with at least this correlation, of either sign, say the same."""

MAY_BE_CODES = 'few different whole numbers: if they are codes, say kinds={column: "category"}; if grades, "ordinal"'

LATER_DATES = "later dates do not fit: set a later end, or clip=True"


@dataclass(frozen=True)
class Note:
    """Something to look at in a proposed schema."""

    column: str
    text: str

    def __str__(self) -> str:
        return f"{self.column}: {self.text}"


@dataclass(frozen=True)
class Proposal:
    """Features, columns to carry, and notes."""

    features: list[Feature]
    carry: list[str]
    notes: list[Note]


@dataclass(frozen=True)
class Columns:
    """The columns of a table, the levels of those that have an order, and those that hold codes."""

    values: dict[str, Sequence[object]]
    orders: dict[str, list[str]]
    codes: set[str]


def propose(table: Columns, carry: Iterable[str]) -> Proposal:
    """A feature for every column that tells people apart."""
    columns = table.values
    wanted = list(carry)
    for name in wanted:
        if name not in columns:
            raise InvalidInput(f"carry must name columns of the table, got {shown(name)}")
    found = Proposal([], wanted, [])
    for name, values in columns.items():
        if name in wanted:
            continue
        feature, notes = _feature(name, values, table)
        found.notes.extend(Note(name, note) for note in notes)
        if feature is None:
            found.carry.append(name)
        else:
            found.features.append(feature)
    if not found.features:
        reasons = "; ".join(map(str, found.notes)) or "all of them are carried"
        raise InvalidInput(f"a table must have a column that tells people apart, got none: {reasons}")
    found.notes.extend(_same_columns(found.features, columns))
    return found


def _feature(name: str, values: Sequence[object], table: Columns) -> tuple[Feature | None, list[str]]:
    """The feature of a column, or None if it should be carried, and what to look at."""
    known = [value for value in values if not is_missing(value)]
    gaps = len(values) - len(known)
    missing: Any = UNKNOWN if gaps else None
    if not known:
        return None, ["no values; carried, not used"]
    if len(table.orders.get(name, ())) > 1:
        return Ordinal(name, tuple(table.orders[name]), missing=missing), []
    try:
        distinct = len(set(known))
    except TypeError:
        return None, [f"values such as {shown(known[0])} cannot be used; carried"]
    numbers = [number for value in known if (number := as_number(value)) is not None]
    texts = [value for value in known if isinstance(value, str)]
    if distinct == 1 and not (gaps and texts):
        also = f", and {gaps} missing; if a gap means no, make it yes or no" if gaps else ""
        return None, [f"one value only, {shown(known[0])}{also}; carried, not used"]
    if _is_yes_no(known) and name not in table.codes:
        return YesNo(name, missing=missing), []
    if len(numbers) == len(known):
        return _number(name, numbers, missing, rows=len(values), counted=not isinstance(known[0], float | np.floating))
    if all(as_day(value) is not None for value in known) and name not in table.codes:
        days = [day.isoformat() for value in known if (day := as_day(value)) is not None]
        if min(days) == max(days):
            return None, [f"one day only, {days[0]}; carried, not used"]
        return Date(name, low=min(days), high=max(days), missing=missing), [LATER_DATES]
    if len(texts) == len(known):
        return _category(name, texts, missing, rows=len(values), are_codes=name in table.codes)
    return None, [_mixed(known)]


def _is_yes_no(known: Sequence[Any]) -> bool:
    """Whether all values are truth values, 0 and 1, or words for yes and no."""
    if all(isinstance(value, str) for value in known):
        return {value.lower() for value in known} in ({"yes", "no"}, {"true", "false"}, {"y", "n"})
    return all(isinstance(value, bool | np.bool_) or as_number(value) in (0.0, 1.0) for value in known)


def _number(
    name: str, numbers: list[float], missing: Any, *, rows: int, counted: bool
) -> tuple[Feature | None, list[str]]:
    """counted: whether the values came as whole numbers; amounts that happen to be whole come as floats."""
    finite = [number for number in numbers if math.isfinite(number)]
    notes = [] if len(finite) == len(numbers) else [f"{len(numbers) - len(finite)} infinite values, which do not fit"]
    distinct = sorted(set(finite))
    if len(distinct) < 2:
        return None, [*notes, "fewer than two finite values; carried, not used"]
    whole = all(number.is_integer() for number in distinct)
    if whole and len(distinct) == len(finite) == rows and _is_id(name, finite):
        return None, ["a different whole number in every row, as ids have; carried, not used"]
    integer = whole and (counted or len(distinct) <= FEW_VALUES)
    low, high = nice_range(distinct[0], distinct[-1], whole=integer)
    if math.isinf(high - low):
        return None, [*notes, f"numbers from {low:g} to {high:g}, too far apart to use; carried"]
    feature = Number(name, low=low, high=high, integer=integer, scale="auto", missing=missing).fitted(finite)
    code = _code(distinct)
    if code is not None:
        count = f"{numbers.count(code)} row{'s' * (numbers.count(code) > 1)}"
        notes.append(f"{shown(code)} in {count} may stand for a missing value: make it missing in the table, if so")
    elif whole and 2 < len(distinct) <= FEW_VALUES and len(finite) > 2 * FEW_VALUES:
        notes.append(MAY_BE_CODES)
    return feature, notes


def _is_id(name: str, numbers: Sequence[float]) -> bool:
    """Whether numbers that are all different are ids: by the name, or because they count the rows."""
    lower = name.lower()
    if lower in (ID, "index", "unnamed: 0") or lower.endswith(("_id", " id")):
        return True
    return len(numbers) > FEW_VALUES and list(numbers) == [numbers[0] + n for n in range(len(numbers))]


def _code(distinct: Sequence[float]) -> float | None:
    """An end of the range that looks like a code for "missing", farther off than the others reach.

    One digit repeated, or a one with three zeros or more.

    >>> _code([0.0, 12.0, 50.0, 999.0]), _code([-99.0, 1.0, 2.0]), _code([0.0, 800.0, 999.0])
    (999.0, -99.0, None)
    >>> _code([0.0, 4000.0, 1_000_000.0]), _code([0.0, 60.0, 100.0, 1000.0]), _code([0.0, 800.0, 1000.0])
    (1000000.0, 1000.0, None)
    """
    if len(distinct) < 3:
        return None
    for end, nearest, farthest in ((*distinct[:-3:-1], distinct[0]), (*distinct[:2], distinct[-1])):
        digits = str(int(abs(end)))
        repeats = len(set(digits)) == 1 and digits[0] in "6789" and (len(digits) > 1 or end < 0)
        looks = repeats or (len(digits) > 3 and float(digits) == 10.0 ** (len(digits) - 1))
        if looks and abs(end - nearest) > abs(nearest - farthest):
            return end
    return None


def nice_range(lowest: float, highest: float, *, whole: bool) -> tuple[float, float]:
    """A range of round ends around two numbers, wider by less than a tenth at each end.

    >>> nice_range(154.0, 10_798.0, whole=False), nice_range(1.0, 4.0, whole=True)
    ((0.0, 11000.0), (1.0, 4.0))
    """
    span = highest - lowest
    if math.isinf(span) or span < 1e-300:
        return lowest, highest
    power = math.floor(math.log10(span / 10.0))
    step = next(digit * 10.0**power for digit in (5.0, 2.0, 1.0) if digit * 10.0**power <= span / 10.0 * (1 + 1e-9))
    step = max(step, 1.0) if whole else step
    low = round(math.floor(lowest / step + 1e-9) * step, max(0, 1 - power))
    high = round(math.ceil(highest / step - 1e-9) * step, max(0, 1 - power))
    return min(low, lowest), max(high, highest)


def _category(
    name: str, texts: list[str], missing: Any, *, rows: int, are_codes: bool
) -> tuple[Feature | None, list[str]]:
    counts = Counter(texts)
    numerals = [text for text in counts if _is_numeral(text) and not are_codes]
    if len(numerals) == len(counts) and len(counts) > 2:
        return None, [f"numbers written as text, such as {shown(texts[0])}; carried: make them numbers to use them"]
    if len(numerals) > len(counts) / 2 and len(counts) > 2:
        return None, [_mixed([*numerals[:1], *(text for text in counts if not _is_numeral(text))])]
    if len(counts) > max(MOST_LEVELS, len(texts) / 2):
        return None, [f"{len(counts):,} different texts in {rows:,} rows; carried, not used"]
    levels = [level for level, count in counts.most_common(MOST_LEVELS) if count >= RARE * rows]
    rare = [level for level in counts if level not in levels]
    if len(rare) == 1 and len(levels) < MOST_LEVELS:
        levels, rare = [*levels, *rare], []
    if not levels:
        return None, [f"{len(counts):,} levels, none with {RARE:.0%} of the rows; carried, not used"]
    feature = Category(name, tuple(sorted(levels)), other="other" if rare else None, missing=missing)
    notes = [f"{len(rare)} rare levels count as 'other': {', '.join(map(shown, rare[:3]))}"] if rare else []
    spellings = {level.strip().lower() for level in counts}
    if len(spellings) < len(counts):
        notes.append("some levels differ only in case or blanks")
    return feature, notes


def _is_numeral(text: str) -> bool:
    if GROUPED.fullmatch(text):
        return True
    try:
        return math.isfinite(float(text.replace(",", ".")))
    except ValueError:
        return False


def _mixed(known: Sequence[Any]) -> str:
    """The note on a column with values of several kinds."""
    first = known[0]
    other = next((value for value in known if type(value) is not type(first)), known[-1])
    return (
        f"values of several kinds, such as {shown(first)} and {shown(other)}; carried: make them one kind to use them"
    )


def _same_columns(features: Sequence[Feature], columns: Mapping[str, Sequence[object]]) -> list[Note]:
    """A note for each column that says the same as one before it."""
    names, table = [], []
    for feature in features:
        if isinstance(feature, Number | YesNo) and feature.missing is None:
            column = np.array([float(feature.read(value, clip=True)) for value in _finite(columns[feature.name])])
            if len(column) == len(columns[feature.name]) and np.ptp(column) > 0.0:
                names.append(feature.name)
                table.append((column - np.mean(column)) / np.linalg.norm(column - np.mean(column)))
    if len(table) < 2:
        return []
    same: Floats = np.triu(np.abs(np.array(table) @ np.array(table).T) >= SAME, 1)
    pairs = {int(j): int(i) for i, j in reversed(np.argwhere(same).tolist())}
    return [Note(names[j], f"says the same as {names[i]}; one of them is enough") for j, i in sorted(pairs.items())]


def _finite(values: Sequence[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, str) or math.isfinite(float(value))]


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
        if kind == Category.kind:
            table.orders.pop(name, None)
            table.codes.add(name)
        elif name not in table.orders:
            table.orders[name] = _in_order(table.values[name])
        table.values[name] = _as_levels(table.values[name])
    return table


def _columns(frame: Any) -> Columns:
    table = as_frame(frame, "frame")
    if table is not None:
        names = table.names
        _check_names(names)
        columns: dict[str, Sequence[object]] = {name: table.column(name) for name in names}
        orders = {name: _as_levels(levels) for name in names if (levels := table.levels(name)) is not None}
        return Columns(columns | {name: _as_levels(columns[name]) for name in orders}, orders, set())
    if isinstance(frame, Sequence) and not isinstance(frame, str) and all(isinstance(row, Mapping) for row in frame):
        names = list(dict.fromkeys(name for row in frame for name in row))
        if frame:
            _check_names(names)
        return Columns({name: [row.get(name) for row in frame] for name in names}, {}, set())
    raise InvalidInput(f"frame must be a data frame of pandas, polars or Arrow, or a list of dicts, got {shown(frame)}")


def _as_levels(values: Sequence[Any]) -> list[Any]:
    """Values as the texts of levels; missing ones as they are."""
    return [value if is_missing(value) else as_level(value) or str(value) for value in values]


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
