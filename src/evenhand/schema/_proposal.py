"""A schema proposed for a table: the kind, range, levels, scale and missing values of every column."""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.errors import InvalidInput
from evenhand.schema._columns import Columns
from evenhand.schema._coordinate import UNKNOWN
from evenhand.schema.category import Category, Ordinal
from evenhand.schema.date import Date, as_day
from evenhand.schema.features import Feature
from evenhand.schema.number import Number
from evenhand.schema.rows import BLANKS, ID, as_number, is_missing, shown
from evenhand.schema.yes_no import YesNo

RARE = 0.01
"""Levels with a smaller share of the rows count as "other"."""

MOST_LEVELS = 12
"""Maximum number of levels of a category; rarer ones count as "other"."""

FEW_VALUES = 12
"""Whole numbers with no more different values than this may be codes or grades."""

SHORTEST = 1e-150  # Deviations of a column whose squares are not lost to underflow.

SAME = 1.0 - 1e-9
"""Columns with at least this correlation, of either sign, say the same."""

MAY_BE_CODES = "few different whole numbers: make codes a category (kinds=, --category), grades ordinal"

LATER_DATES = "later dates do not fit: set a later end, or clip=True"

NUMERAL = re.compile(r"[+-]?[$€£]?\s?\.?\d([\d.,'’]|\s(?=\d{3}))*([eE][+-]?\d+)?\s?[%$€£]?", re.ASCII)
"""A number written as text, perhaps with a unit and with digits in groups, such as 1,250.00 and 1.250,00: which is
which, nobody can tell."""

OTHER_DATE = re.compile(r"\d{4}[./]\d{1,2}[./]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2})")
"""A date that is not in ISO form."""

PLACEHOLDERS = {*BLANKS, "missing", "?", "-", "--", "."} - {"none"}
"""Levels that may stand for a missing value, in lower case; "none" is more often a value."""


@dataclass(frozen=True)
class Note:
    """Something to look at in a proposed schema."""

    column: str
    text: str

    def __str__(self) -> str:
        return f"{self.column}: {self.text}"


def by_text(notes: Iterable[Note]) -> list[str]:
    """A line for each text, with the columns that it is about."""
    columns: dict[str, list[str]] = {}
    for note in notes:
        columns.setdefault(note.text, []).append(note.column)
    return [f"{', '.join(names)}: {text}" for text, names in columns.items()]


@dataclass(frozen=True)
class Proposal:
    """Features, columns to carry, and notes."""

    features: list[Feature]
    carry: list[str]
    notes: list[Note]


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
    if name not in table.codes:
        days = [day for value in known if (day := as_day(value)) is not None]
        other = [text for text in texts if as_day(text) is None and OTHER_DATE.fullmatch(text.strip())]
        if len(days) == len(known):
            return _date(name, days, missing)
        if len(days) + len(other) == len(known):
            return None, [f"dates such as {shown(other[0])}; carried: write them as 2026-03-31 to use them"]
    if len(texts) == len(known):
        return _category(name, texts, missing, rows=len(values), are_codes=name in table.codes)
    return None, [_mixed(known)]


def _is_yes_no(known: Sequence[Any]) -> bool:
    """Whether all values are truth values, 0 and 1, or words for yes and no."""
    if all(isinstance(value, str) for value in known):
        return {value.lower() for value in known} in ({"yes", "no"}, {"true", "false"}, {"y", "n"})
    return all(isinstance(value, bool | np.bool_) or as_number(value) in (0.0, 1.0) for value in known)


def _date(name: str, days: list[datetime.date], missing: Any) -> tuple[Feature | None, list[str]]:
    low, high = min(days), max(days)
    if low == high:
        return None, [f"one day only, {low}; carried, not used"]
    code = _far_end(sorted({float(day.toordinal()) for day in days}), _begins_or_ends_a_year)
    notes = [] if code is None else [_may_be_missing(str(_day(code)), days.count(_day(code)))]
    return Date(name, low=low.isoformat(), high=high.isoformat(), missing=missing), [*notes, LATER_DATES]


def _day(ordinal: float) -> datetime.date:
    return datetime.date.fromordinal(int(ordinal))


def _begins_or_ends_a_year(ordinal: float) -> bool:
    return (_day(ordinal).month, _day(ordinal).day) in ((1, 1), (12, 31))


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
    code = _far_end(distinct, _looks_like_a_code)
    if code is not None:
        notes.append(_may_be_missing(shown(code), numbers.count(code)))
    elif integer and all(_is_written_date(number) for number in distinct):
        notes.append(f"whole numbers such as {shown(numbers[0])} look like dates: make them dates in the table, if so")
    elif integer and len(distinct) == rows > FEW_VALUES:
        notes.append("a different whole number in every row: if it is an id, carry it")
    elif whole and 2 < len(distinct) <= FEW_VALUES and len(finite) > 2 * FEW_VALUES:
        notes.append(MAY_BE_CODES)
    return feature, notes


