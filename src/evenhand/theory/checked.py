"""Inputs checked once, at the edge: every refusal is a sentence with the value and the limit."""

import math
import operator
from typing import SupportsIndex

from evenhand.errors import InvalidInput


def whole(name: str, value: SupportsIndex) -> int:
    """A whole number, at least 1.

    >>> whole("d", 5)
    5
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidInput(f"{name} is {value!r}; it must be a whole number, at least 1") from None
    if isinstance(value, bool) or number < 1:
        raise InvalidInput(f"{name} is {value!r}; it must be a whole number, at least 1")
    return number


def positive(name: str, value: float, *, below: float = math.inf) -> float:
    """A number above 0 and below a limit.

    >>> positive("delta", 0.05, below=1)
    0.05
    """
    if not 0 < value < below:
        limit = f"above 0 and below {below:g}" if below < math.inf else "above 0 and finite"
        raise InvalidInput(f"{name} is {value!r}; it must be {limit}")
    return float(value)
