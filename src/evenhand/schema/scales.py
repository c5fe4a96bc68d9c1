"""How a number is spread over its range: linear, by its logarithm, or by its rank; "auto" chooses from a table.

A scale maps the range of a number, low to high, onto the shares 0 to 1, strictly increasing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from evenhand._internal.arrays import Floats

Scale = Literal["linear", "log", "quantile", "auto"]

Knots: TypeAlias = tuple[tuple[float, float], ...]
"""Points of a quantile scale: values from low to high with their shares from 0 to 1, both increasing."""

SKEWED = 1.0
"""The skewness, of either sign, from which "auto" takes another scale than the linear one."""

MOST_KNOTS = 33  # A thirty-second of the people between two knots: more would follow the chance of the table.

LINEAR_SHARE = 0.01
"""The part of a quantile scale that is linear: values with nobody between them still differ, and can be decoded."""

WORDS: dict[Scale, str] = {
    "linear": "equal differences count the same anywhere in the range",
    "log": "the same difference counts for less the higher the values are",
    "quantile": "two values are as far apart as the share of people between them",
    "auto": "not chosen yet: a table decides, by its skewness, between linear, log and quantile",
}
"""What each scale means, in words."""


def log_shares(values: Floats, low: float, high: float, unit: float) -> Floats:
    """The shares of values on a log scale: log(1 + (x - low) / unit), from 0 at low to 1 at high.

    Only what exceeds `low` counts, so numbers below zero are as good as others.

    >>> log_shares(np.array([-1.0, 8.0, 98.0]), low=-1.0, high=98.0, unit=1.0).round(6).tolist()
    [0.0, 0.5, 1.0]
    """
    shares = np.log1p((values - low) / unit) / math.log1p((high - low) / unit)
    return np.where(values >= high, 1.0, np.minimum(shares, 1.0))  # the two logarithms differ in their last bit


def log_value(share: float, low: float, high: float, unit: float) -> float:
    """The value of a share on a log scale."""
    return low + unit * math.expm1(share * math.log1p((high - low) / unit))


def quantile_shares(values: Floats, knots: Knots) -> Floats:
    """The shares of values on a quantile scale, linear between its knots."""
    at, shares = np.array(knots).T
    return np.asarray(np.interp(values, at, shares))


def quantile_value(share: float, knots: Knots) -> float:
    """The value of a share on a quantile scale."""
    at, shares = np.array(knots).T
    return float(np.interp(share, shares, at))


def quantile_knots(values: Sequence[float], low: float, high: float) -> Knots:
    """The knots of the quantile scale of a table's column: at most MOST_KNOTS, and the ends of the range.

    A value's share is that of people below it and of half of those who have it (a ridit), stretched so that low has
    0 and high 1, and a little of the linear scale. Without any values the scale is linear.

    >>> quantile_knots([0, 0, 0, 1, 1, 5], low=0, high=5)[0], quantile_knots([], low=0, high=5)
    ((0.0, 0.0), ((0.0, 0.0), (5.0, 1.0)))
    """
    at, counts = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    shares = (np.cumsum(counts) - 0.5 * counts) / max(len(values), 1)
    if len(at) > MOST_KNOTS:
        rows = np.searchsorted(shares, np.linspace(0.0, 1.0, MOST_KNOTS)[1:-1])
        rows = np.unique(np.concatenate([[0], np.minimum(rows, len(at) - 1), [len(at) - 1]]))
        at, shares = at[rows], shares[rows]
    if len(at) == 0 or at[0] > low:
        at, shares = np.append(low, at), np.append(0.0, shares)
    if at[-1] < high:
        at, shares = np.append(at, high), np.append(shares, 1.0)
    shares = (shares - shares[0]) / (shares[-1] - shares[0])
    shares = (1.0 - LINEAR_SHARE) * shares + LINEAR_SHARE * ((at - low) / (high - low))
    shares[0], shares[-1] = 0.0, 1.0
    return tuple(zip((at + 0.0).tolist(), shares.tolist(), strict=True))


def suitable_scale(values: Sequence[float], low: float, high: float, unit: float) -> Scale:
    """The scale that suits a table's column: linear, unless the values are skewed; log, if that makes them even.

    >>> suitable_scale([1, 2, 3, 4, 5], 0, 100, 1), suitable_scale([0, 0, 1, 1, 2, 3, 4, 6, 9, 20, 90], 0, 100, 1)
    ('linear', 'log')
    """
    column = np.asarray(values, dtype=np.float64)
    if abs(skewness((column - low) / (high - low))) <= SKEWED:
        return "linear"
    return "log" if abs(skewness(log_shares(column, low, high, unit))) <= SKEWED else "quantile"


def skewness(shares: Floats) -> float:
    """The third standardised moment of shares (n,); 0 where all are the same, or none is there.

    >>> skewness(np.array([0.0, 0.5, 1.0])), skewness(np.array([0.3, 0.3]))
    (0.0, 0.0)
    """
    if len(shares) == 0 or np.ptp(shares) == 0.0:
        return 0.0
    centred = (shares - np.mean(shares)) / np.ptp(shares)  # of size one: cubes of tiny numbers would be zero
    return float(np.mean(centred**3) / np.mean(centred**2) ** 1.5)
