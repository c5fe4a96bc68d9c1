"""What a row of a table says of a past decision beside features: who, when, chosen or not, and what came of it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.errors import InvalidInput
from evenhand.history.log_columns import LogColumns
from evenhand.history.tables import RawTable
from evenhand.schema import YesNo
from evenhand.schema.rows import BLANKS, as_number, is_missing, numeral, shown


@dataclass
class RowAnswer:
    """What a row says beside the features."""

    id: str = ""
    chosen: bool = False
    outcome: float = np.nan
    probability: float = np.nan
    round: Any = None
    moment: datetime.datetime | None = None
    """In UTC, to put rows in order."""
    clock: datetime.datetime | None = None
    """As the table has it, without its zone."""
    capacity: int | None = None
    reasons: tuple[str, ...] = ()


def answer_of(raw: RawTable, row: int, columns: LogColumns) -> RowAnswer:
    """The decision, outcome and round of one row, with every reason why it cannot be used."""
    answer, reasons = RowAnswer(), []
    cell = {name: raw.columns[name][row] for name in columns.used}
    answer.id = raw.labels[row] if columns.candidate is None else text_of(cell[columns.candidate])
    if not answer.id:
        reasons.append(f"{columns.candidate} must be an id, got no value")
    try:
        answer.chosen = yes_no(columns.chosen, in_words(cell[columns.chosen], columns))
    except InvalidInput as error:
        reasons.append(str(error))
    if answer.chosen and not is_blank(cell[columns.outcome]):
        outcome = number_of(in_words(cell[columns.outcome], columns))
        low, high = columns.outcome_range or (-np.inf, np.inf)
        if outcome is None or not low <= outcome <= high:
            limits = "" if columns.outcome_range is None else f" from {low:g} to {high:g}"
            got = shown_or_none(cell[columns.outcome])
            reasons.append(f"{columns.outcome} must be a number{limits}, or yes or no, got {got}")
        else:
            answer.outcome = outcome / columns.outcome_unit
    if columns.probability is not None:
        p = number_of(cell[columns.probability])
        if p is None or not 0.0 <= p <= 1.0 or (answer.chosen and p == 0.0):
            expected = "a number above 0, to 1" if answer.chosen else "a number from 0 to 1"
            reasons.append(f"{columns.probability} must be {expected}, got {shown_or_none(cell[columns.probability])}")
        else:
            answer.probability = p
    reasons += _place_in_time(answer, cell, columns)
    answer.reasons = tuple(reasons)
    return answer


def _place_in_time(answer: RowAnswer, cell: dict[str, Any], columns: LogColumns) -> list[str]:
    """Set the round, the moment and the capacity; returns what is wrong with them."""
    reasons = []
    if columns.round is not None:
        answer.round = text_of(cell[columns.round])
        if not answer.round:
            reasons.append(f"{columns.round} must name a round, got no value")
    if columns.time is not None:
        found = as_moment(cell[columns.time], columns.time_format)
        if found is not None:
            answer.moment, answer.clock = in_utc(found), found.replace(tzinfo=None)
        else:
            expected = "a date or time, such as 2026-03-31 or 2026-03-31T10:00"
            if columns.time_format is not None:
                expected += f", or as {columns.time_format}"
            hint = "; time_format reads other forms" * (
                columns.time_format is None and not is_blank(cell[columns.time])
            )
            reasons.append(f"{columns.time} must be {expected}, got {shown_or_none(cell[columns.time])}{hint}")
    if isinstance(columns.capacity, str):
        number = number_of(cell[columns.capacity])
        if number is None or number < 1 or not float(number).is_integer():
            reasons.append(
                f"{columns.capacity} must be a whole number >= 1, got {shown_or_none(cell[columns.capacity])}"
            )
        else:
            answer.capacity = int(number)
    return reasons


def in_words(value: object, columns: LogColumns) -> object:
    """Yes or no if the value is one of the mapping's own words for them; else the value."""
    return columns.words.get(text_of(value).casefold(), value) if columns.words else value


def is_blank(value: object) -> bool:
    """Whether a value is missing, or a text that stands for that, as in pandas.

    >>> is_blank("n/a"), is_blank(""), is_blank("none at all")
    (True, True, False)
    """
    return is_missing(value) or (isinstance(value, str) and value.strip().lower() in BLANKS)


def yes_no(name: str, value: object) -> bool:
    """Yes or no, or InvalidInput that names the column."""
    try:
        return bool(YesNo(name).read(numeral(value)))
    except InvalidInput as error:
        raise InvalidInput(f"{name} {error}") from None


def number_of(value: object) -> float | None:
    """A finite number, or yes and no as 1 and 0; None for anything else."""
    number = as_number(numeral(value))
    if number is not None:
        return number if np.isfinite(number) else None
    if is_missing(value):
        return None
    try:
        return float(bool(YesNo("value").read(value)))
    except InvalidInput:
        return None


def text_of(value: object) -> str:
    """A value as text, whole numbers without a point; "" if it is missing."""
    if is_missing(value):
        return ""
    number = as_number(value)
    return str(int(number)) if number is not None and float(number).is_integer() else str(value).strip()


def shown_or_none(value: object) -> str:
    """A value as messages quote it."""
    return "no value" if is_missing(value) else shown(numeral(value))


def in_utc(moment: datetime.datetime) -> datetime.datetime:
    """A moment in UTC, without its zone; one without a zone as it is."""
    return moment if moment.tzinfo is None else moment.astimezone(datetime.UTC).replace(tzinfo=None)


def as_moment(value: Any, form: str | None = None) -> datetime.datetime | None:
    """The moment of a date, a time, numpy's or a text, with its zone if it has one; None for anything else.

    form: that of texts and numbers, as for `strftime`; texts in ISO form are read in any case.

    >>> as_moment("2026-03-31"), as_moment(np.datetime64("2026-03-31T10:00")), as_moment("soon")
    (datetime.datetime(2026, 3, 31, 0, 0), datetime.datetime(2026, 3, 31, 10, 0), None)
    >>> as_moment("31.03.2026", "%d.%m.%Y"), as_moment(20260331, "%Y%m%d")
    (datetime.datetime(2026, 3, 31, 0, 0), datetime.datetime(2026, 3, 31, 0, 0))
    """
    if is_missing(value):
        return None
    if form is not None and as_number(value) is not None:
        value = text_of(value)
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, str):
        value = _moment_of_text(value.strip(), form)
    if isinstance(value, datetime.datetime):
        return value
    return datetime.datetime.combine(value, datetime.time()) if isinstance(value, datetime.date) else None


def _moment_of_text(text: str, form: str | None) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        pass
    try:
        return None if form is None else datetime.datetime.strptime(text, form)
    except ValueError:
        return None
