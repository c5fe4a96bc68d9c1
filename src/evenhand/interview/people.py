"""People from a file, validated by a schema; errors name the line or row and the column."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand._internal.arrays import Floats
from evenhand._internal.frames import FILES, FrameTable, read_frame_file
from evenhand.errors import InvalidInput
from evenhand.schema import Category, Feature, Number, Ordinal, Schema, YesNo
from evenhand.schema.encoded_rows import is_replaced
from evenhand.schema.rows import NUMERAL, DoesNotFit, numeral

SEPARATORS = (",", ";", "\t", "|")  # Accepted separators; the most frequent one in the header is used.
MOST_COMPLAINTS = 10  # Maximum number of problems in an error message.


@dataclass(frozen=True)
class CsvTable:
    """A header with the names of columns, and lines of values."""

    name: str
    """The file's name in error messages."""
    header: list[str]
    lines: list[tuple[int, list[str]]]
    """Line numbers in the file, from 1, and values."""

    def values(self, columns: Sequence[str]) -> list[dict[str, str]]:
        """The values of these columns in every line, stripped."""
        places = {column: self.header.index(column) for column in columns}
        return [{column: line[place].strip() for column, place in places.items()} for _, line in self.lines]

    def misfit(self, complaints: Sequence[tuple[int, str | None, str]]) -> InvalidInput:
        """The error about problems, each with the index of a line, the column, and what it must be.

        >>> table = CsvTable("the file", ["age"], [(2, ["-1"])])
        >>> print(table.misfit([(0, "age", "must be a number from 0 to 120, got -1")]))
        the file does not fit:
        line 2, column age: it must be a number from 0 to 120, got -1
        """
        listed = [
            f"line {self.lines[row][0]}{'' if column is None else f', column {column}'}: it {reason}"
            for row, column, reason in complaints[:MOST_COMPLAINTS]
        ]
        more = len(complaints) - MOST_COMPLAINTS
        return InvalidInput("\n".join([f"{self.name} does not fit:", *listed, *([f"and {more} more"] * (more > 0))]))


def read_table(text: Iterable[str], columns: Sequence[str], name: str) -> CsvTable:
    """Read lines of values separated by commas, semicolons, tabs or bars, below a header with each of these columns."""
    try:
        lines_of_text = list(text)
        separator = max(SEPARATORS, key="".join(lines_of_text[:1]).count)
        reader = csv.reader(lines_of_text, strict=True, delimiter=separator)
        ends = [(line, reader.line_num) for line in reader]
    except csv.Error as error:
        raise InvalidInput(f"{name} must be a CSV file in UTF-8: {error}") from None
    except UnicodeDecodeError:
        raise InvalidInput(
            f"{name} must be a CSV file in UTF-8, or end in {', '.join(FILES)}: got other bytes"
        ) from None
    # A value may hold line breaks: a line begins after the one before it ends.
    starts = [1, *(end + 1 for _, end in ends)]
    lines = [(start, line) for start, (line, _) in zip(starts, ends, strict=False) if line]
    if not lines:
        named = f" with {', '.join(columns)}" if columns else ""
        raise InvalidInput(f"{name} must have a header{named}, got an empty file")
    (_, header), *body = lines
    table = CsvTable(name, [column.strip() for column in header], body)
    _check_shape(table, columns)
    return table


def _check_shape(table: CsvTable, columns: Sequence[str]) -> None:
    name, header = table.name, table.header
    for column in columns:
        if header.count(column) != 1:
            raise InvalidInput(
                f"{name}: the header must have one column for each of {', '.join(columns)}, "
                f"got {header.count(column)} for {column} in {', '.join(header)!r}"
            )
    for number, line in table.lines:
        if len(line) != len(header):
            raise InvalidInput(f"{name}: line {number} must have {len(header)} values, got {len(line)}")
    if len(table.lines) < 2:
        raise InvalidInput(f"{name} must have at least two people, got {len(table.lines)}")


TRUTHS = {"true": True, "false": False, "1": True, "0": False}  # Other spellings of yes and no in CSV files.


@dataclass(frozen=True, eq=False)
class PeopleTable:
    """PeopleTable as rows and as contexts."""

    rows: tuple[dict[str, Any], ...]
    """The values of the schema's features; those that count as another, as they were given."""
    contexts: Floats
    ignored: tuple[str, ...]
    """Columns of the file that are not in the schema."""
    schema: Schema
    """The schema that encoded them: scales that were open are fitted to these people."""


def load_schema(path: str | os.PathLike[str]) -> Schema:
    """A saved schema; raises InvalidInput if the file cannot be read."""
    try:
        return Schema.load(path)
    except OSError as error:
        raise InvalidInput(f"{os.fspath(path)} cannot be read: {error.strerror}") from None


