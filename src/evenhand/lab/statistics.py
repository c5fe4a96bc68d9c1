"""Means and slopes with confidence intervals: over seeds, never over rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats

CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """A number with the ends of its 95% confidence interval."""

    value: float
    lower: float
    upper: float

    def __str__(self) -> str:
        if math.isnan(self.lower):
            return f"{self.value:.3g} (one run)"
        return f"{self.value:.3g} ({self.lower:.3g} to {self.upper:.3g})"


def estimate(values: ArrayLike) -> Estimate:
    """The mean of independent runs and its Student interval; the interval of a single run is not a number.

    >>> str(estimate([1.0, 2.0, 3.0]))
    '2 (-0.484 to 4.48)'
    """
    from scipy import stats  # half a second to load, and only an analysis needs it

    runs = np.asarray(values, dtype=np.float64)
    mean = float(np.mean(runs))
    if len(runs) < 2:
        return Estimate(mean, math.nan, math.nan)
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(runs) - 1) * stats.sem(runs))
    return Estimate(mean, mean - reach, mean + reach)


def bands(table: pl.DataFrame, value: str, *, by: str = "round") -> pl.DataFrame:
    """Mean and interval of `value` over the seeds, at each value of `by`: columns by, mean, lower, upper.

    Rows with the same seed depend on each other: they are averaged first, and count as one run.
    """
    runs = table.group_by([by, "seed"], maintain_order=True).agg(mean=pl.col(value).mean())
    return summary(runs, [by], ["mean"]).rename({"mean_lower": "lower", "mean_upper": "upper"}).sort(by)


def slope(x: Floats, runs: Floats) -> Estimate:
    """The slope of a straight line through (x, y), fitted to each run separately: runs (n, len(x)).

    Points of one run depend on each other, runs do not: so the interval comes from the spread of the runs' slopes.
    NaNs are left out; with fewer than two points in every run the slope is NaN.
    """
    known = [np.isfinite(run) for run in runs]
    slopes = [np.polyfit(x[use], run[use], 1)[0] for use, run in zip(known, runs, strict=True) if use.sum() > 1]
    return estimate(slopes) if slopes else Estimate(np.nan, np.nan, np.nan)


def by_seed(table: pl.DataFrame, value: str, *, along: str = "round") -> tuple[Floats, Floats]:
    """The positions, and `value` as one row a seed, (n_seeds, n_positions)."""
    wide = table.pivot(on=along, index="seed", values=value, aggregate_function="mean").sort("seed").drop("seed")
    positions = np.array([float(name) for name in wide.columns])
    order = np.argsort(positions)
    return positions[order], wide.to_numpy()[:, order].astype(np.float64)


def difference(runs: pl.DataFrame, value: str, *, by: str, first: str, second: str) -> Estimate:
    """By how much `value` of the first contender exceeds that of the second, seed by seed."""
    wide = runs.filter(pl.col(by).is_in([first, second])).pivot(on=by, index="seed", values=value).sort("seed")
    return estimate(wide[first] - wide[second])


def ends_of_runs(table: pl.DataFrame, values: Sequence[str] = ()) -> pl.DataFrame:
    """One row a case: running totals at its end, and the late part of them, about the second half.

    Late begins at the last checkpoint in the first half of the rounds: `late_rounds` says how many follow. Each of
    `values` gets a column `late_NAME`.

    >>> runs = pl.DataFrame({"case": ["a"] * 3, "round": [1.0, 2.0, 4.0], "regret": [1.0, 3.0, 4.0]})
    >>> ends_of_runs(runs, ["regret"]).select("round", "regret", "late_rounds", "late_regret").row(0)
    (4.0, 4.0, 2.0, 1.0)
    """
    ordered = table.sort("round", maintain_order=True)
    early = pl.col("round") <= pl.col("round").max() / 2
    late = [
        (pl.col(name).last() - pl.col(name).filter(early).last().fill_null(0.0)).alias(alias)
        for name, alias in [("round", "late_rounds"), *((name, f"late_{name}") for name in values)]
    ]
    totals = [pl.col(name).last() for name in ordered.columns if name != "case"]
    return ordered.group_by("case", maintain_order=True).agg(*totals, *late)


def summary(table: pl.DataFrame, by: Sequence[str], values: Sequence[str]) -> pl.DataFrame:
    """Mean and interval of each value over the seeds in each group: columns NAME, NAME_lower, NAME_upper.

    >>> runs = pl.DataFrame({"policy": ["a", "a"], "regret": [1.0, 1.0]})
    >>> summary(runs, ["policy"], ["regret"]).row(0)
    ('a', 1.0, 1.0, 1.0)
    """
    rows = []
    for key, group in table.group_by(list(by), maintain_order=True):
        row = dict(zip(by, key, strict=True))
        for name in values:
            found = estimate(group[name].cast(pl.Float64))
            row |= {name: found.value, f"{name}_lower": found.lower, f"{name}_upper": found.upper}
        rows.append(row)
    return pl.DataFrame(rows)
