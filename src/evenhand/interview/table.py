"""A table from a CSV file: its columns by name, every line with its number, and what is wrong with it in sentences."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evenhand.errors import InvalidInput

SEPARATORS = (",", ";", "\t")
"""What spreadsheets write between values; the one most frequent in the header is meant."""

MOST_COMPLAINTS = 10
"""How many values that do not fit are named."""


@dataclass(frozen=True)
class Table:
    """Lines of values below a header that names the columns."""

    name: str
    """What errors call the file."""
    header: list[str]
    lines: list[tuple[int, list[str]]]
    """The number of the line in the file, counted from 1 as editors and spreadsheets do, and its values."""

    def values(self, columns: Sequence[str]) -> list[dict[str, str]]:
        """Of every line the values of these columns, without spaces around them."""
        places = {column: self.header.index(column) for column in columns}
        return [{column: line[place].strip() for column, place in places.items()} for _, line in self.lines]

    def misfit(self, complaints: Sequence[tuple[int, str | None, str]]) -> InvalidInput:
        """The error that says what does not fit: for each its place among the lines, the column, and what it is.

        >>> table = Table("the file", ["age"], [(2, ["-1"])])
        >>> print(table.misfit([(0, "age", "is -1; allowed is 0 to 120")]))
        the file does not fit:
        line 2, column age: it is -1; allowed is 0 to 120
        """
        listed = [
            f"line {self.lines[row][0]}{'' if column is None else f', column {column}'}: it {reason}"
            for row, column, reason in complaints[:MOST_COMPLAINTS]
        ]
        more = len(complaints) - MOST_COMPLAINTS
        return InvalidInput("\n".join([f"{self.name} does not fit:", *listed, *([f"and {more} more"] * (more > 0))]))


def read_table(text: Iterable[str], columns: Sequence[str], name: str) -> Table:
    """Lines of values separated by commas, semicolons or tabs, each of these columns named once in the first one."""
    try:
        given = list(text)
        reader = csv.reader(given, strict=True, delimiter=max(SEPARATORS, key="".join(given[:1]).count))
        ends = [(line, reader.line_num) for line in reader]
    except (csv.Error, UnicodeDecodeError) as error:
        raise InvalidInput(f"{name} is no CSV file in UTF-8: {error}") from None
    # A value may hold line breaks: a line begins after the one before it ends.
    starts = [1, *(end + 1 for _, end in ends)]
    lines = [(start, line) for start, (line, _) in zip(starts, ends, strict=False) if line]
    if not lines:
        raise InvalidInput(f"{name} is empty; it needs a header that names {', '.join(columns)}")
    (_, header), *body = lines
    table = Table(name, [column.strip() for column in header], body)
    _check_shape(table, columns)
    return table


def _check_shape(table: Table, columns: Sequence[str]) -> None:
    name, header = table.name, table.header
    for column in columns:
        if header.count(column) != 1:
            times = "not" if column not in header else "more than once"
            needed = f"it needs one column for each of {', '.join(columns)}"
            raise InvalidInput(
                f"{name}: {column} is {times} in the header, which reads {', '.join(header)!r}; {needed}"
            )
    for number, line in table.lines:
        if len(line) != len(header):
            raise InvalidInput(f"{name}: line {number} has {len(line)} values; the header names {len(header)}")
    if len(table.lines) < 2:
        found = "one person" if table.lines else "nobody"
        raise InvalidInput(f"{name} has {found} in it; an interview needs at least two people")
