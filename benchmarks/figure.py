"""The ratios as a picture: one panel for each part, all on a logarithmic axis, the goals marked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from benchmarks.measurement import Measurement
from benchmarks.table import TITLES, digits

REACHED, MISSED, PLAIN, GOAL, RULE = "#1b7f5c", "#c8452d", "#6f8db8", "#222222", "#dddddd"
SWEEP_COLOURS = ("#1b7f5c", "#7cc4a4", "#4a6fa5", "#a9c1e0")
SHAPES = "osD^vP"

WIDTH, ROW, HEAD, SWEEP_HEIGHT = 12.0, 0.27, 1.0, 3.4
"""Inches: the width, a row of a panel, what a panel needs besides, the panel of a sweep."""
MOST_ROWS = 16
"""A part with more lines than this gets one row for each work, its peers side by side on it."""

Style = Callable[[Axes, list[Measurement]], None]


def draw(lines: list[Measurement], path: Path) -> None:
    """Write the picture; at least one line must have a ratio."""
    measured = [line for line in lines if line.ratio is not None]
    groups = [(part, [line for line in measured if line.part == part]) for part in TITLES]
    groups = [(part, group) for part, group in groups if group]
    styles = [_style(group) for _, group in groups]
    heights = [height for _, height in styles]
    with mpl.rc_context({"font.size": 9, "font.family": "sans-serif"}):
        picture = Figure(figsize=(WIDTH, sum(heights) + 0.7), layout="constrained")
        panels = picture.subplots(len(groups), 1, height_ratios=heights, squeeze=False)[:, 0]
        for panel, (part, group), (style, _) in zip(panels, groups, styles, strict=True):
            panel.set_title(TITLES[part], loc="left", fontweight="bold", fontsize=10)
            style(panel, group)
            _tidy(panel)
        _draw_legend(picture)
        picture.savefig(path, dpi=130)


def _style(group: list[Measurement]) -> tuple[Style, float]:
    """How to draw a part, and how high, in inches."""
    if any(line.along is not None for line in group):
        return _draw_sweep, SWEEP_HEIGHT
    if len(group) > MOST_ROWS:
        return _draw_works, HEAD + ROW * len({line.work for line in group}) + 0.5
    return _draw_lines, HEAD + ROW * len(group)


def _draw_lines(panel: Axes, group: list[Measurement]) -> None:
    """A row for each line, with its number."""
    for place, line in enumerate(group):
        _draw_dot(panel, line, place, "o")
        _draw_number(panel, line, place)
    _draw_axes(panel, [f"{line.work}  ·  {line.peer}" for line in group])


def _draw_works(panel: Axes, group: list[Measurement]) -> None:
    """A row for each work, a shape for each peer, numbers where there is a goal."""
    works, peers = (list(dict.fromkeys(getattr(line, name) for line in group)) for name in ("work", "peer"))
    for line in group:
        place, shape = works.index(line.work), SHAPES[peers.index(line.peer) % len(SHAPES)]
        _draw_dot(panel, line, place, shape)
    _draw_axes(panel, works)
    shapes = [
        Line2D([], [], color=PLAIN, marker=SHAPES[place % len(SHAPES)], linewidth=0, label=peer)
        for place, peer in enumerate(peers)
    ]
    panel.legend(handles=shapes, loc="upper right", bbox_to_anchor=(1.0, -0.1), ncols=3, frameon=False)


def _draw_dot(panel: Axes, line: Measurement, place: int, shape: str) -> None:
    """The ratio with its quartiles; where there is a goal, a bar at the goal, and below it in red."""
    colour = {None: PLAIN, True: REACHED, False: MISSED}[line.met]
    low, ratio, high = (value if value is not None else 0.0 for value in (line.low, line.ratio, line.high))
    panel.plot([low, high], [place, place], color=colour, linewidth=3, alpha=0.4, solid_capstyle="round")
    panel.plot([ratio], [place], ">" if line.stopped else shape, color=colour, markersize=5)
    if line.goal is not None:
        panel.plot([line.goal], [place], "|", color=GOAL, markersize=11, markeredgewidth=2)


def _draw_number(panel: Axes, line: Measurement, place: int) -> None:
    """The ratio in digits, right of its quartiles."""
    ratio = line.ratio or 0.0
    end = (max(ratio, line.high or ratio), place)
    behind = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}  # so that no line runs through the digits
    panel.annotate(digits(ratio), end, (7, 0), textcoords="offset points", va="center", fontsize=8, bbox=behind)


def _draw_axes(panel: Axes, labels: list[str]) -> None:
    panel.set_yticks(range(len(labels)), labels, fontsize=8)
    panel.set_ylim(len(labels) - 0.4, -0.6)
    panel.set_xscale("log")
    panel.axvline(1.0, color=GOAL, linewidth=0.9, linestyle=":")
    left, right = panel.get_xlim()
    left, right = min(left, 0.5), max(right, 2.0) * 1.5  # room for the numbers
    panel.set_xlim(left, right)
    steps = (1.0,) if right > 20 * left else (1.0, 2.0, 5.0)
    panel.xaxis.set_major_locator(LogLocator(base=10, subs=steps, numticks=12))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.grid(axis="x", color=RULE, linewidth=0.6)


def _draw_sweep(panel: Axes, group: list[Measurement]) -> None:
    """A line for each work along the number of candidates; the goal is the line at 1."""
    for colour, work in zip(SWEEP_COLOURS, dict.fromkeys(line.work for line in group), strict=False):
        rows = sorted((line for line in group if line.work == work), key=lambda line: line.along or 0.0)
        along, low, ratio, high = ([getattr(r, n) for r in rows] for n in ("along", "low", "ratio", "high"))
        panel.fill_between(along, low, high, color=colour, alpha=0.25, linewidth=0)
        panel.plot(along, ratio, "o-", color=colour, markersize=3, linewidth=1.4, label=work)
    panel.axhline(1.0, color=GOAL, linewidth=2)
    panel.annotate(
        "goal", (1.0, 1.0), (4, 4), xycoords=("axes fraction", "data"), textcoords="offset points", ha="left"
    )
    panel.set_xscale("log")
    panel.set_yscale("log")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    panel.set_ylim(bottom=0.5)
    panel.set_xlabel("candidates")
    panel.set_ylabel("highspy / evenhand")
    panel.grid(color=RULE, linewidth=0.6)
    panel.legend(loc="lower center", bbox_to_anchor=(0.5, 0.14), ncols=2, frameon=False)


def _tidy(panel: Axes) -> None:
    panel.set_axisbelow(True)
    for side in ("top", "right", "left"):
        panel.spines[side].set_visible(False)
    panel.tick_params(axis="y", length=0)


def _draw_legend(picture: Figure) -> None:
    def dot(colour: str, text: str) -> Line2D:
        return Line2D([], [], color=colour, marker="o", linewidth=3, alpha=0.8, label=text)

    goal = Line2D([], [], color=GOAL, marker="|", markersize=11, markeredgewidth=2, linewidth=0, label="goal")
    even = Line2D([], [], color=GOAL, linestyle=":", linewidth=0.9, label="as fast as evenhand; right of it slower")
    picture.legend(
        handles=[even, goal, dot(REACHED, "reached"), dot(MISSED, "missed"), dot(PLAIN, "no goal")],
        loc="outside upper right",
        ncols=5,
        frameon=False,
    )
