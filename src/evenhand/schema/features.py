"""The three kinds of features: a number in a range, a category with levels, a yes or no.

Each kind reads a raw value or says what is wrong with it, encodes values into a block of coordinates of norm <= 1,
and decodes such a block again. The blocks are put side by side, and scaled, by the schema.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from evenhand.errors import InvalidInput
from evenhand.schema.values import as_number, is_missing, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEVELS_SHOWN = 12
"""How many levels an error message lists."""


@dataclass(frozen=True)
class Number:
    """A number between low and high, encoded as one coordinate that runs from -1 to 1.

    `integer=True` asks for whole numbers. `step` is the amount people speak in, used in explanations only; left
    out, it is the largest power of ten of which the range holds ten.

    >>> income = Number("income", low=0, high=200_000, unit="EUR")
    >>> income.encode([0.0, 150_000.0]).tolist(), income.step
    ([[-1.0], [0.5]], 10000.0)
    """

    name: str
    _: KW_ONLY
    low: float
    high: float
    unit: str = ""
    integer: bool = False
    step: float | None = None
    kind: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        _check_name(self.name)
        low, high = _end(self.name, "low", self.low), _end(self.name, "high", self.high)
        if not low < high:
            raise InvalidInput(f"{self.name}: low is {shown(low)} and high {shown(high)}; low must be below high")
        if math.isinf(high - low):
            raise InvalidInput(f"{self.name}: the range {shown(low)} to {shown(high)} is too wide for a float")
        if not isinstance(self.unit, str):
            raise InvalidInput(f"{self.name}: unit is {shown(self.unit)}; it must be a text")
        if not isinstance(self.integer, bool):
            raise InvalidInput(f"{self.name}: integer is {shown(self.integer)}; it must be True or False")
        if self.integer and not (low.is_integer() and high.is_integer()):
            raise InvalidInput(f"{self.name}: {shown(low)} to {shown(high)} must be whole numbers, integer is True")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "step", self._checked_step(high - low))

    def _checked_step(self, span: float) -> float:
        if self.step is None:
            step = min(span, float(f"1e{math.floor(math.log10(span) - 1)}") or span)
            return max(step, 1.0) if self.integer else step
        step = _end(self.name, "step", self.step)
        if not 0 < step <= span:
            raise InvalidInput(f"{self.name}: step is {shown(step)}; it must be above 0 and at most {shown(span)}")
        return step

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates of the block."""
        return (self.name,)

    @property
    def allowed(self) -> str:
        """What fits, in words."""
        unit = f" {self.unit}" if self.unit else ""
        which = "are whole numbers from" if self.integer else "is"
        return f"allowed {which} {shown(self.low)} to {shown(self.high)}{unit}"

    def read(self, value: object) -> float:
        """The value as a float in the range, or InvalidInput with the reason."""
        if is_missing(value):
            raise InvalidInput(f"is missing; {self.allowed}")
        number = as_number(value)
        if number is None:
            raise InvalidInput(f"is {shown(value)}, which is no number; {self.allowed}")
        if not self.low <= number <= self.high or (self.integer and not number.is_integer()):
            raise InvalidInput(f"is {shown(value)}; {self.allowed}")
        return number

    def encode(self, values: Sequence[object]) -> Floats:
        """Values that were read, as a (k, 1) block."""
        column = np.asarray(values, dtype=np.float64).reshape(-1, 1)
        return np.clip(2.0 * ((column - self.low) / (self.high - self.low)) - 1.0, -1.0, 1.0)

    def decode(self, block: Floats) -> float | int:
        """The value behind a block of shape (1,), rounded to twelve digits of the range."""
        span = self.high - self.low
        value = min(max(self.low + (float(block[0]) + 1.0) / 2.0 * span, self.low), self.high)
        if self.integer:
            return round(value)
        return min(max(round(value, 12 - math.ceil(math.log10(span))), self.low), self.high)

    def contrasts(self) -> tuple[tuple[float, float], ...]:
        """The pairs of values an explanation speaks of: the whole range, and one step."""
        assert self.step is not None
        return ((self.low, self.high), (self.low, min(self.low + self.step, self.high)))


