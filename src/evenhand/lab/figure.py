"""How the laboratory draws: one palette, bands over seeds, axes with units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evenhand._internal.arrays import Floats
from evenhand._internal.figure_style import COLOURS as COLOURS
from evenhand._internal.figure_style import DASHES as DASHES
from evenhand._internal.figure_style import MARKERS as MARKERS
from evenhand._internal.figure_style import dot_styles as dot_styles
from evenhand._internal.figure_style import panels as panels
from evenhand._internal.figure_style import styles as styles
from evenhand.lab.statistics import bands

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure

PROMISED: dict[str, Any] = {"color": "#444444", "linestyle": (0, (2, 2)), "linewidth": 1.4}
"""The style of a theorem's bound, in every figure."""

FLOOR = 0.5
"""Lower end of logarithmic axes for counts and regret."""

UNFAIR_PAIRS = "pairs unfair by more than epsilon"
REGRET = "regret against the best fair policy"


def finish(figure: Figure, axes: Sequence[Axes], title: str, *, columns: int) -> Figure:
    """Add a title and one legend for all panels, each label once, below them."""
    named = {label: handle for panel in axes for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)}
    figure.legend(list(named.values()), list(named), loc="outside lower center", ncols=columns, frameon=False)
    figure.suptitle(title)
    return figure


def draw_band(panel: Axes, band: pl.DataFrame, *, along: str = "round", label: str, style: dict[str, Any]) -> None:
    """A mean with its 95% band, from the columns of `statistics.bands`."""
    x = band[along].to_numpy()
    panel.plot(x, band["mean"].to_numpy(), label=label, **style)
    panel.fill_between(x, band["lower"].to_numpy(), band["upper"].to_numpy(), color=style["color"], alpha=0.18, lw=0)


def draw_lines(
    panel: Axes,
    table: pl.DataFrame,
    value: str,
    *,
    by: str = "policy",
    order: Sequence[str] | None = None,
    along: str = "round",
    floor: float | None = None,
    **style: Any,
) -> None:
    """A line with its band over seeds for each contender, the values of the column `by`.

    order: the contenders, of which those without a row keep their style; that of the sweep by default. floor: values
    and bands below it are drawn there.
    """
    for name, own in zip(order or table[by].unique(maintain_order=True), styles(), strict=False):
        rows = table.filter(pl.col(by) == name)
        if len(rows):
            band = bands(rows, value, by=along)
            if floor is not None:
                band = band.with_columns(pl.col("mean", "lower", "upper").clip(lower_bound=floor))
            draw_band(panel, band, along=along, label=name, style=own | style)


def draw_rows(
    panel: Axes, means: pl.DataFrame, name: str, *, rows: tuple[str, Sequence[str]], dots: tuple[str, Sequence[str]]
) -> None:
    """A row for each value of one column, and in it a dot with its 95% interval for each value of another.

    rows, dots: the column, and its values in drawing order. means: as from `statistics.summary`.
    """
    (row, rows_in_order), (dot, dots_in_order) = rows, dots
    step = 0.6 / max(len(dots_in_order), 1)
    for place, (value, style) in enumerate(zip(dots_in_order, dot_styles(), strict=False)):
        here = means.filter(pl.col(dot) == value)
        shift = step * (place - (len(dots_in_order) - 1) / 2)
        heights = np.array([list(rows_in_order).index(each) for each in here[row]], dtype=np.float64) + shift
        panel.errorbar(here[name].to_numpy(), heights, xerr=reach(here, name), label=value, **style)
    panel.set_yticks(range(len(rows_in_order)), list(rows_in_order))
    panel.set_ylim(len(rows_in_order) - 0.5, -0.5)


def reach(table: pl.DataFrame, name: str) -> Floats:
    """The lengths of error bars below and above the mean, (2, n), from the columns of `statistics.summary`."""
    low, mean, high = (table[f"{name}{end}"].to_numpy() for end in ("_lower", "", "_upper"))
    return np.nan_to_num(np.maximum([mean - low, high - mean], 0.0))


def count_scale(panel: Axes) -> None:
    """An x axis for counts: linear to 1, logarithmic above, with plain numbers; call it after drawing."""
    from matplotlib.ticker import FixedLocator, NullLocator

    panel.set_xscale("symlog", linthresh=1.0)
    panel.set_xlim(-0.3, max(10.0, 2 * float(panel.dataLim.x1)))
    panel.xaxis.set_major_locator(FixedLocator([0, *(10**power for power in range(7))]))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def log_from(panel: Axes) -> None:
    """A logarithmic y axis from FLOOR upwards; call it after drawing."""
    panel.set_yscale("log")
    panel.set_ylim(bottom=FLOOR)


def powers_of_two(panel: Axes, label: str) -> None:
    """A logarithmic x axis of doublings, on which log T is a line."""
    panel.set_xscale("log", base=2)
    panel.set_xlabel(label)
