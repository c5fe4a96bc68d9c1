"""read: a table of past applicants as a PastLog; rows that do not fit are named, and the rest goes on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from evenhand._internal.checks import check_one_of
from evenhand._internal.frames import ColumnTable
from evenhand.errors import InvalidInput
from evenhand.history.log_columns import LogColumns
from evenhand.history.past_log import PastLog, RefusedRow, capacities_of
from evenhand.history.row_answers import RowAnswer, answer_of, is_blank
from evenhand.history.row_rounds import other_capacity, repeated, rounds_of
from evenhand.history.tables import RawTable, read_raw
from evenhand.history.tidy_cells import decimal_of, stripped, tidied
from evenhand.interview.people import read_cell, typed_column
from evenhand.schema import EncodedRows, Feature, Note, Number, Schema
from evenhand.schema.rows import is_missing, numeral, shown

MOST_STRANGE = 0.05
"""A column of texts with at most this share of strange cells is one of numbers; rows with these are refused."""


def read(
    source: Any,
    columns: LogColumns,
    schema: Schema | None = None,
    *,
    table: str | None = None,
    encoding: str = "utf-8",
    ignore: Iterable[str] = (),
    on_invalid: Literal["skip", "clip"] = "skip",
) -> PastLog:
    """Past decisions from a table with one row for each candidate.

    source: a CSV, TSV, Parquet or JSON lines file, a pandas or polars frame, an Arrow table, a list of dicts, or, with
    the name of a `table`, a SQLAlchemy engine, connection or URL. encoding: of a text file, such as "cp1252".

    schema: the features of a candidate; None proposes one from the columns that are not named by `columns` and not in
    `ignore` (`log.schema` is what it came to). Ignore what was not known when people applied: whatever tells the
    decision or the outcome. on_invalid: "skip" refuses rows whose features do not fit; "clip" counts numbers and dates
    beyond their range as its end.

    >>> rows = [{"day": n // 2, "income": 20 + 7 * n % 15, "yes": n % 2, "paid": 1} for n in range(20)]
    >>> print(read(rows + [{"day": 9, "income": 1}], LogColumns(round="day", chosen="yes", outcome="paid")))
    10 rounds, 20 candidates, 10 chosen, 10 outcomes known (mean 1); no probabilities recorded
    1 row refused:
    row 20: yes must be yes or no (True or False, 1 or 0), got no value
    """
    check_one_of("on_invalid", on_invalid, ("skip", "clip"))
    if not isinstance(columns, LogColumns):
        raise InvalidInput(f"columns must be LogColumns(chosen=..., outcome=..., ...), got {shown(columns)}")
    raw = read_raw(source, table=table, encoding=encoding)
    for name in columns.used:
        raw.column(name)
    raw = tidied(raw, columns)
    if schema is None:
        raw = replace(raw, columns={name: [stripped(value) for value in cells] for name, cells in raw.columns.items()})
    found = schema if schema is not None else _proposed(raw, {*columns.used, *ignore})
    people, misfits, found = _encoded(raw, found, on_invalid)
    answers = [answer_of(raw, row, columns) for row in range(len(raw))]
    return replace(_assembled(raw, columns, people, misfits, answers), schema=found)


def _proposed(raw: RawTable, without: set[str]) -> Schema:
    names = [name for name in raw.columns if name not in without]
    unknown = [name for name in without if name not in raw.columns]
    if unknown:
        raise InvalidInput(f"there is no column {sorted(unknown)[0]!r}; the table has {', '.join(raw.columns)}")
    if not names:
        raise InvalidInput("the table must have columns of features besides those of decisions, got none")
    columns = {name: _typed(raw.columns[name]) for name in names}
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    forms = {name: decimal_of(values) for name, values in columns.items()}
    hints = [Note(name, f"numbers in a form that decimal={sign!r} reads") for name, sign in forms.items() if sign]
    try:
        found = Schema.from_frame(rows)
    except InvalidInput as error:
        raise InvalidInput("; ".join([str(error), *map(str, hints)])) from None
    return Schema(found.features, intercept=found.intercept, carry=found.carry, notes=(*found.notes, *hints))


def _typed(values: list[Any]) -> list[Any]:
    """A column in one type. One of texts is one of numbers if nearly all that are not blank are numerals.

    >>> _typed(["1", "2", "n/a"]), _typed(["1", "2", "low"]), _typed([*map(str, range(30)), "low"])[-2:]
    ([1, 2, None], ['1', '2', 'low'], [29, None])
    """
    if not all(isinstance(value, str) for value in values if not is_missing(value)):
        return values
    texts = ["" if is_missing(value) else value.strip() for value in values]
    numerals = [text if isinstance(numeral(text), float) else "" for text in texts]
    strange = sum(not (number or is_blank(text)) for text, number in zip(texts, numerals, strict=True))
    return typed_column(numerals if any(numerals) and strange <= MOST_STRANGE * len(texts) else texts)


def _encoded(
    raw: RawTable, schema: Schema, on_invalid: Literal["skip", "clip"]
) -> tuple[EncodedRows, dict[int, tuple[str, ...]], Schema]:
    """The rows whose features fit, why others do not, and the schema with its scales."""
    columns = {feature.name: raw.column(feature.name) for feature in schema.features}
    if raw.is_text:
        columns = {f.name: [read_cell(f, text) for text in columns[f.name]] for f in schema.features}
    for f in schema.features:
        if isinstance(f, Number):
            columns[f.name] = [None if is_blank(value) else value for value in columns[f.name]]
    features = ColumnTable(columns)
    if schema.is_open:  # scales are those of the rows that fit
        fitting = {f.name: _fitting(f, columns[f.name]) for f in schema.features}
        schema = schema.fitted(ColumnTable(fitting), extra="ignore")
    bare = Schema(schema.features, intercept=schema.intercept, notes=schema.notes)
    people = bare.read(features, on_invalid=on_invalid, ids=raw.places, extra="ignore")
    row_at = {place: row for row, place in enumerate(raw.places)}
    return people, {row_at[out.id]: out.reasons for out in people.left_out}, bare


def _fitting(feature: Feature, values: list[Any]) -> list[Any]:
    """The values of a feature, None for those that it refuses."""

    def fits(value: object) -> bool:
        try:
            feature.read(numeral(value) if isinstance(feature, Number) else value)
        except InvalidInput:
            return False
        return True

    return [value if fits(value) else None for value in values]


def _assembled(
    raw: RawTable,
    columns: LogColumns,
    people: EncodedRows,
    misfits: dict[int, tuple[str, ...]],
    answers: list[RowAnswer],
) -> PastLog:
    """The log of all rows that fit."""
    reasons = {row: (*misfits.get(row, ()), *answer.reasons) for row, answer in enumerate(answers)}
    rounds = rounds_of([row for row, why in reasons.items() if not why], answers, columns)
    for conflicts in (repeated(rounds, answers), other_capacity(rounds, answers)):
        reasons |= conflicts
        rounds = {name: [row for row in members if row not in conflicts] for name, members in rounds.items()}
    refused = [
        RefusedRow(raw.places[row], answers[row].id * bool(columns.candidate), w) for row, w in reasons.items() if w
    ]
    refused += [RefusedRow(place, "", (why,)) for place, why in raw.unreadable]
    order = [row for members in rounds.values() for row in members]
    if not order:
        raise InvalidInput(f"at least one row must fit, got none of {len(refused)}: {refused[0] if refused else ''}")
    _check_kinds([answers[row].chosen for row in order], refused, columns)
    at = {row: place for place, row in enumerate(people.places)}
    known = np.array([answers[row].probability for row in order]) if columns.probability is not None else None
    sizes = [len(members) for members in rounds.values()]
    ids, own_ids = _ids(rounds, answers)
    log = PastLog(
        contexts=people.contexts[[at[row] for row in order]],
        starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        chosen=np.array([answers[row].chosen for row in order], dtype=np.bool_),
        outcomes=np.array([answers[row].outcome for row in order], dtype=np.float64),
        probabilities=known,
        capacities=np.array(sizes, dtype=np.int64),
        ids=ids,
        names=tuple(rounds),
        people=own_ids,
        refused=tuple(refused),
        counted_as=tuple(map(str, people.counted_as)),
    )
    if columns.outcome_range is not None:
        low, high = columns.outcome_range
        log = replace(log, outcome_range=(low / columns.outcome_unit, high / columns.outcome_unit))
    given: Any = columns.capacity
    if isinstance(given, str):
        given = [answers[members[0]].capacity for members in rounds.values()]
    return replace(log, capacities=capacities_of(log, given))


def _check_kinds(chosen: list[bool], refused: list[RefusedRow], columns: LogColumns) -> None:
    """InvalidInput if many rows were refused, and with them all who were chosen, or all others: a word is not known."""
    unread = [row for row in refused if any(why.startswith((columns.chosen, columns.outcome)) for why in row.reasons)]
    if len(set(chosen)) == 1 and len(unread) > MOST_STRANGE * len(chosen):
        raise InvalidInput(
            f"nobody who was {'not ' * chosen[0]}chosen is left, since {len(unread)} rows were refused: {unread[0]}; "
            "pass other words for yes and no as `yes` and `no`"
        )


def _ids(rounds: dict[str, list[int]], answers: list[RowAnswer]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ids of candidates in order; if somebody was in several rounds, with the round in front, and without it."""
    people = tuple(answers[row].id for members in rounds.values() for row in members)
    if len(set(people)) == len(people):
        return people, ()
    return tuple(f"{name}/{answers[row].id}" for name, members in rounds.items() for row in members), people
