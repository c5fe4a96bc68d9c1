"""A schema as a plain table of text, for people who look it over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand._internal.counted import counted
from evenhand._internal.text_table import aligned
from evenhand.schema.category import Category, Ordinal
from evenhand.schema.date import Date
from evenhand.schema.features import Feature
from evenhand.schema.number import Number
from evenhand.schema.rows import shown

if TYPE_CHECKING:
    from evenhand.schema.schema import Schema

LEVELS_IN_TABLE = 6  # How many levels of a feature the table lists.
WIDEST = 60  # Characters of a cell.


def text_of(schema: Schema) -> str:
    """A line for each feature, then what is carried, the size, and the notes of a proposal."""
    table = [("feature", "kind", "values", "missing")]
    table += [(f.name, f.kind, _values(f), _missing(f)) for f in schema.features]
    intercept = " with the intercept" if schema.intercept else ""
    lines = aligned([[_one_line(cell) for cell in row] for row in table])
    if schema.carry:
        lines.append(_one_line(f"carried, not used: {', '.join(schema.carry)}"))
    lines.append(f"{counted(len(schema.features), 'feature')}, {counted(schema.n_features, 'coordinate')}{intercept}")
    if schema.notes:
        lines += ["look at:", *(_one_line(f"  {line}") for line in schema.to_look_at)]
    return "\n".join(lines)


def _one_line(text: str) -> str:
    """Without the line breaks that headers of spreadsheets have."""
    return text.replace("\r", "").replace("\n", " ")


def _values(feature: Feature) -> str:
    """The valid values of a feature, and how they count."""
    if isinstance(feature, Number):
        parts = [f"{shown(feature.low)} to {shown(feature.high)} {feature.unit}".strip()]
        parts += ["whole"] * feature.integer + [f"{feature.scale} scale"] * (feature.scale != "linear")
        return ", ".join(parts + ["clipped"] * feature.clip)
    if isinstance(feature, Date):
        return f"{feature.low} to {feature.high}{', clipped' * feature.clip}"
    if isinstance(feature, Category | Ordinal):
        between = " < " if isinstance(feature, Ordinal) else ", "
        listed = between.join(feature.levels[:LEVELS_IN_TABLE])
        more = f"{between}... {len(feature.levels)} levels" if len(feature.levels) > LEVELS_IN_TABLE else ""
        other = feature.other if isinstance(feature, Category) else None
        cut = listed if len(listed) <= WIDEST else f"{listed[: WIDEST - 3]}..."
        return f"{cut}{more}" + ("" if other is None else f"; others count as {other}")
    return "yes or no"


def _missing(feature: Feature) -> str:
    if feature.missing is None:
        return "refused"
    is_level = isinstance(feature, Category) and feature.missing not in feature.levels
    if is_level or (not isinstance(feature, Category) and feature.has_own_level):
        return f"own level, {feature.missing}"
    words = {True: "yes", False: "no"}
    known = words[feature.missing] if isinstance(feature.missing, bool) else shown(feature.missing).strip("'")
    return f"counts as {known}"
