"""LogColumns: which column of a table says what of a past decision."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from evenhand._internal.checks import check_number, check_one_of, check_text, check_whole_or_none, is_number, refusal
from evenhand.errors import InvalidInput

CALENDAR = ("day", "week", "month", "quarter", "year")
UNITS = {"m": "minutes", "h": "hours", "d": "days"}


@dataclass(frozen=True)
class LogColumns:
    """The columns of a table of past decisions, one row for each candidate.

    chosen: whether the candidate was chosen, yes or no, true or false, 1 or 0. outcome: the reward that came of it, a
    number, or yes and no; only those of chosen candidates are read; blank if it is not known yet. candidate: an id;
    None takes the table's own labels. Rounds, exactly one of:

    - round: a column that names the round.
    - time, with window: when the candidate applied, and how long a round is: "day", "week", "month", "quarter", "year",
      or a length such as "12h" or "14d" from the first candidate on. A day, week or month is that of the clock in the
      table: 2026-01-01T00:30+01:00 is in 2026.
    - every: so many consecutive rows are a round, in order of `time` if there is one.

    yes, no: other words or codes for yes and no in `chosen` and `outcome`, such as "approved" and "declined".

    probability: the chance that the candidate had, if it was recorded. capacity: how many a policy may choose in a
    round, or the column that says so; None takes the share of candidates who were chosen. outcome_range: the lowest and
    the highest outcome there can be, in the units of the table; rows with others are refused. outcome_unit: outcomes
    are divided by it; bandits expect rewards from -1 to 1.

    How cells are written: time_format is that of `strftime`, such as "%d.%m.%Y", for times that are not in ISO form.
    missing: codes that stand for a missing value, such as "-9", in features and outcomes. decimal: "." or ",", if
    numbers have groups of digits, a decimal comma or a unit: with "," 1.250,50 counts as 1250.5, and 21,5 % as 21.5.

    >>> LogColumns(chosen="approved", outcome="repaid", every=20).used
    ('approved', 'repaid')
    """

    chosen: str
    outcome: str
    candidate: str | None = None
    round: str | None = None
    time: str | None = None
    window: str | None = None
    every: int | None = None
    probability: str | None = None
    capacity: int | str | None = None
    outcome_unit: float = 1.0
    outcome_range: tuple[float, float] | None = None
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    time_format: str | None = None
    missing: tuple[str, ...] = ()
    decimal: str | None = None

    def __post_init__(self) -> None:
        for field in fields(self)[:6]:
            value = getattr(self, field.name)
            if value is not None or field.name in ("chosen", "outcome"):
                check_text(field.name, value)
        check_whole_or_none("every", self.every, least=1)
        check_number("outcome_unit", self.outcome_unit, above=0)
        if self.outcome_range is not None:
            check_outcome_range(self.outcome_range)
        check_words("yes", self.yes)
        check_words("no", self.no)
        check_words("missing", self.missing)
        if self.decimal is not None:
            check_one_of("decimal", self.decimal, (".", ","))
        if self.time_format is not None:
            check_text("time_format", self.time_format)
        if both := {word.casefold() for word in self.yes} & {word.casefold() for word in self.no}:
            raise InvalidInput(f"yes and no must be different words, got {sorted(both)[0]!r} in both")
        if not isinstance(self.capacity, str):
            check_whole_or_none("capacity", self.capacity, least=1)
        ways = [name for name in ("round", "window", "every") if getattr(self, name) is not None]
        if len(ways) != 1:
            raise InvalidInput(
                f"exactly one of round, window and every must be set, got {' and '.join(ways) or 'none'}"
            )
        if self.window is not None:
            if self.time is None:
                raise InvalidInput("window needs the column time, got None")
            check_window(self.window)
        if len(set(self.used)) < len(self.used):
            raise InvalidInput(f"columns must be different, got {', '.join(self.used)}")

    @cached_property
    def words(self) -> dict[str, bool]:
        """What the words and codes of `yes` and `no` mean, in lower case."""
        return {word.casefold(): meaning for words, meaning in ((self.yes, True), (self.no, False)) for word in words}

    @property
    def used(self) -> tuple[str, ...]:
        """The columns that are named."""
        named = (self.candidate, self.round, self.time, self.chosen, self.outcome, self.probability)
        return tuple(name for name in (*named, self.capacity) if isinstance(name, str))


def check_outcome_range(value: Any) -> None:
    """Refuse what is not a lower number and a higher one."""
    pair = tuple(value) if isinstance(value, tuple | list) else ()
    if len(pair) != 2 or not all(map(is_number, pair)) or not pair[0] < pair[1]:
        raise refusal("outcome_range", "the lowest and the highest number, as in (0, 1)", value)


def check_words(name: str, value: Any) -> None:
    """Refuse what is not a tuple or list of texts."""
    if not isinstance(value, tuple | list) or not all(isinstance(word, str) and word for word in value):
        raise refusal(name, 'a tuple of words, as in ("approved",)', value)


def check_window(window: Any) -> datetime.timedelta | None:
    """The length of a window; None for one of the calendar.

    >>> check_window("14d"), check_window("month")
    (datetime.timedelta(days=14), None)
    """
    if window in CALENDAR:
        return None
    found = re.fullmatch(r"(\d{1,6}(?:\.\d{1,6})?)([mhd])", window) if isinstance(window, str) else None
    if found is None or float(found[1]) == 0.0:
        raise refusal("window", f"{', '.join(CALENDAR)}, or a number and m, h or d as in 14d", window)
    return datetime.timedelta(**{UNITS[found[2]]: float(found[1])})


def calendar_window(window: str, moment: datetime.datetime) -> str:
    """The name of the calendar's day, week, month, quarter or year that a moment is in.

    >>> [calendar_window(window, datetime.datetime(2026, 1, 1)) for window in ("quarter", "week")]
    ['2026-Q1', '2026-W01']
    """
    if window == "week":
        year, week, _ = moment.isocalendar()
        return f"{year}-W{week:02}"
    if window == "quarter":
        return f"{moment.year}-Q{(moment.month + 2) // 3}"
    return moment.strftime({"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}[window])
