"""People from a CSV file, read through a schema."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import InvalidInput
from evenhand.interview.table import read_table
from evenhand.schema import Number, Schema, YesNo
from evenhand.schema.fit import DoesNotFit

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
    return People(read, contexts, tuple(column for column in table.header if column not in schema.names))


def _value(feature: object, text: str) -> object:
    """A cell as the feature would have it, or the text itself, which the feature then refuses with a sentence."""
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
