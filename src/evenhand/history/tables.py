"""Tables from wherever they are: CSV, Parquet and JSON lines files, data frames, databases."""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand._internal.frames import FILES, FrameTable, as_frame, read_frame_file
from evenhand.errors import InvalidInput, MissingExtra
from evenhand.interview.people import SEPARATORS
from evenhand.schema.rows import shown

SUFFIXES = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
SEPARATOR_LINE = re.compile(r"sep=([,;\t|])\r?\n")  # As Excel writes and reads it.
BOMS_OF_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
MOST_ROWS = 5_000_000


@dataclass(frozen=True)
class RawTable:
    """Columns of values, where each row stands, and rows that could not be read at all."""

    columns: dict[str, list[Any]]
    places: list[str]
    labels: list[str]
    """What the table itself calls its rows: the index of a pandas frame, else row numbers from 0."""
    unreadable: list[tuple[str, str]]
    """Where, and why."""
    is_text: bool = False
    """Whether all values are texts, as in a CSV file."""

    def __len__(self) -> int:
        return len(self.places)

    def column(self, name: str) -> list[Any]:
        """The values of a column, or InvalidInput."""
        if name not in self.columns:
            raise InvalidInput(f"there is no column {name!r}; the table has {', '.join(map(str, self.columns))}")
        return self.columns[name]


def read_raw(source: Any, *, table: str | None = None, encoding: str = "utf-8") -> RawTable:
    """The table in a file (by its suffix), a data frame, a list of dicts, or a database.

    source: a path to .csv, .tsv, .parquet, .jsonl or .ndjson; a pandas or polars frame; an Arrow table; a list of
    dicts; or, with the name of a `table`, a SQLAlchemy engine, connection or URL.
    """
    if table is not None:
        return _checked(_from_database(source, table))
    if isinstance(source, str | os.PathLike):
        return _checked(_from_file(Path(source), encoding))
    frame = as_frame(source, "the table")
    if frame is not None:
        return _checked(_from_frame(frame))
    if isinstance(source, Sequence) and all(isinstance(row, Mapping) for row in source):
        return _checked(_from_dicts([(f"row {number}", row) for number, row in enumerate(source)]))
    expected = "a file, a data frame, a list of dicts, or a database with the name of a `table`"
    raise InvalidInput(f"the table must be {expected}, got {shown(source)}")


def _checked(table: RawTable) -> RawTable:
    if len(table) > MOST_ROWS:
        raise InvalidInput(f"a table must have at most {MOST_ROWS} rows, got {len(table)}; read it in parts")
    return table


def _from_columns(columns: Mapping[Any, Sequence[Any]], labels: list[str] | None = None) -> RawTable:
    n = len(next(iter(columns.values()), ()))
    names = labels if labels is not None else [str(number) for number in range(n)]
    return RawTable(
        {str(name): list(values) for name, values in columns.items()}, [f"row {i}" for i in range(n)], names, []
    )


def _from_frame(frame: FrameTable) -> RawTable:
    names = [str(name) for name in frame.names]
    if len(set(names)) < len(names):
        raise InvalidInput(f"the names of columns must be unique, got {', '.join(names)}")
    labels = list(frame.labels)  # frames that were put together may repeat their labels
    columns = {name: frame.column(name) for name in frame.names}
    return _from_columns(columns, labels if len(set(labels)) == len(frame) else None)


def _from_dicts(rows: Sequence[tuple[str, Mapping[str, Any]]], unreadable: Iterable[tuple[str, str]] = ()) -> RawTable:
    names = list(dict.fromkeys(str(name) for _, row in rows for name in row))
    columns = {name: [row.get(name) for _, row in rows] for name in names}
    return RawTable(columns, [place for place, _ in rows], [str(i) for i in range(len(rows))], list(unreadable))