def _is_id(name: str, numbers: Sequence[float]) -> bool:
    """Whether numbers that are all different are ids: by the name, or because they count the rows."""
    lower = name.lower()
    if lower in (ID, "index", "unnamed: 0") or lower.endswith(("_id", " id")):
        return True
    return len(numbers) > FEW_VALUES and list(numbers) == [numbers[0] + n for n in range(len(numbers))]


def _may_be_missing(value: str, count: int) -> str:
    rows = f"{count} row{'s' * (count > 1)}"
    return f"{value} in {rows} may stand for a missing value: make it missing in the table, if so"


def _looks_like_a_code(number: float) -> bool:
    """Whether it is one digit repeated, or a one with three zeros or more."""
    digits = str(int(abs(number)))
    repeats = len(set(digits)) == 1 and digits[0] in "6789" and (len(digits) > 1 or number < 0)
    return repeats or (len(digits) > 3 and float(digits) == 10.0 ** (len(digits) - 1))


def _is_written_date(number: float) -> bool:
    """Whether a whole number is a date of the years 1900 to 2100 in digits, as 20260331."""
    try:
        return 1900 <= datetime.datetime.strptime(str(int(number)), "%Y%m%d").year <= 2100
    except ValueError:
        return False


def _far_end(distinct: Sequence[float], is_odd: Callable[[float], bool]) -> float | None:
    """An odd end of the range that is farther off than the others reach: perhaps a code for "missing".

    >>> _far_end([0.0, 12.0, 50.0, 999.0], _looks_like_a_code), _far_end([-99.0, 1.0, 2.0], _looks_like_a_code)
    (999.0, -99.0)
    >>> _far_end([0.0, 60.0, 100.0, 1000.0], _looks_like_a_code), _far_end([0.0, 800.0, 999.0], _looks_like_a_code)
    (1000.0, None)
    """
    if len(distinct) < 3:
        return None
    for end, nearest, farthest in ((*distinct[:-3:-1], distinct[0]), (*distinct[:2], distinct[-1])):
        if is_odd(end) and abs(end - nearest) > abs(nearest - farthest):
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
        use = 'make them numbers, or say kinds={column: "category"}, to use them'
        return None, [f"numbers written as text, such as {shown(texts[0])}; carried: {use}"]
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
    notes += [_may_be_missing(shown(level), counts[level]) for level in levels if level.lower() in PLACEHOLDERS]
    spellings = {level.strip().lower() for level in counts}
    if len(spellings) < len(counts):
        notes.append("some levels differ only in case or blanks")
    return feature, notes


def _is_numeral(text: str) -> bool:
    """Whether a text writes a number, perhaps with separators and a unit.

    >>> [_is_numeral(text) for text in ("1,5", "21%", "$ 1,200.50", "1 250", "-3e5", "12 34", "3a", "nan")]
    [True, True, True, True, True, False, False, False]
    """
    return NUMERAL.fullmatch(text.strip()) is not None


def _mixed(known: Sequence[Any]) -> str:
    """The note on a column with values of several kinds."""
    first = known[0]
    other = next((value for value in known if type(value) is not type(first)), known[-1])
    if type(other) is type(first) and not isinstance(first, str):
        return f"values such as {shown(first)} cannot be used; carried"
    return (
        f"values of several kinds, such as {shown(first)} and {shown(other)}; carried: make them one kind to use them"
    )


def _same_columns(features: Sequence[Feature], columns: Mapping[str, Sequence[object]]) -> list[Note]:
    """A note for each column that says the same as one before it."""
    names, table = [], []
    for feature in features:
        if isinstance(feature, Number | YesNo) and feature.missing is None:
            column = np.array([float(feature.read(value, clip=True)) for value in _finite(columns[feature.name])])
            length = float(np.linalg.norm(column := column - np.mean(column)))
            if len(column) == len(columns[feature.name]) and length > SHORTEST:
                names.append(feature.name)
                table.append(column / length)
    if len(table) < 2:
        return []
    same: Floats = np.triu(np.abs(np.array(table) @ np.array(table).T) >= SAME, 1)
    pairs = {int(j): int(i) for i, j in reversed(np.argwhere(same).tolist())}
    return [Note(names[j], f"says the same as {names[i]}; one of them is enough") for j, i in sorted(pairs.items())]


def _finite(values: Sequence[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, str) or math.isfinite(float(value))]
