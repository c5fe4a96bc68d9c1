"""The contexts of a round: conversion from arrays and data frames, and their checks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import is_number, quoted, refusal
from evenhand._internal.frames import as_frame
from evenhand._internal.jit import FLOAT, jit
from evenhand.errors import InvalidInput

NORM_TOLERANCE = 1e-6  # How far above 1 a norm may lie: normalisation in single precision.


def as_contexts(value: Any, n_features: int | None = None) -> Floats:
    """A read-only (k, d) copy of `value`, every row of norm <= 1; raises InvalidInput on anything else.

    `value` may be an array, nested lists, or a data frame of numbers: of pandas, polars or Arrow.

    >>> as_contexts([[0.6, 0.8], [0.0, 1.0]]).shape
    (2, 2)
    >>> as_contexts([[3.0, 4.0]])
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: contexts must have norm <= 1, context 0 has 5; see evenhand.Schema
    """
    contexts = _as_float_array(value)
    if contexts.ndim != 2 or contexts.shape[0] == 0 or contexts.shape[1] == 0:
        raise InvalidInput(f"contexts must have shape (k, d) with k, d >= 1, got {contexts.shape}")
    if n_features is not None and contexts.shape[1] != n_features:
        raise InvalidInput(f"contexts must have {n_features} features, got {contexts.shape[1]}")
    contexts.flags.writeable = False
    longest, largest = longest_row(contexts)
    if not largest <= (1.0 + NORM_TOLERANCE) ** 2:  # true for NaN as well
        for row, column in np.argwhere(~np.isfinite(contexts)):
            raise refusal(f"feature {column} of candidate {row}", "a finite number", float(contexts[row, column]))
        norm = math.hypot(*contexts[longest])
        raise InvalidInput(f"contexts must have norm <= 1, context {longest} has {norm:.6g}; see evenhand.Schema")
    return contexts


@jit
def longest_row(contexts: Floats) -> tuple[int, float]:
    """The row of `contexts` (k, d) with the largest squared norm, and that norm; or the first row with a NaN."""
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


def _as_float_array(value: Any) -> Floats:
    if type(value) is np.ndarray and value.dtype == FLOAT:
        return value.copy()
    frame = as_frame(value, "contexts")
    table = value if frame is None else frame.array()
    try:
        array = np.array(np.ma.filled(table.astype(FLOAT), np.nan) if isinstance(table, np.ma.MaskedArray) else table)
        if array.dtype.kind not in "iuf" and not _are_numbers(array, in_frame=frame is not None):
            raise TypeError
        return np.array(array, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InvalidInput(f"contexts must be a (k, d) table of numbers: {_misfit(table)}") from None


def _are_numbers(array: NDArray[Any], *, in_frame: bool) -> bool:
    """Whether an array of objects has nothing but numbers; a frame's may have missing values and yes and no."""
    return array.dtype.kind == "O" and (in_frame or all(map(is_number, array.flat)))


def _misfit(table: Any) -> str:
    """Why `table` is not a table of numbers, in words of candidates and features."""
    rows = table.tolist() if isinstance(table, np.ndarray) else table
    if not isinstance(rows, (list, tuple)):
        return f"got {quoted(rows)}"
    sizes = [len(row) if isinstance(row, (list, tuple)) or np.ndim(row) > 0 else None for row in rows]
    for at, row in enumerate(rows):
        if sizes[at] is None:
            return f"candidate {at} is {quoted(row)}, not a list of numbers"
        if sizes[at] != sizes[0]:
            return f"candidate {at} has {sizes[at]} features, candidate 0 has {sizes[0]}"
        for feature, number in enumerate(row):
            if not is_number(number):
                return f"feature {feature} of candidate {at} is {quoted(number)}"
    return "the values cannot be converted"
