"""EncodedRows: the candidates of a table who fit, who was left out and why, and which values count as another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_one_of
from evenhand.errors import InvalidInput
from evenhand.schema._coordinate import as_level
from evenhand.schema.date import as_day
from evenhand.schema.features import Category, Date, Feature, Number
from evenhand.schema.number import RANGE_TOLERANCE
from evenhand.schema.rows import (
    DoesNotFit,
    RawColumns,
    RowProblem,
    as_floats,
    as_number,
    is_missing,
    numeral,
    plain,
    shown,
)

if TYPE_CHECKING:
    from evenhand.schema.schema import Schema

OnInvalid = Literal["refuse", "skip", "clip"]
"""What becomes of candidates who do not fit: "refuse" raises an error that names them all, "skip" leaves them out, and
"clip" counts numbers and dates beyond a range as its end and leaves out whoever still does not fit."""

DECODE_TOLERANCE = 1e-6
"""Accepted error of a coordinate, before scaling, in decoding: contexts may have been stored as float32."""

NOT_ENCODED = "the context must be an encoded row of the schema, got an invalid coordinate {!r}"

HINT = "on_invalid='skip' leaves out who does not fit"


@dataclass(frozen=True)
class LeftOut:
    """A candidate who does not fit, and every reason.

    >>> print(LeftOut("a17", ("income must be a number from 0 to 200000 EUR, got 250000",)))
    a17: income must be a number from 0 to 200000 EUR, got 250000
    """

    id: str
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.id}: {'; '.join(self.reasons)}"


@dataclass(frozen=True)
class CountedAs:
    """A value that counts as another: clipped, not listed, or missing.

    >>> print(CountedAs("a17", "income", 250_000, 200_000.0))
    a17: income 250000 counts as 200000
    """

    id: str
    feature: str
    given: Any
    value: float | str | bool

    def __str__(self) -> str:
        given = "with no value" if is_missing(self.given) else shown(self.given)
        return f"{self.id}: {self.feature} {given} counts as {shown(self.value)}"


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """The candidates of a table who fit, in order, and what became of the others."""

    ids: tuple[str, ...]
    contexts: Floats
    """(k, n_features), of norm <= 1."""
    rows: tuple[dict[str, Any], ...]
    """The values of the schema's features as they were given, in JSON types."""
    carried: tuple[dict[str, Any], ...]
    """The values of carried columns."""
    places: tuple[int, ...]
    """The rows of the table, from 0, that the candidates were in."""
    left_out: tuple[LeftOut, ...]
    counted_as: tuple[CountedAs, ...]

    def __len__(self) -> int:
        return len(self.ids)


def read_columns(
    schema: Schema, table: RawColumns, *, clip: bool = False
) -> tuple[list[list[object]], tuple[RowProblem, ...]]:
    """The values of all rows as features read them, None where they cannot; and all problems, row by row."""
    problems = list(table.problems)
    columns: list[list[object]] = []
    for feature in schema.features:
        column: list[object] = []
        has_numerals = table.is_frame and isinstance(feature, Number)
        for row, value in enumerate(table.columns[feature.name]):
            column.append(None)
            if row in table.unread:
                continue
            try:
                column[row] = feature.read(numeral(value) if has_numerals else value, clip=clip)
            except InvalidInput as error:
                problems.append(RowProblem(row, feature.name, str(error)))
        columns.append(column)
    order = {name: number for number, name in enumerate(schema.names)}
    problems.sort(key=lambda p: (-1 if p.row is None else p.row, order.get(p.feature or "", -1)))
    return columns, tuple(problems)


