"""How far two nested records of numbers are apart: rounding errors of another processor, or a difference."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

ROUNDING = 1e-6
"""Up to this, `distance_between` is rounding. Linear algebra libraries add up in another order on other processors, and
a learner that takes many steps amplifies that (tests/desk/test_other_processors.py)."""

SMALL = 1e-2
"""Differences are relative to the largest number of an array, or to this if it is smaller: sums may cancel."""


def distance_between(a: Any, b: Any) -> float:
    """The largest difference between the floats of two nested records, relative to the largest number beside it.

    Records are dicts, lists, arrays, numbers and strings. inf if they differ in anything but floats: shapes, keys,
    whole numbers, texts, NaNs.

    >>> distance_between({"p": [0.5, 0.5], "n": 3}, {"p": [0.5, 0.25], "n": 3})
    0.5
    >>> distance_between({"p": [0.5, 0.5], "n": 3}, {"p": [0.5, 0.5], "n": 4})
    inf
    """
    if isinstance(a, dict):
        if not isinstance(b, dict) or a.keys() != b.keys():
            return math.inf
        return max((distance_between(a[key], b[key]) for key in a), default=0.0)
    if isinstance(a, (list, tuple)) and not _is_numbers(a):
        if not isinstance(b, (list, tuple)) or len(a) != len(b):
            return math.inf
        return max(map(distance_between, a, b), default=0.0)
    if _is_floats(a) and (_is_floats(b) or _is_numbers(b)):
        return _distance_of_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
    return 0.0 if np.array_equal(a, b) else math.inf


def _is_numbers(value: Any) -> bool:
    """Whether it is a list of numbers; JSON has lists in place of arrays, and may write 1.0 as 1."""
    return (
        isinstance(value, (list, tuple))
        and len(value) > 0
        and all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in value)
    )


def _is_floats(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return bool(value.dtype.kind == "f")
    return isinstance(value, float) or (_is_numbers(value) and any(isinstance(item, float) for item in value))


def _distance_of_arrays(a: np.ndarray[Any, np.dtype[np.float64]], b: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    if a.shape != b.shape:
        return math.inf
    regular = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~regular], b[~regular], equal_nan=True):
        return math.inf
    both = np.abs(np.stack((a[regular], b[regular])))
    if both.size == 0:
        return 0.0
    return float(np.abs(a[regular] - b[regular]).max() / max(both.max(), SMALL))
