"""The three kinds of features: Number, Category and YesNo.

Each kind validates raw values, encodes them into a block of coordinates of norm <= 1, and decodes such a block. The
schema scales the blocks and puts them side by side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import KW_ONLY, dataclass, replace
from itertools import combinations
from typing import Any, ClassVar, TypeAlias, get_args

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_bool, check_one_of
from evenhand.errors import InvalidInput
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

LEVELS_SHOWN = 12  # How many levels an error message lists.
SAME_COORDINATE = 1e-9  # Rounding a decoded number may move its coordinate by this.


@dataclass(frozen=True)
class Number:
    """A number between low and high, encoded as one coordinate from -1 to 1.

    `integer=True` requires whole numbers. `step` is the unit of explanations; by default the largest power of ten that
    is at most a tenth of the range. scale: "linear", in proportion; "log", by log(1 + (x - low) / step); "quantile", by
    the share of people below, for which `Schema.fitted` takes `knots` from a table; "auto", one of these three, chosen
    by `Schema.fitted` from the skewness of a table.

    >>> income = Number("income", low=0, high=200_000, unit="EUR")
    >>> income.encode([0.0, 150_000.0]).tolist(), income.step
    ([[-1.0], [0.5]], 10000.0)
    >>> Number("income", low=0, high=200_000, scale="log").encode([0.0, 50_000.0, 200_000.0]).round(2).tolist()
    [[-1.0], [0.18], [1.0]]
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
    kind: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        _check_name(self.name)
        low, high = _end(self.name, "low", self.low), _end(self.name, "high", self.high)
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

    def _checked_step(self, span: float) -> float:
        if self.step is None:
            step = min(span, float(f"1e{math.floor(math.log10(span) - 1)}") or span)
            return max(step, 1.0) if self.integer else step
        step = _end(self.name, "step", self.step)
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
            raise InvalidInput(f"{self.name}: knots must be {wanted}, got {table[0].tolist()} to {table[-1].tolist()}")
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
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates of the block."""
        return (self.name,)

    @property
    def expected(self) -> str:
        """The valid values, in words."""
        unit = f" {self.unit}" if self.unit else ""
        return f"a {'whole ' * self.integer}number from {shown(self.low)} to {shown(self.high)}{unit}"

    def read(self, value: object) -> float:
        """The value as a float in the range, or InvalidInput."""
        number = as_number(value)
        if number is None or not self.low <= number <= self.high or (self.integer and not number.is_integer()):
            raise _invalid(self.expected, value)
        return number

    def encode(self, values: Sequence[object]) -> Floats:
        """Validated values as a (k, 1) block."""
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

    def decode(self, block: Floats) -> float | int:
        """The value of a block of shape (1,), rounded to twelve digits of the range where its coordinate allows."""
        span = self.high - self.low
        value = min(max(self._value((float(block[0]) + 1.0) / 2.0), self.low), self.high)
        if self.integer:
            return round(value)
        short = min(max(round(value, 12 - math.ceil(math.log10(span))), self.low), self.high)
        if (
            self.scale == "linear"
            or abs(float(self.encode([short])[0, 0] - self.encode([value])[0, 0])) < SAME_COORDINATE
        ):
            return short
        return value

    def contrasts(self) -> tuple[tuple[float, float], ...]:
        """The pairs of values that explanations compare: the whole range, one step, and the last if another scale."""
        assert self.step is not None
        whole, first = (self.low, self.high), (self.low, min(self.low + self.step, self.high))
        return (
            (whole, first)
            if self.scale == "linear"
            else (whole, first, (max(self.high - self.step, self.low), self.high))
        )


@dataclass(frozen=True)
class Category:
    """One of several levels, encoded as one coordinate per level.

    The block is the one-hot vector, centred and scaled to norm 1: sqrt((L-1)/L) at the level, -1/sqrt(L(L-1)) at the
    others. All levels are equally far apart, and with two levels as far as the yes and no of a `YesNo`; the plain
    one-hot vector would put them nearer and repeat the intercept.

    >>> purpose = Category("purpose", levels=("car", "home", "study"))
    >>> purpose.coordinates
    ('purpose=car', 'purpose=home', 'purpose=study')
    >>> purpose.encode(["car"]).round(3).tolist()
    [[0.816, -0.408, -0.408]]
    """

    name: str
    levels: tuple[str, ...]
    kind: ClassVar[str] = "category"

    def __post_init__(self) -> None:
        _check_name(self.name)
        unordered = isinstance(self.levels, str | Set | Mapping)  # a set has another order in another process
        if unordered or not hasattr(self.levels, "__iter__"):
            raise InvalidInput(f"{self.name}: levels must be a sequence of strings, got {shown(self.levels)}")
        levels = tuple(self.levels)
        for level in levels:
            if not isinstance(level, str) or not level:
                raise InvalidInput(f"{self.name}: a level must be a non-empty string, got {shown(level)}")
        if len(levels) < 2:
            raise InvalidInput(f"{self.name}: a category must have at least 2 levels, got {len(levels)}")
        if len(set(levels)) < len(levels):
            twice = next(level for level in levels if levels.count(level) > 1)
            raise InvalidInput(f"{self.name}: levels must be unique, got {twice!r} twice")
        object.__setattr__(self, "levels", tuple(str(level) for level in levels))

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates of the block."""
        return tuple(f"{self.name}={level}" for level in self.levels)

    @property
    def expected(self) -> str:
        """The valid values, in words."""
        names = ", ".join(map(repr, self.levels[:LEVELS_SHOWN]))
        return names if len(self.levels) <= LEVELS_SHOWN else f"{names} or {len(self.levels) - LEVELS_SHOWN} more"

    def read(self, value: object) -> str:
        """The level, or InvalidInput."""
        if not isinstance(value, str) or value not in self.levels:
            raise _invalid(f"one of {self.expected}", value)
        return str(value)

    def encode(self, values: Sequence[object]) -> Floats:
        """Validated values as a (k, L) block."""
        count = len(self.levels)
        index = {level: number for number, level in enumerate(self.levels)}
        block = np.full((len(values), count), -1.0 / math.sqrt(count * (count - 1)))
        block[np.arange(len(values)), [index[str(value)] for value in values]] = math.sqrt((count - 1) / count)
        return block

    def decode(self, block: Floats) -> str:
        """The level of a block of shape (L,)."""
        return self.levels[int(np.argmax(block))]

    def contrasts(self) -> tuple[tuple[str, str], ...]:
        """The pairs of values that explanations compare: every two levels."""
        return tuple(combinations(self.levels, 2))