def encode_rows(schema: Schema, table: RawColumns, mode: OnInvalid) -> EncodedRows:
    """The rows that fit, encoded; the implementation of `Schema.read`."""
    check_one_of("on_invalid", mode, get_args(OnInvalid))
    columns, found = read_columns(schema, table, clip=mode == "clip")
    problems = [replace(p, id=table.ids[p.row]) if p.row is not None else p for p in found]
    if any(p.row is None for p in problems) or (problems and mode == "refuse"):
        raise DoesNotFit(problems, hint="" if any(p.row is None for p in problems) else HINT)
    reasons: dict[int, list[str]] = {}
    for p in problems:
        assert p.row is not None
        reasons.setdefault(p.row, []).append(p.what)
    places = [row for row in range(len(table.ids)) if row not in reasons]
    left_out = tuple(LeftOut(table.ids[row], tuple(why)) for row, why in sorted(reasons.items()))
    if left_out and not places:
        raise InvalidInput(f"at least one candidate must fit, got none of {len(left_out)}: {left_out[0]}")
    kept = [[column[row] for row in places] for column in columns]
    rows = [{name: plain(table.columns[name][row]) for name in schema.names} for row in places]
    carried = [{name: plain(values[row]) for name, values in table.carried.items()} for row in places]
    return EncodedRows(
        ids=tuple(table.ids[row] for row in places),
        contexts=blocks_of(schema, kept),
        rows=tuple(rows),
        carried=tuple(carried),
        places=tuple(places),
        left_out=left_out,
        counted_as=tuple(_counted_as(schema, table, kept, places, clip=mode == "clip")),
    )


def blocks_of(schema: Schema, columns: list[list[object]]) -> Floats:
    """Validated values, one list per feature, as contexts."""
    blocks = [feature.encode(column) for feature, column in zip(schema.features, columns, strict=True)]
    if schema.intercept:
        blocks.append(np.ones((len(blocks[0]), 1)))
    return np.hstack(blocks) * schema.scale


def _counted_as(
    schema: Schema, table: RawColumns, columns: list[list[object]], places: Sequence[int], *, clip: bool
) -> list[CountedAs]:
    """Every value that counts as another, candidate by candidate."""
    found = []
    pairs = [pair for pair in zip(schema.features, columns, strict=True) if clip or _may_replace(pair[0])]
    for at, row in enumerate(places):
        for feature, column in pairs:
            given, value = table.columns[feature.name][row], column[at]
            if is_replaced(feature, given, value):
                found.append(CountedAs(table.ids[row], feature.name, plain(given), value))  # type: ignore[arg-type]
    return found


def _may_replace(feature: Feature) -> bool:
    """Whether a feature reads any value as another one."""
    return feature.missing is not None or bool(getattr(feature, "clip", False) or getattr(feature, "other", None))


def is_replaced(feature: Feature, given: object, value: object) -> bool:
    """Whether a value was read as another one: not if it has a level of its own, nor if it was rounded to an end.

    >>> age = Number("age", low=18, high=98, missing=40)
    >>> is_replaced(age, None, age.read(None)), is_replaced(age, 98.000001, age.read(98.000001))
    (True, False)
    """
    if is_missing(given):
        return (
            value is not None and value != given and not (isinstance(feature, Category) and value not in feature.levels)
        )
    if isinstance(feature, Number):
        number, room = as_number(numeral(given)), RANGE_TOLERANCE * max(abs(feature.low), abs(feature.high))
        return number is None or abs(number - float(value)) > room  # type: ignore[arg-type]
    if isinstance(feature, Category):
        return as_level(given) != value
    day = as_day(given) if isinstance(feature, Date) else None
    return day is not None and day.isoformat() != value


def decode_rows(schema: Schema, contexts: ArrayLike) -> list[dict[str, Any]]:
    """The implementation of `Schema.decode`."""
    array = as_floats(contexts, "contexts")
    if array.ndim != 2 or array.shape[1] != schema.n_features:
        raise InvalidInput(f"contexts must have shape (k, {schema.n_features}), got {array.shape}")
    unfinite = [(number, row[~np.isfinite(row)]) for number, row in enumerate(array) if not np.isfinite(row).all()]
    if unfinite:
        reason = "the context must be finite, got {} in it"
        raise DoesNotFit([RowProblem(number, None, reason.format(bad[0])) for number, bad in unfinite])
    array = np.clip(array, -2.0, 2.0) / schema.scale  # beyond 1 nothing fits; far beyond, the division overflows
    rows = [{f.name: f.decode(row[schema.blocks[f.name]]) for f in schema.features} for row in array]
    again = schema.encode(rows) / schema.scale
    off = np.abs(again - array)
    wrong = np.flatnonzero(np.any(off > DECODE_TOLERANCE, axis=1))
    if len(wrong):
        worst = [schema.coordinates[at] for at in np.argmax(off[wrong], axis=1)]
        raise DoesNotFit(
            [RowProblem(int(row), None, NOT_ENCODED.format(at)) for row, at in zip(wrong, worst, strict=True)]
        )
    return rows