def _from_file(path: Path, encoding: str) -> RawTable:
    frame = read_frame_file(path)
    if frame is not None:
        return _from_frame(frame)
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        endings = ", ".join([*SUFFIXES, *FILES])
        raise InvalidInput(f"a file must end in one of {endings}, got {path}; a database needs the name of a table")
    try:
        with open(path, encoding="utf-8-sig" if encoding == "utf-8" else encoding, newline="") as file:
            return _from_csv(file.read(), str(path)) if kind == "csv" else _from_jsonl(file, str(path))
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from None
    except LookupError:
        raise InvalidInput(f"encoding must be one that Python knows, such as cp1252, got {encoding!r}") from None
    except UnicodeError as error:
        likely = "utf-16" if path.read_bytes()[:2] in BOMS_OF_UTF_16 else "cp1252"
        raise InvalidInput(f"{path} must be in {encoding}: {error}; pass its encoding, such as {likely}") from None


def _from_csv(text: str, name: str) -> RawTable:
    """A header and lines; lines with too few or too many values are named. A first line may name the separator."""
    declared = SEPARATOR_LINE.match(text)
    separator = declared[1] if declared else max(SEPARATORS, key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    lines, start = [], 1
    try:
        for values in reader:
            lines.append((start, values))
            start = reader.line_num + 1
    except csv.Error as error:
        raise InvalidInput(f"{name} must be a CSV file, line {start}: {error}") from None
    lines = [(number, values) for number, values in lines[declared is not None :] if values]
    if not lines:
        raise InvalidInput(f"{name} must have a header, got an empty file")
    header = [column.strip() for column in lines[0][1]]
    if len(set(header)) < len(header) or not all(header):
        raise InvalidInput(f"{name}: the header must name every column once, got {', '.join(header)!r}")
    fitting = [(number, values) for number, values in lines[1:] if len(values) == len(header)]
    unreadable = [
        (f"line {number}", f"the line must have {len(header)} values, got {len(values)}")
        for number, values in lines[1:]
        if len(values) != len(header)
    ]
    columns = {column: [values[place].strip() for _, values in fitting] for place, column in enumerate(header)}
    places = [f"line {number}" for number, _ in fitting]
    return RawTable(columns, places, [str(i) for i in range(len(places))], unreadable, is_text=True)


def _from_jsonl(lines: Iterable[str], name: str) -> RawTable:
    rows, unreadable = [], []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            unreadable.append((f"line {number}", f"the line must be JSON: {error.msg}"))
            continue
        if isinstance(row, dict):
            rows.append((f"line {number}", row))
        else:
            unreadable.append((f"line {number}", f"the line must be a JSON object, got {shown(row)}"))
    if not rows:
        raise InvalidInput(f"{name} must have at least one JSON object, got none")
    return _from_dicts(rows, unreadable)


def _from_database(source: Any, table: str) -> RawTable:
    """All rows of a table, named "table" or "schema.table"."""
    try:
        import sqlalchemy as sql
    except ImportError:
        raise MissingExtra("databases need SQLAlchemy: pip install 'evenhand[desk]'") from None
    schema, _, name = table.rpartition(".")
    owned = isinstance(source, str | sql.URL)
    try:
        engine = sql.create_engine(source) if owned else source
        try:
            found = sql.Table(name, sql.MetaData(), autoload_with=engine, schema=schema or None)
            query = sql.select(found).limit(MOST_ROWS + 1)
            if isinstance(engine, sql.Connection):
                rows = engine.execute(query).mappings().all()
            else:
                with engine.connect() as connection:
                    rows = connection.execute(query).mappings().all()
        finally:
            if owned:
                engine.dispose()
    except sql.exc.NoSuchTableError:
        raise InvalidInput(f"there is no table {table!r} in the database") from None
    except (sql.exc.SQLAlchemyError, AttributeError) as error:
        reason = str(getattr(error, "orig", None) or error).partition("\n")[0]
        raise InvalidInput(f"table {table!r} cannot be read: {reason}") from None
    return _from_columns({str(column.name): [row[column.name] for row in rows] for column in found.columns})
