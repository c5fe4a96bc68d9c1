"""Growth: the exponent with which something grows, fitted over seeds, and checks of it against a bound."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from evenhand._internal.arrays import Floats
from evenhand.lab.experiment import Check
from evenhand.lab.statistics import Estimate, estimate, slope

Points = tuple[Floats, Floats]
"""Positions (n,) and measurements there, one row a seed (n_seeds, n): as `by_seed` returns them."""

NORM = 1.0
"""The bound on ||A'A||_F that every learner starts from, for the theorems' bounds."""

STEEPEST = 0.25
"""The exponent that separates logarithmic growth from a root: half way between 0 and 1/2."""

NEGLIGIBLE = 0.01
"""A hundredth of a pair, a round or a reward of 1: nothing, however precisely measured."""


def later_half(points: Points) -> Points:
    """The later half of the positions on a log axis: growth is bounded in the long run, not at the start.

    >>> later_half((np.array([1.0, 4.0, 16.0]), np.array([[5.0, 6.0, 7.0]])))
    (array([ 4., 16.]), array([[6., 7.]]))
    """
    x, runs = points
    late = x**2 >= x[0] * x[-1] * (1 - 1e-9)
    return x[late], runs[:, late]


def exponent(points: Points) -> Estimate:
    """The slope of log y on log x. Totals below 1 count as 1.

    >>> x = np.array([1.0, 10.0, 100.0])
    >>> str(exponent((x, np.array([3 * x**0.5]))))
    '0.5 (one run)'
    """
    x, runs = points
    return _rounded(slope(np.log(x), np.log(np.maximum(runs, 1.0))))


def per_doubling(points: Points) -> Estimate:
    """What each doubling of x adds to y: the slope of y on log2 x."""
    x, runs = points
    return _rounded(slope(np.log2(x), runs))


def bending(points: Points) -> Estimate:
    """How much more a doubling of x adds after the middle (on a log axis) than before it.

    0 for a logarithm, wherever it starts, above 0 for any power. Not a number with fewer than three positions.

    >>> x = np.array([16.0, 64.0, 256.0])
    >>> bending((x, np.array([np.log2(x) - 3]))).value, bending((x, np.array([x**0.5]))).value
    (0.0, 2.0)
    """
    x, runs = points
    if len(x) < 3:
        return Estimate(np.nan, np.nan, np.nan)
    scale = np.log2(x)
    middle = 1 + int(np.argmin(np.abs(scale[1:-1] - (scale[0] + scale[-1]) / 2)))
    late = (runs[:, -1] - runs[:, middle]) / (scale[-1] - scale[middle])
    early = (runs[:, middle] - runs[:, 0]) / (scale[middle] - scale[0])
    known = np.isfinite(late - early)
    return estimate((late - early)[known]) if known.any() else Estimate(np.nan, np.nan, np.nan)


def no_faster_than_log(what: str, points: Points, *, x: str = "T", steepest: float | None = STEEPEST) -> Check:
    """Whether y grows no faster than log x, as far as the seeds show, in the later half of x.

    A power has two signs: on a log axis it bends upwards, and its exponent does not fall towards 0. The exponent of a
    logarithm is not 0 at any finite x and depends on where it starts, so it has some room; None ignores it.

    Both are judged by the lower end of a 95% interval: one true logarithm in forty fails by chance, so a page of many
    checks may show one. With ten seeds and nine doublings of T, powers below 0.3 usually pass.
    """
    late = later_half(points)
    bend, power = bending(late), exponent(late)
    measured = f"a doubling of {x} adds {per_doubling(late)}, bending {bend}, exponent {power}"
    promised = f"log {x}: bending at most 0"
    if steepest is None:
        return Check(what, measured, promised, bend.lower <= NEGLIGIBLE)
    holds = bend.lower <= NEGLIGIBLE and power.lower <= steepest
    return Check(what, measured, f"{promised}, exponent at most {steepest:g}", holds)


def stopped(what: str, points: Points) -> Check:
    """Whether a running total has stopped: as far as the seeds show, the second half of the rounds added nothing.

    A bound without T implies that growth ends. Logarithmic growth goes on, and fails here.
    """
    rounds, runs = points
    middle = max(int(np.searchsorted(rounds, rounds[-1] / 2, side="right")) - 1, 0)
    added = _rounded(estimate(runs[:, -1] - runs[:, middle]))
    return Check(what, f"{added} from round {rounds[middle]:g} to {rounds[-1]:g}", "none", added.lower <= NEGLIGIBLE)


def no_steeper(what: str, found: Estimate, promised: float, *, reason: str) -> Check:
    """Whether a fitted exponent is compatible with one that is at most `promised`."""
    return Check(what, f"exponent {found}", f"at most {promised:.2g}, {reason}", found.lower <= promised)


def below(what: str, values: pl.Series, bound: float) -> Check:
    """Whether every run, the worst one included, stayed below a bound."""
    worst = float(np.max(values.to_numpy(), initial=-np.inf))
    return Check(what, f"at most {worst:.4g} in {len(values)} runs", f"at most {bound:.4g}", worst <= bound)


def above_zero(what: str, found: Estimate, *, measured: str | None = None, promised: str = "above 0") -> Check:
    """Whether a difference is clearly above 0: the lower end of its interval is."""
    return Check(what, measured or str(found), promised, bool(found.lower > 0))


def last_of_each(table: pl.DataFrame) -> pl.DataFrame:
    """The last checkpoint of every run: one row a case."""
    return table.filter(pl.col("round") == pl.col("rounds"))


def by_policy(table: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Each policy with its rows, in the order of the sweep."""
    for policy in table["policy"].unique(maintain_order=True):
        yield policy, table.filter(pl.col("policy") == policy)


def _rounded(found: Estimate) -> Estimate:
    """Without rounding errors where nothing grows."""
    return Estimate(*(round(end, 9) + 0.0 for end in found))
