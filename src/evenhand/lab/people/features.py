"""A table of a study as a schema: which columns are numbers, yes or no, or categories, and their ranges."""

from __future__ import annotations

from typing import Any

import polars as pl

from evenhand._internal.arrays import Floats
from evenhand.schema import Category, Number, Schema, YesNo
from evenhand.schema.features import Feature
from evenhand.schema.scales import Scale

YES_NO = 2
"""A text or a 0/1 column with this many values is a yes or no."""


def schema_of(table: pl.DataFrame, scale: Scale) -> Schema:
    """The schema of a table of candidates, its numbers on this scale, without an intercept.

    A column of two texts, or of 0 and 1, is a YesNo; more texts are a Category; other numbers run from their lowest to
    their highest value. A column with one value tells nobody apart and is left out.

    >>> schema_of(pl.DataFrame({"age": [20, 70], "sex": ["m", "f"], "race": ["a", "a"]}), "linear").coordinates
    ('age', 'sex=m')
    """
    features: list[Feature] = []
    for name in table.columns:
        values = sorted(table[name].unique().to_list())
        if len(values) < YES_NO:
            continue
        if table[name].dtype == pl.String:
            features.append(YesNo(f"{name}={values[-1]}") if len(values) == YES_NO else Category(name, tuple(values)))
        elif values == [0, 1]:
            features.append(YesNo(name))
        else:
            whole = all(float(value).is_integer() for value in values)
            features.append(Number(name, low=values[0], high=values[-1], integer=whole, scale=scale))
    return Schema(features, intercept=False).fitted(_rows(table), extra="ignore")


def contexts_of(table: pl.DataFrame, schema: Schema) -> Floats:
    """The rows of a table as contexts (n, d) of norm at most 1."""
    return schema.encode(_rows(table), extra="ignore")


def _rows(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows of the schema's features: a column of two texts is named after the last of them, as in `schema_of`."""
    columns: dict[str, list[Any]] = {}
    for name in table.columns:
        values = table[name].to_list()
        levels = sorted(set(values))
        if table[name].dtype == pl.String and len(levels) == YES_NO:
            columns[f"{name}={levels[-1]}"] = [value == levels[-1] for value in values]
        else:
            columns[name] = [bool(value) for value in values] if levels == [0, 1] else values
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