def load_people(path: str | os.PathLike[str], schema: Schema) -> PeopleTable:
    """The people in a CSV, Parquet or Arrow file that has the schema's features as columns, and perhaps others."""
    try:
        frame = read_frame_file(path)
        if frame is not None:
            return _people_of(frame, schema, os.fspath(path))
        with open(path, encoding="utf-8-sig", newline="") as file:
            return read_people(file, schema, os.fspath(path))
    except OSError as error:
        raise InvalidInput(f"{os.fspath(path)} cannot be read: {error.strerror}") from None


def load_columns(path: str | os.PathLike[str]) -> dict[str, list[Any]]:
    """All columns of a file. Of a CSV file: those of numerals as numbers, blanks as None, others as texts."""
    try:
        frame = read_frame_file(path)
        if frame is not None:
            return {name: frame.column(name) for name in frame.names}
        with open(path, encoding="utf-8-sig", newline="") as file:
            table = read_table(file, (), os.fspath(path))
    except OSError as error:
        raise InvalidInput(f"{os.fspath(path)} cannot be read: {error.strerror}") from None
    if all(NUMERAL.fullmatch(name) for name in table.header):
        got = ", ".join(table.header)
        raise InvalidInput(f"{table.name}: the first line must have the names of columns, got the numbers {got}")
    for number, name in enumerate(table.header):
        if not name:
            raise InvalidInput(f"{table.name}: the header must name every column, got no name for column {number + 1}")
        if table.header.count(name) > 1:
            count = table.header.count(name)
            raise InvalidInput(f"{table.name}: the names of columns must be unique, got {name!r} {count} times")
    return {
        name: typed_column([line[place].strip() for _, line in table.lines]) for place, name in enumerate(table.header)
    }


def typed_column(texts: list[str]) -> list[Any]:
    """A column in one type: whole numbers if all are, else numbers if all are, else texts; None for blanks.

    >>> typed_column(["1", "", "3"]), typed_column(["1", "2.5"]), typed_column(["1", "n/a"])
    ([1, None, 3], [1.0, 2.5], ['1', 'n/a'])
    """
    for kind in (int, float):
        try:
            return [kind(text) if text else None for text in texts]
        except ValueError:
            continue
    return [text or None for text in texts]


def read_people(text: Iterable[str], schema: Schema, name: str) -> PeopleTable:
    """The people in lines of separated values; `name` is the file's name in error messages."""
    table = read_table(text, schema.names, name)
    raw = table.values(schema.names)
    rows = [{feature.name: read_cell(feature, row[feature.name]) for feature in schema.features} for row in raw]
    try:
        schema = schema.fitted(rows) if schema.is_open else schema
        contexts = schema.encode(rows)
    except DoesNotFit as error:
        raise table.misfit(
            [(problem.row or 0, problem.feature, problem.reason) for problem in error.problems]
        ) from None
    read = tuple({feature.name: _shown(feature, row[feature.name]) for feature in schema.features} for row in rows)
    known = (*schema.names, *schema.carry)
    return PeopleTable(read, contexts, tuple(column for column in table.header if column not in known), schema)


def _people_of(frame: FrameTable, schema: Schema, name: str) -> PeopleTable:
    """The people in a data frame; `name` is the file's name in error messages."""
    if len(frame) < 2:
        raise InvalidInput(f"{name} must have at least two people, got {len(frame)}")
    try:
        schema = schema.fitted(frame, extra="ignore") if schema.is_open else schema
        people = schema.read(frame, extra="ignore")
    except DoesNotFit as error:
        raise InvalidInput(f"{name} does not fit:\n{error}") from None
    known = (*schema.names, *schema.carry)
    ignored = tuple(str(column) for column in frame.names if column not in known)
    return PeopleTable(tuple(people.rows), people.contexts, ignored, schema)


def _shown(feature: Feature, given: object) -> Any:
    """A value as it is read, or as it was given if it counts as another."""
    value = feature.read(given)
    return given if is_replaced(feature, given, value) else value


def read_cell(feature: Feature, text: str) -> object:
    """A cell in the type of the feature, or the text itself, which the feature then refuses.

    Columns of whole numbers with gaps are written as 1.0 and 3.0: these are yes, and the code 3.
    """
    if not text:
        return None
    if isinstance(feature, YesNo):
        return TRUTHS.get(text.lower(), numeral(text))
    if isinstance(feature, Category | Ordinal):
        return text if text in feature.levels else numeral(text)
    if isinstance(feature, Number):
        try:
            return float(text)
        except ValueError:
            return text
    return text
