"""How the laboratory draws: one palette, bands over seeds, axes with units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.lab.statistics import bands

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Okabe and Ito's, told apart by colour-blind readers too; the dashes help in print."""

DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (5, 5)))

PROMISED: dict[str, Any] = {"color": "#444444", "linestyle": (0, (2, 2)), "linewidth": 1.4}
"""How a theorem's bound is drawn, everywhere."""


def styles() -> Iterator[dict[str, Any]]:
    """Line styles, one for each contender, the same order everywhere."""
    for colour, dash in cycle(zip(COLOURS, DASHES, strict=True)):
        yield {"color": colour, "linestyle": dash, "linewidth": 2.0}


def panels(count: int = 1, *, width: float = 6.0, height: float = 4.4) -> tuple[Figure, list[Axes]]:
    """A figure with so many panels side by side; no window is ever opened."""
    return multiples(count, columns=count, width=width, height=height)


def multiples(count: int, *, columns: int, width: float = 3.6, height: float = 3.2) -> tuple[Figure, list[Axes]]:
    """A figure with so many panels, row by row; the places left over in the last row stay empty."""
    from matplotlib.figure import Figure

    columns = max(1, min(count, columns))
    rows = -(-count // columns)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for spare in axes[count:]:
        spare.set_axis_off()
    for panel in axes[:count]:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(alpha=0.25)
    return figure, axes[:count]


def draw_band(panel: Axes, band: pl.DataFrame, *, along: str = "round", label: str, style: dict[str, Any]) -> None:
    """A mean with its 95% band, from the columns of `statistics.bands`."""
    x = band[along].to_numpy()
    panel.plot(x, band["mean"].to_numpy(), label=label, **style)
    panel.fill_between(x, band["lower"].to_numpy(), band["upper"].to_numpy(), color=style["color"], alpha=0.18, lw=0)


MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
"""Shapes of dots, for readers who cannot tell the colours."""


def dot_styles() -> Iterator[dict[str, Any]]:
    """Dots with error bars, one for each contender; when the colours begin again the dots are hollow."""
    for number, (colour, marker) in enumerate(zip(cycle(COLOURS), cycle(MARKERS), strict=False)):
        inside = "white" if number // len(COLOURS) % 2 else colour
        dot = {"color": colour, "marker": marker, "markerfacecolor": inside, "markersize": 6}
        yield dot | {"linestyle": "none", "elinewidth": 1.2}


def count_scale(panel: Axes) -> None:
    """Counts from none to many along the bottom: linear to 1, logarithmic above, with plain numbers; draw first."""
    from matplotlib.ticker import FixedLocator, NullLocator

    panel.set_xscale("symlog", linthresh=1.0)
    panel.set_xlim(-0.3, max(10.0, 2 * float(panel.dataLim.x1)))
    panel.xaxis.set_major_locator(FixedLocator([0, *(10**power for power in range(7))]))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def reach(table: pl.DataFrame, name: str) -> NDArray[np.float64]:
    """How far error bars reach below and above the mean, (2, n), from the columns of `statistics.summary`."""
    low, mean, high = (table[f"{name}{end}"].to_numpy() for end in ("_lower", "", "_upper"))
    return np.nan_to_num(np.maximum([mean - low, high - mean], 0.0))


def draw_rows(
    panel: Axes, means: pl.DataFrame, name: str, *, rows: tuple[str, Sequence[str]], dots: tuple[str, Sequence[str]]
) -> None:
    """A row for each value of one column, and in it a dot, with its 95% interval, for each value of another.

    rows, dots: the column, and its values in the order in which they are drawn. means: as `statistics.summary` has it.
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


def draw_policies(
    panel: Axes, table: pl.DataFrame, value: str, *, along: str = "round", floor: float | None = None
) -> None:
    """`value` of every policy of the table, in the order of the sweep, each with its band over seeds.

    floor: the least that is drawn, on a log axis; what lies below is drawn there.
    """
    for policy, style in zip(table["policy"].unique(maintain_order=True), styles(), strict=False):
        band = bands(table.filter(pl.col("policy") == policy), value, by=along)
        if floor is not None:
            band = band.with_columns(pl.col("mean", "lower", "upper").clip(lower_bound=floor))
        draw_band(panel, band, along=along, label=policy, style=style)


def log_from(panel: Axes, floor: float) -> None:
    """A log axis upwards from `floor`; to be called when everything is drawn."""
    panel.set_yscale("log")
    panel.set_ylim(bottom=floor)


def legend_below(figure: Figure, panel: Axes, *, columns: int) -> None:
    """One legend for all panels, where it hides nothing."""
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def legend_of_all(figure: Figure, panels: Sequence[Axes], *, columns: int) -> None:
    """One legend for panels that do not show the same, each label once."""
    named = {
        label: handle for panel in panels for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(list(named.values()), list(named), loc="outside lower center", ncols=columns, frameon=False)


def powers_of_two(panel: Axes, label: str) -> None:
    """Doublings along the bottom, where a law in log T is a line."""
    panel.set_xscale("log", base=2)
    panel.set_xlabel(label)
