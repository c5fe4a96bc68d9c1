"""Number: a feature that is a number within a range, on a scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_bool, check_one_of
from evenhand.errors import InvalidInput
from evenhand.schema._coordinate import OneCoordinate, check_feature_name, checked_end, invalid
from evenhand.schema.rows import as_number, is_missing, shown
from evenhand.schema.scales import (
    WORDS,
    Knots,
    Scale,
    log_shares,
    log_value,
    quantile_knots,
    quantile_shares,
    quantile_value,
    suitable_scale,
)

SAME_COORDINATE = 1e-9  # Rounding a decoded number may move its coordinate by this.

RANGE_TOLERANCE = 2.0**-23
"""How far beyond the range a number may lie, relative to the larger end: what rounding to 32-bit floats leaves. It
counts as the end."""


@dataclass(frozen=True)
class Number(OneCoordinate):
    """A number between low and high, encoded as one coordinate from -1 to 1.

    `integer=True` requires whole numbers. `step` is the unit of explanations; by default the largest power of ten that
    is at most a tenth of the range. scale: "linear", in proportion; "log", by log(1 + (x - low) / step); "quantile", by
    the share of people below, for which `Schema.fitted` takes `knots` from a table; "auto", one of these three, chosen
    by `Schema.fitted` from the skewness of a table. clip: a number beyond the range counts as its end; otherwise it is
    refused. missing: the number that a missing value counts as; "unknown", a level of its own; None refuses it.

    >>> income = Number("income", low=0, high=200_000, unit="EUR")
    >>> income.encode([0.0, 150_000.0]).tolist(), income.step
    ([[-1.0], [0.5]], 10000.0)
    >>> Number("income", low=0, high=200_000, scale="log").encode([0.0, 50_000.0, 200_000.0]).round(2).tolist()
    [[-1.0], [0.18], [1.0]]
    >>> Number("income", low=0, high=200_000, clip=True, missing="unknown").read(250_000)
    200000.0
    """

    name: str
    _: KW_ONLY
    low: float
    high: float
    unit: str = ""
    integer: bool = False
    step: float | None = None
    scale: Scale = "linear"
    knots: Knots | None = None
    clip: bool = False
    missing: float | Literal["unknown"] | None = None
    kind: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        check_feature_name(self.name)
        low, high = checked_end(self.name, "low", self.low), checked_end(self.name, "high", self.high)
        if not low < high:
            raise InvalidInput(f"{self.name}: low must be below high, got {shown(low)} and {shown(high)}")
        if math.isinf(high - low):
            raise InvalidInput(f"{self.name}: high - low must be a finite float, got {shown(low)} to {shown(high)}")
        if not isinstance(self.unit, str):
            raise InvalidInput(f"{self.name}: unit must be a string, got {shown(self.unit)}")
        check_bool(f"{self.name}: integer", self.integer)
        if self.integer and not (low.is_integer() and high.is_integer()):
            raise InvalidInput(f"{self.name}: low and high must be whole numbers, got {shown(low)} and {shown(high)}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "step", self._checked_step(high - low))
        check_one_of(f"{self.name}: scale", self.scale, get_args(Scale))
        if self.scale in ("log", "auto") and math.isinf((high - low) / (self.step or 1.0)):
            raise InvalidInput(f"{self.name}: step must not be below {shown((high - low) / 1e300)}, got {self.step}")
        object.__setattr__(self, "knots", self._checked_knots())
        object.__setattr__(self, "clip", check_bool(f"{self.name}: clip", self.clip))
        object.__setattr__(self, "missing", self._checked_missing())

    def _checked_step(self, span: float) -> float:
        if self.step is None:
            step = min(span, float(f"1e{math.floor(math.log10(span) - 1)}") or span)
            return max(step, 1.0) if self.integer else step
        step = checked_end(self.name, "step", self.step)
        if not 0 < step <= span:
            raise InvalidInput(f"{self.name}: step must be > 0 and <= {shown(span)}, got {shown(step)}")
        return step

    def _checked_knots(self) -> Knots | None:
        if self.knots is None:
            return None
        wanted = f"pairs (value, share) from ({shown(self.low)}, 0) to ({shown(self.high)}, 1), both increasing"
        if self.scale != "quantile":
            raise InvalidInput(f"{self.name}: knots must be None unless scale is 'quantile', got scale {self.scale!r}")
        try:
            pairs: Any = [[as_number(number) for number in pair] for pair in self.knots]
            table = np.array(pairs, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(f"{self.name}: knots must be {wanted}, got {shown(self.knots)}") from None
        is_table = table.ndim == 2 and table.shape[1:] == (2,) and len(table) >= 2
        if not is_table or not np.all(np.diff(table, axis=0) > 0.0):
            raise InvalidInput(f"{self.name}: knots must be {wanted}, got {shown(self.knots)}")
        if table[0].tolist() != [self.low, 0.0] or table[-1].tolist() != [self.high, 1.0]:
            got = f"{table[0].tolist()} to {table[-1].tolist()}"
            again = "after a change of the range leave them out, and fit the scale again with schema.fitted(rows)"
            raise InvalidInput(f"{self.name}: knots must be {wanted}, got {got}; {again}")
        return tuple((float(at), float(share)) for at, share in table)

    @property
    def is_open(self) -> bool:
        """Whether the scale still has to be taken from a table, with `Schema.fitted`."""
        return self.scale == "auto" or (self.scale == "quantile" and self.knots is None)

    def fitted(self, values: Sequence[object]) -> Number:
        """The same number with a scale that suits a table's column; missing values are skipped, others must fit."""
        column = [self.read(value) for value in values if not is_missing(value)]
        assert self.step is not None
        scale = suitable_scale(column, self.low, self.high, self.step) if self.scale == "auto" else self.scale
        knots = quantile_knots(column, self.low, self.high) if scale == "quantile" else None
        return replace(self, scale=scale, knots=knots)

    @property
    def scale_words(self) -> str:
        """What the scale means, in words."""
        return WORDS[self.scale]

    @property
    def expected(self) -> str:
        """The valid values, in words."""
        unit = f" {self.unit}" if self.unit else ""
        return f"a {'whole ' * self.integer}number from {shown(self.low)} to {shown(self.high)}{unit}"

    def _read_known(self, value: object, *, clip: bool) -> float:
        """The value as a float in the range; one beyond it by rounding, or any with clip, is the end."""
        number = as_number(value)
        if number is None or not math.isfinite(number) or (self.integer and not number.is_integer()):
            raise invalid(self.expected, value)
        room = RANGE_TOLERANCE * max(abs(self.low), abs(self.high))
        if not (clip or self.clip) and not self.low - room <= number <= self.high + room:
            raise invalid(self.expected, value)
        return min(max(number, self.low), self.high)

    def _encode_known(self, values: Sequence[object]) -> Floats:
        column = np.asarray(values, dtype=np.float64).reshape(-1, 1)
        return np.clip(2.0 * self._shares(column) - 1.0, -1.0, 1.0)

    def _shares(self, column: Floats) -> Floats:
        """Values as shares of the range, from 0 to 1."""
        if self.scale == "linear":
            return (column - self.low) / (self.high - self.low)
        if self.scale == "log" and self.step is not None:
            return log_shares(column, self.low, self.high, self.step)
        if self.knots is None:
            raise InvalidInput(
                f"{self.name}: scale must be fitted to a table before rows are encoded, with schema.fitted(rows), got "
                f"{self.scale!r}"
            )
        return quantile_shares(column, self.knots)

    def _value(self, share: float) -> float:
        """The value of a share."""
        if self.scale == "linear":
            return self.low + share * (self.high - self.low)
        if self.scale == "log" and self.step is not None:
            return log_value(share, self.low, self.high, self.step)
        return self.low if self.knots is None else quantile_value(share, self.knots)

    def _decode_known(self, block: Floats) -> float | int:
        """The value, rounded to twelve digits of the range where its coordinate allows."""
        span = self.high - self.low
        value = min(max(self._value((float(block[0]) + 1.0) / 2.0), self.low), self.high)
        if self.integer:
            return round(value)
        short = min(max(round(value, 12 - math.ceil(math.log10(span))), self.low), self.high)
        if (
            self.scale == "linear"
            or abs(float(np.diff(self._encode_known([short, value]), axis=0)[0, 0])) < SAME_COORDINATE
        ):
            return short
        return value

    def _known_contrasts(self) -> tuple[tuple[float, float], ...]:
        """The whole range, one step, and the last step if the scale is not linear."""
        assert self.step is not None
        whole, first = (self.low, self.high), (self.low, min(self.low + self.step, self.high))
        return (
            (whole, first)
            if self.scale == "linear"
            else (whole, first, (max(self.high - self.step, self.low), self.high))
        )
