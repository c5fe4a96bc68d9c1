"""Charts of a report as inline SVG: a step line, and means with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from evenhand._internal.intervals import MeanInterval

WIDTH, HEIGHT = 640, 200
LEFT, RIGHT, TOP, BOTTOM = 48, 16, 12, 34
ROW = 26
"""Height of a row of means."""
# Attributes and not a style sheet: WeasyPrint does not apply the page's style to what is drawn.
AXIS = 'stroke="#999" fill="none"'
LINE = 'stroke="#1f5a99" stroke-width="2" fill="none"'
RANGE = 'stroke="#8fb3d9" stroke-width="6" stroke-linecap="round"'
DOT = 'fill="#1f5a99"'
FONT = 'font-family="system-ui, DejaVu Sans, sans-serif" font-size="12" fill="#333"'
LABELS, NUMBERS = 210, 60
"""Width of the labels left, and of the numbers right of a row."""


def step_line(points: Sequence[tuple[int, int]], x_label: str, y_label: str) -> str:
    """A count over another, both from their first to their last; points: (x, y), ascending."""
    first, last = points[0][0], max(points[-1][0], points[0][0] + 1)
    most = max(1, points[-1][1])
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(value: float) -> float:
        return LEFT + width * (value - first) / (last - first)

    def y(value: float) -> float:
        return TOP + height * (1 - value / most)

    path = f"M{x(points[0][0]):.1f} {y(points[0][1]):.1f}"
    path += "".join(f"H{x(at):.1f}V{y(count):.1f}" for at, count in points[1:])
    base = TOP + height
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" {FONT} role="img" aria-label="{escape(y_label)} by {escape(x_label)}">'
        f'<path d="M{LEFT} {TOP}V{base}H{WIDTH - RIGHT}" {AXIS}/><path d="{path}" {LINE}/>'
        f'<text x="{LEFT - 6}" y="{TOP + 5}" text-anchor="end">{most:,}</text>'
        f'<text x="{LEFT - 6}" y="{base + 4}" text-anchor="end">0</text>'
        f'<text x="{LEFT}" y="{base + 16}">{first:,}</text>'
        f'<text x="{WIDTH - RIGHT}" y="{base + 16}" text-anchor="end">{last:,}</text>'
        f'<text x="{LEFT + width / 2}" y="{base + 28}" text-anchor="middle">{escape(x_label)}</text></svg>'
    )


def means(rows: Sequence[tuple[str, MeanInterval]], label: str) -> str:
    """Shares from 0 to 1 with their intervals, a row each."""
    height = TOP + ROW * len(rows) + 26
    start, end = LABELS, WIDTH - NUMBERS
    base = TOP + ROW * len(rows)
    most = max([mean.upper or mean.value or 0.0 for _, mean in rows] + [0.01])
    most = min(1.0, most * 1.05)

    def x(value: float) -> float:
        return start + (end - start) * value / most

    drawn = [f'<path d="M{start} {TOP}V{base}H{end}" {AXIS}/>']
    for place, (name, mean) in enumerate(rows):
        middle = TOP + ROW * place + ROW / 2
        drawn.append(f'<text x="{LABELS - 10}" y="{middle + 4:.1f}" text-anchor="end">{escape(_short(name))}</text>')
        if mean.value is None:
            continue
        if mean.lower is not None and mean.upper is not None:
            drawn.append(f'<path d="M{x(mean.lower):.1f} {middle:.1f}H{x(mean.upper):.1f}" {RANGE}/>')
        drawn.append(f'<circle cx="{x(mean.value):.1f}" cy="{middle:.1f}" r="4.5" {DOT}/>')
        drawn.append(f'<text x="{end + 8}" y="{middle + 4:.1f}">{mean.value:.1%}</text>')
    drawn.append(f'<text x="{start}" y="{base + 18}">0%</text>')
    drawn.append(f'<text x="{end}" y="{base + 18}" text-anchor="end">{most:.0%}</text>')
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" {FONT} role="img" aria-label="{escape(label)}">'
        + "".join(drawn)
        + "</svg>"
    )


def _short(name: str) -> str:
    return name if len(name) <= 30 else f"{name[:29]}…"
