"""People from a CSV file, validated by a schema."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evenhand._internal.arrays import Floats
from evenhand.errors import InvalidInput
from evenhand.interview.table import read_table
from evenhand.schema import Number, Schema, YesNo
from evenhand.schema.fit import DoesNotFit

TRUTHS = {"true": True, "false": False, "1": True, "0": False}
"""Other spellings of yes and no in CSV files."""


@dataclass(frozen=True, eq=False)
class PeopleTable:
    """PeopleTable as rows and as contexts."""

    rows: tuple[dict[str, Any], ...]
    """The validated values of the schema's features."""
    contexts: Floats
    ignored: tuple[str, ...]
    """Columns of the file that are not in the schema."""


def load_schema(path: str | os.PathLike[str]) -> Schema:
    """A saved schema; raises InvalidInput if the file cannot be read."""
    try:
        return Schema.load(path)
    except OSError as error:
        raise InvalidInput(f"{os.fspath(path)} cannot be read: {error.strerror}") from None


def load_people(path: str | os.PathLike[str], schema: Schema) -> PeopleTable:
    """The people in a CSV file whose header names the schema's features, in any order, and perhaps other columns."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return read_people(file, schema, os.fspath(path))
    except OSError as error:
        raise InvalidInput(f"{os.fspath(path)} cannot be read: {error.strerror}") from None


def read_people(text: Iterable[str], schema: Schema, name: str) -> PeopleTable:
    """The people in lines of separated values; `name` is the file's name in error messages."""
    table = read_table(text, schema.names, name)
    raw = table.values(schema.names)
    rows = [{feature.name: _value(feature, row[feature.name]) for feature in schema.features} for row in raw]
    try:
        contexts = schema.encode(rows)
    except DoesNotFit as error:
        raise table.misfit(
            [(problem.row or 0, problem.feature, problem.reason) for problem in error.problems]
        ) from None
    read = tuple({feature.name: feature.read(row[feature.name]) for feature in schema.features} for row in rows)
    return PeopleTable(read, contexts, tuple(column for column in table.header if column not in schema.names))


def _value(feature: object, text: str) -> object:
    """A cell in the type of the feature, or the text itself, which the feature then refuses."""
    if not text:
        return None
    if isinstance(feature, YesNo):
        return TRUTHS.get(text.lower(), text)
    if isinstance(feature, Number):
        try:
            return float(text)
        except ValueError:
            return text
    return text
