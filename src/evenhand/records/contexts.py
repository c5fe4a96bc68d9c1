"""The contexts of a round, read from whatever the user has and checked once, at the edge."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.checks import is_number
from evenhand._internal.jit import FLOAT, jit
from evenhand.errors import InvalidInput

NORM_TOLERANCE = 1e-6
"""How far above 1 a norm may lie: the rounding of somebody else's normalisation, in single precision perhaps."""


def as_contexts(value: Any, n_features: int | None = None) -> NDArray[np.float64]:
    """A read-only (k, d) copy of `value`, every row of norm <= 1; raises InvalidInput on anything else.

    `value` may be an array, nested lists, or a pandas or polars data frame of numbers.

    >>> as_contexts([[0.6, 0.8], [0.0, 1.0]]).shape
    (2, 2)
    >>> as_contexts([[3.0, 4.0]])
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: candidate 0 has a context of norm 5; contexts must have norm <= 1, see evenhand.Schema
    """
    contexts = _as_float_array(value)
    if contexts.ndim != 2 or contexts.shape[0] == 0 or contexts.shape[1] == 0:
        raise InvalidInput(
            f"contexts have shape {contexts.shape}; allowed is (k, d): a row for each of k >= 1 candidates"
        )
    if n_features is not None and contexts.shape[1] != n_features:
        raise InvalidInput(f"contexts have {contexts.shape[1]} features; this bandit was made for {n_features}")
    contexts.flags.writeable = False
    longest, largest = longest_row(contexts)
    if not largest <= (1.0 + NORM_TOLERANCE) ** 2:  # also if it is no number
        _refuse_unfinite(contexts)
        raise InvalidInput(
            f"candidate {longest} has a context of norm {math.hypot(*contexts[longest]):.6g}; "
            "contexts must have norm <= 1, see evenhand.Schema"
        )
    return contexts


@jit
def longest_row(contexts: NDArray[np.float64]) -> tuple[int, float]:
    """The row of `contexts` (k, d) with the largest squared norm, and that; or the first whose norm is no number."""
    longest, largest = 0, -1.0
    for row in range(len(contexts)):
        square = 0.0
        for value in contexts[row]:
            square += value * value
        if np.isnan(square):
            return row, square
        if square > largest:
            longest, largest = row, square
    return longest, largest


def _as_float_array(value: Any) -> NDArray[np.float64]:
    if type(value) is np.ndarray and value.dtype == FLOAT:
        return value.copy()
    table = value.to_numpy() if hasattr(value, "to_numpy") else value  # pandas and polars alike
    try:
        array = np.array(table)
        if array.dtype.kind not in "iuf" and not (array.dtype.kind == "O" and hasattr(value, "to_numpy")):
            raise TypeError
        return np.array(array, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InvalidInput(f"contexts must be a (k, d) table of numbers: {_misfit(table)}") from None


def _misfit(table: Any) -> str:
    """What is no table of numbers about it; numpy would speak of types and shapes."""
    rows = table.tolist() if isinstance(table, np.ndarray) else table
    if not isinstance(rows, (list, tuple)):
        return f"{rows!r} is none"
    sizes = [len(row) if isinstance(row, (list, tuple, np.ndarray)) else None for row in rows]
    for at, row in enumerate(rows):
        if sizes[at] is None:
            return f"candidate {at} is {row!r}, not a list of numbers"
        if sizes[at] != sizes[0]:
            return f"candidate {at} has {sizes[at]} features, candidate 0 has {sizes[0]}"
        for feature, number in enumerate(row):
            if not is_number(number):
                return f"feature {feature} of candidate {at} is {number!r}"
    return "its numbers cannot be read"


def _refuse_unfinite(contexts: NDArray[np.float64]) -> None:
    rows, columns = np.nonzero(~np.isfinite(contexts))
    if len(rows):
        raise InvalidInput(
            f"feature {columns[0]} of candidate {rows[0]} is {contexts[rows[0], columns[0]]}; "
            "contexts must be finite numbers"
        )
