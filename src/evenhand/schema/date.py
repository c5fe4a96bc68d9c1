"""Date: a feature that is a day."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_bool
from evenhand.errors import InvalidInput
from evenhand.schema._coordinate import OneCoordinate, check_feature_name, invalid
from evenhand.schema.rows import is_missing, shown

STEPS = ((730, 365), (60, 30), (0, 1))
"""The step of explanations, in days, by the shortest range that has it: a year, a month, a day."""


@dataclass(frozen=True)
class Date(OneCoordinate):
    """A day from low to high, encoded as one coordinate from -1 to 1, in proportion to the days.

    Reads dates, times (by their day), and ISO texts such as "2026-03-31"; the value is an ISO text. clip: a day beyond
    the range counts as its end. missing: the day that a missing value counts as; "unknown", a level of its own; None
    refuses it.

    >>> opened = Date("opened", low="2020-01-01", high="2020-12-31", missing="unknown")
    >>> opened.read(datetime.date(2020, 7, 1)), opened.encode(["2020-01-01", "2020-12-31", None]).tolist()
    ('2020-07-01', [[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    """

    name: str
    _: KW_ONLY
    low: str
    high: str
    clip: bool = False
    missing: str | None = None
    kind: ClassVar[str] = "date"

    def __post_init__(self) -> None:
        check_feature_name(self.name)
        for what in ("low", "high"):
            day = as_day(getattr(self, what))
            if day is None:
                got = shown(getattr(self, what))
                raise InvalidInput(f"{self.name}: {what} must be a date such as '2026-03-31', got {got}")
            object.__setattr__(self, what, day.isoformat())
        if not self.low < self.high:
            raise InvalidInput(f"{self.name}: low must be before high, got {self.low} and {self.high}")
        object.__setattr__(self, "clip", check_bool(f"{self.name}: clip", self.clip))
        object.__setattr__(self, "missing", self._checked_missing())

    @property
    def days(self) -> int:
        """How many days the range is long."""
        return _number(self.high) - _number(self.low)

    @property
    def step(self) -> int:
        """The unit of explanations, in days: a year, a month or a day."""
        return next(step for least, step in STEPS if self.days >= least)

    @property
    def expected(self) -> str:
        """The valid values, in words."""
        return f"a date from {self.low} to {self.high}"

    def _read_known(self, value: object, *, clip: bool) -> str:
        day = as_day(value)
        if day is None or (not (clip or self.clip) and not self.low <= day.isoformat() <= self.high):
            raise invalid(self.expected, value)
        return min(max(day.isoformat(), self.low), self.high)

    def _encode_known(self, values: Sequence[object]) -> Floats:
        days = np.array([_number(str(value)) for value in values], dtype=np.float64).reshape(-1, 1)
        return 2.0 * (days - _number(self.low)) / self.days - 1.0

    def _decode_known(self, block: Floats) -> str:
        share = min(max((float(block[0]) + 1.0) / 2.0, 0.0), 1.0)
        return datetime.date.fromordinal(_number(self.low) + round(share * self.days)).isoformat()

    def _known_contrasts(self) -> tuple[tuple[str, str], ...]:
        later = datetime.date.fromordinal(_number(self.low) + self.step).isoformat()
        return ((self.low, self.high),) if later == self.high else ((self.low, self.high), (self.low, later))


def _number(day: str) -> int:
    return datetime.date.fromisoformat(day).toordinal()


def as_day(value: Any) -> datetime.date | None:
    """The day of a date, a time, numpy's or an ISO text; None for anything else.

    >>> as_day("2026-03-31T23:10:00"), as_day(np.datetime64("2026-03-31")), as_day("31.3.2026"), as_day("unknown")
    (datetime.date(2026, 3, 31), datetime.date(2026, 3, 31), None, None)
    """
    if is_missing(value):  # pandas' NaT is a datetime, too
        return None
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[D]").item()
    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value.strip()) if "-" in value else None
        except ValueError:
            return None
    if isinstance(value, datetime.datetime):
        return value.date()
    return value if isinstance(value, datetime.date) else None
