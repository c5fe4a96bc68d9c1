"""Settings of simulated reviewers, checked once and refused with a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.checks import is_number, is_whole
from evenhand.auditors.auditor import Auditor
from evenhand.errors import InvalidInput


def as_matrix(name: str, value: Any, *, columns: int | None = None) -> NDArray[np.float64]:
    """`value` as a new (r, d) array of finite numbers; d is `columns` if that is given."""
    shape = f"(r, {'d' if columns is None else columns})"
    try:
        matrix = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} is {value!r}; allowed is an {shape} matrix of finite numbers") from None
    fits = matrix.ndim == 2 and columns in (None, matrix.shape[1])
    if not fits or not np.all(np.isfinite(matrix)):
        raise InvalidInput(f"{name} has shape {matrix.shape}; allowed is an {shape} matrix of finite numbers")
    return matrix


def as_share(name: str, value: Any) -> float:
    """`value` as a float from 0 to 1.

    >>> as_share("error_rate", 10)
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: error_rate is 10; allowed is a number from 0 to 1
    """
    if not is_number(value) or not 0 <= value <= 1:
        raise InvalidInput(f"{name} is {value!r}; allowed is a number from 0 to 1")
    return float(value)


def as_whole(name: str, value: Any, *, least: int) -> int:
    """`value` as an int, if it is a whole number >= `least`."""
    if not is_whole(value) or value < least:
        raise InvalidInput(f"{name} is {value!r}; allowed is a whole number >= {least}")
    return int(value)


def as_name(name: str, value: Any) -> str:
    """`value`, if it is a string with something in it."""
    if not isinstance(value, str) or not value:
        raise InvalidInput(f"{name} is {value!r}; allowed is a string of at least one letter")
    return value


def as_auditor(value: Any) -> Auditor:
    """`value`, if it can review: an object, not a class."""
    if isinstance(value, type) or not callable(getattr(value, "review", None)):
        raise InvalidInput(f"the auditor is {value!r}; allowed is any object with review(decision)")
    auditor: Auditor = value
    return auditor
