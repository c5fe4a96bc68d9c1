"""Checks of arguments at the edge. Every refusal reads "x must be ..., got ..." and is an InvalidInput."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterable
from typing import Any, TypedDict, Unpack

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.errors import InvalidInput

MAX_QUOTED = 200
"""Characters of a value that an error quotes."""


def is_number(value: object) -> bool:
    """Whether `value` is a finite real number of any type, but no bool.

    >>> is_number(0.5), is_number(True), is_number("1"), is_number(float("nan"))
    (True, False, False, False)
    """
    if type(value) is float:  # the common case, and faster than the check against numbers.Real
        return math.isfinite(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def is_whole(value: object) -> bool:
    """Whether `value` is a whole number of any integer type, but no bool.

    >>> is_whole(3), is_whole(3.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def check_whole(name: str, value: Any, *, least: int | None = None, most: int | None = None, also: str = "") -> int:
    """`value` as an int within the limits. `also` names what else the caller accepts, for the message.

    >>> check_whole("capacity", -2, least=1, also="None")
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: capacity must be a whole number >= 1 or None, got -2
    """
    if not is_whole(value) or (least is not None and value < least) or (most is not None and value > most):
        raise refusal(name, f"a whole number{_limits(least=least, most=most)}{also and f' or {also}'}", value)
    return int(value)


def check_whole_or_none(name: str, value: Any, *, least: int | None = None, most: int | None = None) -> int | None:
    """`value` as an int within the limits, or None."""
    return None if value is None else check_whole(name, value, least=least, most=most, also="None")


class NumberLimits(TypedDict, total=False):
    """Limits of a number: >= least, > above, <= most, < below."""

    least: float | None
    above: float | None
    most: float | None
    below: float | None


def check_number(name: str, value: Any, *, also: str = "", **limits: Unpack[NumberLimits]) -> float:
    """`value` as a finite float within the limits. `also` names what else the caller accepts, for the message.

    >>> check_number("noise", -1, above=0)
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: noise must be a number > 0, got -1
    """
    least, above, most, below = (limits.get(limit) for limit in ("least", "above", "most", "below"))
    fits = (
        is_number(value)
        and (least is None or value >= least)
        and (above is None or value > above)
        and (most is None or value <= most)
        and (below is None or value < below)
    )
    if not fits:
        kind = "number" if limits else "finite number"
        raise refusal(name, f"a {kind}{_limits(**limits)}{also and f' or {also}'}", value)
    return float(value)


def check_number_or_none(name: str, value: Any, **limits: Unpack[NumberLimits]) -> float | None:
    """`value` as a finite float within the limits, or None."""
    return None if value is None else check_number(name, value, also="None", **limits)


def check_share(name: str, value: Any) -> float:
    """`value` as a float from 0 to 1.

    >>> check_share("error_rate", 10)
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: error_rate must be a number from 0 to 1, got 10
    """
    return check_number(name, value, least=0, most=1)


def check_bool(name: str, value: Any) -> bool:
    """`value` as a bool; any other type is refused, since a non-empty string would count as True."""
    if not isinstance(value, (bool, np.bool_)):
        raise refusal(name, "True or False", value)
    return bool(value)


def check_text(name: str, value: Any) -> str:
    """`value`, if it is a string of at least one character."""
    if not isinstance(value, str) or not value:
        raise refusal(name, "a string of at least one character", value)
    return value


def check_one_of(name: str, value: Any, options: Iterable[Any]) -> None:
    """Refuse a value that is none of `options`.

    >>> check_one_of("structure", "sparse", ("full", "diagonal"))
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: structure must be 'full' or 'diagonal', got 'sparse'
    """
    known = list(options)
    try:
        found = value in known
    except ValueError:  # an array compares element by element
        found = False
    if not found:
        *first, last = [repr(option) for option in known]
        raise refusal(name, f"{', '.join(first)} or {last}" if first else last, value)


def check_matrix(name: str, value: Any, *, columns: int | None = None) -> Floats:
    """`value` as a new (r, d) array of finite numbers, d = `columns` unless that is None."""
    expected = f"a matrix of finite numbers of shape (r, {'d' if columns is None else columns})"
    try:
        matrix = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise refusal(name, expected, value) from None
    if matrix.ndim != 2 or columns not in (None, matrix.shape[1]):
        raise InvalidInput(f"{name} must be {expected}, got shape {matrix.shape}")
    if not np.all(np.isfinite(matrix)):
        raise InvalidInput(f"{name} must be {expected}, got {matrix[~np.isfinite(matrix)][0]} in it")
    return matrix


def refusal(name: str, expected: str, value: Any) -> InvalidInput:
    """The error that says what `name` must be, and what was passed."""
    return InvalidInput(f"{name} must be {expected}, got {quoted(value)}")


def quoted(value: object, most: int = MAX_QUOTED) -> str:
    """`value` as errors quote it: on one line, and cut after `most` characters.

    >>> quoted("a boat"), quoted("boat" * 100, most=12), quoted(np.eye(2))
    ("'a boat'", "'boatboat...", 'array([[1., 0.], [0., 1.]])')
    """
    try:
        text = re.sub(r"\s*\n\s*", " ", repr(value))  # arrays and frames have a line for each row
    except ValueError:  # a whole number of more digits than Python writes
        return "a number of thousands of digits"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _limits(
    *, least: float | None = None, above: float | None = None, most: float | None = None, below: float | None = None
) -> str:
    """The limits in words, with a leading blank; "" if there are none."""
    if least is not None and most is not None:
        return f" from {least} to {most}"
    signs = ((">=", least), (">", above), ("<=", most), ("<", below))
    found = " and ".join(f"{sign} {limit}" for sign, limit in signs if limit is not None)
    return f" {found}" if found else ""
