"""People from a CSV file, read through a schema."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import InvalidInput
from evenhand.schema import Number, Schema, YesNo
from evenhand.schema.fit import DoesNotFit

SEPARATORS = (",", ";", "\t")
"""What spreadsheets write between values; the one most frequent in the header is meant."""

MOST_COMPLAINTS = 10
"""How many values that do not fit are named."""

TRUTHS = {"true": True, "false": False, "1": True, "0": False}
"""What other programs write into a CSV file for yes and no."""


@dataclass(frozen=True, eq=False)
class People:
    """Candidates as they are shown, and as a bandit sees them."""

    rows: tuple[dict[str, Any], ...]
    """The values of the schema's features, as the features read them."""
    contexts: NDArray[np.float64]
    passed_over: tuple[str, ...]
    """Columns of the file that are no feature."""


def load_schema(path: str | os.PathLike[str]) -> Schema:
    """A saved schema, or a sentence."""
    try:
        return Schema.load(path)
    except OSError as error:
        raise InvalidInput(f"{os.fspath(path)} cannot be read: {error.strerror}") from None


def load_people(path: str | os.PathLike[str], schema: Schema) -> People:
    """The people in a CSV file whose header names the schema's features, in any order, and perhaps other columns."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return read_people(file, schema, os.fspath(path))
    except OSError as error:
        raise InvalidInput(f"{os.fspath(path)} cannot be read: {error.strerror}") from None


def read_people(text: Iterable[str], schema: Schema, name: str) -> People:
    """The people in lines of values separated by commas, semicolons or tabs; `name` is what errors call them."""
    try:
        given = list(text)
        separator = max(SEPARATORS, key="".join(given[:1]).count)
        lines = [line for line in csv.reader(given, strict=True, delimiter=separator) if line]
    except (csv.Error, UnicodeDecodeError) as error:
        raise InvalidInput(f"{name} is no CSV file in UTF-8: {error}") from None
    if not lines:
        raise InvalidInput(f"{name} is empty; it needs a header that names {', '.join(schema.names)}")
    header, *body = lines
    _check_shape(name, header, body, schema)
    raw = [{feature: line[header.index(feature)] for feature in schema.names} for line in body]
    rows = [{feature.name: _value(feature, row[feature.name]) for feature in schema.features} for row in raw]
    try:
        contexts = schema.encode(rows)
    except DoesNotFit as error:
        complaints = str(error).splitlines()
        more = [f"and {len(complaints) - MOST_COMPLAINTS} more"] if len(complaints) > MOST_COMPLAINTS else []
        listed = "\n".join([*complaints[:MOST_COMPLAINTS], *more])
        raise InvalidInput(f"{name} does not fit the schema (row 0 is line 2, after the header):\n{listed}") from None
    read = tuple({feature.name: feature.read(row[feature.name]) for feature in schema.features} for row in rows)
    return People(read, contexts, tuple(column for column in header if column not in schema.names))


def _check_shape(name: str, header: list[str], body: list[list[str]], schema: Schema) -> None:
    for feature in schema.names:
        if header.count(feature) != 1:
            times = "not" if feature not in header else "more than once"
            raise InvalidInput(f"{name}: {feature} is {times} in the header, which reads {', '.join(header)!r}")
    for row, line in enumerate(body):
        if len(line) != len(header):
            raise InvalidInput(f"{name}: line {row + 2} has {len(line)} values; the header names {len(header)}")
    if len(body) < 2:
        raise InvalidInput(f"{name}: people in it: {len(body)}; an interview needs at least 2")


def _value(feature: object, text: str) -> object:
    """A cell as the feature would have it, or the text itself, which the feature then refuses with a sentence."""
    text = text.strip()
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
