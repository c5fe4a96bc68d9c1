"""How figures look: one palette, and panels without clutter."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Okabe and Ito's palette, safe for colour-blind readers; the dashes help in print."""

DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (5, 5)))

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")


def styles() -> Iterator[dict[str, Any]]:
    """Line styles, one for each contender, in the same order in every figure."""
    for colour, dash in cycle(zip(COLOURS, DASHES, strict=True)):
        yield {"color": colour, "linestyle": dash, "linewidth": 2.0}


def dot_styles() -> Iterator[dict[str, Any]]:
    """Dots with error bars, one for each contender; hollow when the colours repeat."""
    for number, (colour, marker) in enumerate(zip(cycle(COLOURS), cycle(MARKERS), strict=False)):
        inside = "white" if number // len(COLOURS) % 2 else colour
        dot = {"color": colour, "marker": marker, "markerfacecolor": inside, "markersize": 6}
        yield dot | {"linestyle": "none", "elinewidth": 1.2}


def panels(
    count: int = 1, *, columns: int | None = None, width: float = 6.0, height: float = 4.4
) -> tuple[Figure, list[Axes]]:
    """A figure with this many panels, side by side or in rows of `columns`; no window is opened."""
    from matplotlib.figure import Figure

    columns = max(1, min(count, columns or count))
    rows = -(-count // columns)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for spare in axes[count:]:
        spare.set_axis_off()
    for panel in axes[:count]:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(alpha=0.25)
    return figure, axes[:count]