@dataclass(frozen=True)
class Category:
    """One of several levels, encoded as one coordinate a level.

    The block is the one-hot vector, centred and scaled to norm 1: the coordinate of the level that holds is
    sqrt((L-1)/L), the others -1/sqrt(L(L-1)). All levels are equally far from one another, and two levels are as far
    apart as the yes and no of a `YesNo`; the plain one-hot vector would put them nearer and repeat the intercept.

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
            raise InvalidInput(f"{self.name}: levels is {shown(self.levels)}; it must be a sequence of texts")
        levels = tuple(self.levels)
        for level in levels:
            if not isinstance(level, str) or not level:
                raise InvalidInput(f"{self.name}: {shown(level)} is no level; a level is a non-empty text")
        if len(levels) < 2:
            raise InvalidInput(f"{self.name}: {len(levels)} level given; a category needs at least 2")
        if len(set(levels)) < len(levels):
            twice = next(level for level in levels if levels.count(level) > 1)
            raise InvalidInput(f"{self.name}: the level {twice!r} is given twice; levels must be unique")
        object.__setattr__(self, "levels", tuple(str(level) for level in levels))

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates of the block."""
        return tuple(f"{self.name}={level}" for level in self.levels)

    @property
    def allowed(self) -> str:
        """What fits, in words."""
        names = ", ".join(map(repr, self.levels[:LEVELS_SHOWN]))
        more = f" and {len(self.levels) - LEVELS_SHOWN} more" if len(self.levels) > LEVELS_SHOWN else ""
        return f"allowed are {names}{more}"

    def read(self, value: object) -> str:
        """The level, or InvalidInput with the reason."""
        if is_missing(value):
            raise InvalidInput(f"is missing; {self.allowed}")
        if not isinstance(value, str) or value not in self.levels:
            raise InvalidInput(f"is {shown(value)}; {self.allowed}")
        return str(value)

    def encode(self, values: Sequence[object]) -> Floats:
        """Values that were read, as a (k, L) block."""
        count = len(self.levels)
        index = {level: number for number, level in enumerate(self.levels)}
        block = np.full((len(values), count), -1.0 / math.sqrt(count * (count - 1)))
        block[np.arange(len(values)), [index[str(value)] for value in values]] = math.sqrt((count - 1) / count)
        return block

    def decode(self, block: Floats) -> str:
        """The level behind a block of shape (L,)."""
        return self.levels[int(np.argmax(block))]

    def contrasts(self) -> tuple[tuple[str, str], ...]:
        """The pairs of values an explanation speaks of: every two levels."""
        return tuple(combinations(self.levels, 2))


@dataclass(frozen=True)
class YesNo:
    """Yes or no, encoded as one coordinate: 1 or -1.

    Reads True and False, 1 and 0, and the texts "yes" and "no" in any case.

    >>> YesNo("has_guarantor").encode([True, False]).tolist(), YesNo("has_guarantor").read("Yes")
    ([[1.0], [-1.0]], True)
    """

    name: str
    kind: ClassVar[str] = "yes/no"
    allowed: ClassVar[str] = "allowed are yes and no (True and False, 1 and 0)"

    def __post_init__(self) -> None:
        _check_name(self.name)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates of the block."""
        return (self.name,)

    def read(self, value: object) -> bool:
        """The value as a bool, or InvalidInput with the reason."""
        if is_missing(value):
            raise InvalidInput(f"is missing; {self.allowed}")
        if isinstance(value, bool | np.bool_):
            return bool(value)
        if isinstance(value, str) and value.lower() in ("yes", "no"):
            return value.lower() == "yes"
        if as_number(value) in (0.0, 1.0):
            return bool(value)
        raise InvalidInput(f"is {shown(value)}; {self.allowed}")

    def encode(self, values: Sequence[object]) -> Floats:
        """Values that were read, as a (k, 1) block."""
        return np.where(np.asarray(values, dtype=np.bool_), 1.0, -1.0).reshape(-1, 1)

    def decode(self, block: Floats) -> bool:
        """The value behind a block of shape (1,)."""
        return bool(block[0] > 0)

    def contrasts(self) -> tuple[tuple[bool, bool], ...]:
        """The pair of values an explanation speaks of: no and yes."""
        return ((False, True),)


Feature: TypeAlias = Number | Category | YesNo


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput(f"the name of a feature is {shown(name)}; it must be a non-empty text")


def _end(name: str, what: str, value: object) -> float:
    """A finite float; adding 0.0 turns -0.0 into 0.0, so that equal features have equal files."""
    number = as_number(value)
    if number is None or not math.isfinite(number):
        raise InvalidInput(f"{name}: {what} is {shown(value)}; it must be a finite number")
    return number + 0.0