@dataclass(frozen=True)
class YesNo:
    """Yes or no, encoded as one coordinate: 1 or -1.

    Accepts True and False, 1 and 0, and the strings "yes" and "no" in any case.

    >>> YesNo("has_guarantor").encode([True, False]).tolist(), YesNo("has_guarantor").read("Yes")
    ([[1.0], [-1.0]], True)
    """

    name: str
    kind: ClassVar[str] = "yes/no"
    expected: ClassVar[str] = "yes or no (True or False, 1 or 0)"

    def __post_init__(self) -> None:
        _check_name(self.name)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates of the block."""
        return (self.name,)

    def read(self, value: object) -> bool:
        """The value as a bool, or InvalidInput."""
        if isinstance(value, bool | np.bool_):
            return bool(value)
        if isinstance(value, str) and value.lower() in ("yes", "no"):
            return value.lower() == "yes"
        if as_number(value) in (0.0, 1.0):
            return bool(value)
        raise _invalid(self.expected, value)

    def encode(self, values: Sequence[object]) -> Floats:
        """Validated values as a (k, 1) block."""
        return np.where(np.asarray(values, dtype=np.bool_), 1.0, -1.0).reshape(-1, 1)

    def decode(self, block: Floats) -> bool:
        """The value of a block of shape (1,)."""
        return bool(block[0] > 0)

    def contrasts(self) -> tuple[tuple[bool, bool], ...]:
        """The pair of values that explanations compare: no and yes."""
        return ((False, True),)


Feature: TypeAlias = Number | Category | YesNo


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput(f"the name of a feature must be a non-empty string, got {shown(name)}")


def _invalid(expected: str, value: object) -> InvalidInput:
    """The error about a value, without the feature's name, which `RowProblem` adds."""
    return InvalidInput(f"must be {expected}, got {'no value' if is_missing(value) else shown(value)}")


def _end(name: str, what: str, value: object) -> float:
    """A finite float; adding 0.0 turns -0.0 into 0.0, so that equal features have equal digests."""
    number = as_number(value)
    if number is None or not math.isfinite(number):
        raise InvalidInput(f"{name}: {what} must be a finite number, got {shown(value)}")
    return number + 0.0
