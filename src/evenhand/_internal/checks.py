"""What counts as a number at the edge: Python's and numpy's, never a truth value."""

from __future__ import annotations

import math
import numbers


def is_number(value: object) -> bool:
    """Whether `value` is a finite real number of any type.

    >>> is_number(0.5), is_number(True), is_number("1"), is_number(float("nan"))
    (True, False, False, False)
    """
    if type(value) is float:  # what most values are, and quicker to tell than a Real
        return math.isfinite(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def is_whole(value: object) -> bool:
    """Whether `value` is a whole number of any integer type.

    >>> is_whole(3), is_whole(3.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
