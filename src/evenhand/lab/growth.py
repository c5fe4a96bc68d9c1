"""Laws: the exponent with which something grows, fitted over seeds, and whether it grows as was promised."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.lab.experiment import Verdict
from evenhand.lab.statistics import Estimate, estimate, slope

Points = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Positions (n,), and what was measured there, one row a seed (n_seeds, n): as `by_seed` returns them."""


STEEPEST = 0.25
"""The exponent that tells a log law from a root: half way between 0 and 1/2."""

NEGLIGIBLE = 0.01
"""A hundredth of a pair, a round or a reward of 1, more a doubling than before: nothing, however surely measured."""


def later_half(points: Points) -> Points:
    """The later half of the positions on a log axis: a law is promised in the long run, not at its start.

    >>> later_half((np.array([1.0, 4.0, 16.0]), np.array([[5.0, 6.0, 7.0]])))
    (array([ 4., 16.]), array([[6., 7.]]))
    """
    x, runs = points
    late = x**2 >= x[0] * x[-1] * (1 - 1e-9)
    return x[late], runs[:, late]


def exponent(points: Points) -> Estimate:
    """The slope of log y on log x. A total below 1 counts as 1, so that nothing is as good as next to nothing.

    >>> x = np.array([1.0, 10.0, 100.0])
    >>> str(exponent((x, np.array([3 * x**0.5]))))
    '0.5 (one run)'
    """
    x, runs = points
    return _tidy(slope(np.log(x), np.log(np.maximum(runs, 1.0))))


def per_doubling(points: Points) -> Estimate:
    """What each doubling of x adds to y: the slope of y on log2 x."""
    x, runs = points
    return _tidy(slope(np.log2(x), runs))


def bending(points: Points) -> Estimate:
    """How much more a doubling of x adds after the middle (on a log axis) than before it.

    0 for a log law, wherever it starts, above 0 for any power. Not a number with fewer than three positions.

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


def no_faster_than_log(what: str, points: Points, *, x: str = "T", steepest: float | None = STEEPEST) -> Verdict:
    """Whether y grows no faster than log x, as far as the seeds can tell: judged on the later half of x.

    Two signs of a power law: on a log axis it bends upwards, and its exponent does not fall towards 0. The exponent
    of a log law is not 0 at any x and depends on where the log starts: so it has room, and may be left out (None).

    The ends are those of 95% intervals: one true log law in forty is flagged by bad luck, so a page of many verdicts
    may show one. Powers below 0.3 pass more often than not with ten seeds and nine doublings of T.
    """
    late = later_half(points)
    bend, power = bending(late), exponent(late)
    measured = f"a doubling of {x} adds {per_doubling(late)}, bending {bend}, exponent {power}"
    promised = f"log {x}: bending at most 0"
    if steepest is None:
        return Verdict(what, measured, promised, bend.lower <= NEGLIGIBLE)
    holds = bend.lower <= NEGLIGIBLE and power.lower <= steepest
    return Verdict(what, measured, f"{promised}, exponent at most {steepest:g}", holds)


def stopped(what: str, points: Points) -> Verdict:
    """Whether a running total has stopped: as far as the seeds can tell, the second half of the rounds added nothing.

    A bound without T in it says that growth ends. Even a log law goes on, and is flagged here.
    """
    rounds, runs = points
    middle = max(int(np.searchsorted(rounds, rounds[-1] / 2, side="right")) - 1, 0)
    added = _tidy(estimate(runs[:, -1] - runs[:, middle]))
    return Verdict(what, f"{added} from round {rounds[middle]:g} to {rounds[-1]:g}", "none", added.lower <= NEGLIGIBLE)


def no_steeper(what: str, found: Estimate, promised: float, *, law: str) -> Verdict:
    """Whether a fitted exponent is compatible with one that is at most `promised`."""
    return Verdict(what, f"exponent {found}", f"at most {promised:.2g}, {law}", found.lower <= promised)


def below(what: str, values: pl.Series, bound: float) -> Verdict:
    """Whether every run, the worst among them, stayed below a bound."""
    worst = float(np.max(values.to_numpy(), initial=-np.inf))
    return Verdict(what, f"at most {worst:.4g} in {len(values)} runs", f"at most {bound:.4g}", worst <= bound)


def last_of_each(table: pl.DataFrame) -> pl.DataFrame:
    """The last checkpoint of every run: one row a case."""
    return table.filter(pl.col("round") == pl.col("rounds"))


def of(table: pl.DataFrame, policy: str) -> pl.DataFrame:
    """The rows of one policy."""
    return table.filter(pl.col("policy") == policy)


def policies_in(table: pl.DataFrame) -> list[str]:
    """The policies of a table, in the order of the sweep."""
    return table["policy"].unique(maintain_order=True).to_list()


def _tidy(found: Estimate) -> Estimate:
    """Without the dust of rounding where nothing grows."""
    return Estimate(*(round(end, 9) + 0.0 for end in found))
