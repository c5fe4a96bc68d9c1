"""Informative answers, review by review, to start again from should the bound grow."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from evenhand._internal.append_only import GrowingList
from evenhand.metrics.version_space.constraints import Constraints

Remembered = GrowingList[Constraints]


def extended(remembered: Remembered, new: Constraints, max_rows: int) -> Remembered:
    """With a new review; beyond twice the maximum the newest that have so many rows."""
    if not len(new):
        return remembered
    remembered = remembered.plus(new)
    if sum(len(part.b) for part in remembered) <= 2 * max_rows:
        return remembered
    parts = list(remembered)
    while sum(len(part.b) for part in parts) > max_rows:
        parts.pop(0)
    return GrowingList(parts)


def as_state(remembered: Remembered, n_unknowns: int) -> dict[str, Any]:
    """All answers in a few arrays, and how many each review had."""
    joined = functools.reduce(Constraints.joined, remembered, Constraints.none(n_unknowns))
    return {"remembered": joined.state(), "parts": np.array([len(part) for part in remembered], np.int64)}


def from_state(state: dict[str, Any]) -> Remembered:
    """The answers from their `as_state`."""
    joined, parts = Constraints.from_state(state["remembered"]), state["parts"]
    numbers = np.repeat(np.arange(len(parts)), parts)
    return GrowingList(joined.take(numbers == part) for part in range(len(parts)))
