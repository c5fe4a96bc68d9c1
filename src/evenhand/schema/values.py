"""Raw values: whether one is missing or a number, and how error messages show it."""

from __future__ import annotations

import math
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Final

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class _Absent:
    """The value of a key that is not there."""

    def __repr__(self) -> str:
        return "(absent)"


ABSENT: Final = _Absent()

_MISSING_TYPES = {"NAType", "NaTType"}
"""pandas' own missing values, known by name so that pandas need not be imported."""


def is_missing(value: object) -> bool:
    """Whether a value is absent, None, NaN, or pandas' NA or NaT.

    >>> [is_missing(value) for value in (None, float("nan"), 0, "", False)]
    [True, True, False, False, False]
    """
    if value is None or value is ABSENT or type(value).__name__ in _MISSING_TYPES:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float | np.floating) and math.isnan(value)


def as_number(value: object) -> float | None:
    """The value as a float, or None if it is not a number. Bools and strings are not numbers.

    >>> as_number(3), as_number(np.float32(0.5)), as_number(Decimal("1.5")), as_number(True), as_number("3")
    (3.0, 0.5, 1.5, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all floats
        return math.inf if abs(value) == value else -math.inf
    except ValueError:  # a signalling NaN
        return math.nan


def as_floats(value: ArrayLike, what: str) -> Floats:
    """An array of floats, or InvalidInput.

    >>> as_floats([[1, 2]], "the matrix").tolist()
    [[1.0, 2.0]]
    """
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{what} must be a table of numbers: {error}") from error


def shown(value: object) -> str:
    """A raw value as error messages quote it: numbers in full, strings in quotes, long ones cut.

    >>> shown(250000.0), shown("boat"), shown(np.float64(0.25)), shown(True)
    ('250000', "'boat'", '0.25', 'True')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    try:
        text = repr(value)
    except ValueError:  # a whole number of more digits than Python writes
        return "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:57]}..."
