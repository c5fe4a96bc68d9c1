"""Draws the map of the rooms: `python -m scripts.rooms_map` writes docs/figures/rooms.svg.

One table below: bands from top to bottom, in each the rows, in each row the rooms with what they hold.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from evenhand._internal.atomic_write import atomic_write

TARGET = Path(__file__).parents[1] / "docs" / "figures" / "rooms.svg"

Rows = list[list[tuple[str, str]]]

TOP: Rows = [
    [
        ("cli", "the commands: serve, ledger, report, history, lab"),
        ("adapters", "Coba, Vowpal Wabbit, OBP, scikit-learn, MLflow"),
    ],
]
PRODUCT: Rows = [
    [("service", "FastAPI: routers, dashboard, pages"), ("report", "the audit report of a ledger")],
    [("review", "what people are asked: sessions, display, agreement")],
    [("desk", "commands, handlers, projection, explain, imports, shadow mode")],
    [("ledger", "events, hash chain, SQL storage, verify, export")],
]
LABORATORY: Rows = [
    [("lab", "experiments: play, sweep, compare, plot, report")],
    [("history", "past decisions: read, estimate policies, start warm")],
    [("environments", "worlds and adversaries"), ("auditors", "simulated reviewers")],
    [("baselines", "other policies"), ("paper", "the paper to the letter")],
]
CORE: Rows = [
    [("interview", "questions before going live, forecasts")],
    [("bandit", "FairBandit: decide and learn. Start reading here")],
    [("certificates", "what earlier verdicts prove of a pair"), ("datasets", "tables of real people, from packages")],
    [
        ("allocation", "rewards and distances to probabilities"),
        ("metrics", "verdicts to distances"),
        ("rewards", "outcomes to rewards"),
        ("schema", "tables of people to contexts, and back to words"),
    ],
]
FOUNDATION: Rows = [
    [("theory", "the theorems as numbers"), ("client", "DeskClient: the service over HTTP")],
    [("records", "contexts, Decision, Review, signatures, review metadata")],
    [("_internal", "compiled kernels, archives, atomic files, randomness, checks")],
    [("errors", "one root error"), ("version", "the version")],
    [("testing", "contract suites for pytest; nothing imports it")],
]

WIDTH, MARGIN, GAP = 1080, 24, 14
ROOM, STEP, HEAD = 56, 72, 28
LETTERS_PER_ROOM = 7.0  # Pixels of a letter in the second line; longer lines are broken.

COLOURS = {"product": "#dbe7f6", "laboratory": "#efe3f3", "core": "#fdf0d5", "foundation": "#ececec", "top": "#dbe7f6"}
EDGES = {"product": "#3b6ea5", "laboratory": "#84559b", "core": "#b8862b", "foundation": "#777777", "top": "#3b6ea5"}

STYLE = (
    ".n{font:600 15px ui-monospace,Menlo,Consolas,monospace;text-anchor:middle;fill:#222}"
    ".t{font:12px system-ui,sans-serif;text-anchor:middle;fill:#444}"
    ".h{font:600 11px system-ui,sans-serif;letter-spacing:1.5px;fill:#666}"
    ".a{stroke:#888;stroke-width:1.5;fill:none}.z{fill:#fafafa;stroke:#d5d5d5}"
)
MARKER = (
    '<defs><marker id="h" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0 8 4 0 8z" fill="#888"/></marker></defs>'
)


def room(x: float, y: float, width: float, name: str, holds: str, kind: str) -> list[str]:
    """A box with the room's name and what it holds, in one line or two."""
    lines = broken(holds, int(width / LETTERS_PER_ROOM))
    middle, first = x + width / 2, y + (23 if len(lines) == 1 else 18)
    box = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{ROOM}" rx="8"'
    parts = [f'<rect {box} fill="{COLOURS[kind]}" stroke="{EDGES[kind]}" stroke-width="1.5"/>']
    parts.append(f'<text x="{middle:g}" y="{first:g}" class="n">{escape(name)}</text>')
    for number, line in enumerate(lines):
        place = first + (19 if len(lines) == 1 else 16 + 14 * number)
        parts.append(f'<text x="{middle:g}" y="{place:g}" class="t">{escape(line)}</text>')
    return parts


def broken(text: str, most: int) -> list[str]:
    """The text in one line, or in two of about the same length."""
    if len(text) <= most:
        return [text]
    words = text.split()
    cut = min(range(1, len(words)), key=lambda n: abs(len(" ".join(words[:n])) - len(text) / 2))
    return [" ".join(words[:cut]), " ".join(words[cut:])]


def arrow(x: float, y: float, length: float) -> str:
    """An arrow downwards."""
    return f'<path d="M{x:g} {y:g} v{length:g}" class="a" marker-end="url(#h)"/>'


def band(x: float, y: float, width: float, rows: Rows, kind: str, *, title: bool = True) -> tuple[list[str], float]:
    """A band with its rows, and where it ends."""
    height = (HEAD if title else GAP) + STEP * len(rows) - (STEP - ROOM) + GAP
    parts = [f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="12" class="z"/>']
    top = y + (HEAD if title else GAP)
    if title:
        parts.append(f'<text x="{x + GAP:g}" y="{y + 19:g}" class="h">{kind.upper()}</text>')
    for number, row in enumerate(rows):
        own = (width - GAP * (len(row) + 1)) / len(row)
        for place, (name, holds) in enumerate(row):
            parts += room(x + GAP + place * (own + GAP), top + number * STEP, own, name, holds, kind)
        if number + 1 < len(rows) and rows[number + 1][0][0] != "testing":
            parts.append(arrow(x + width / 2, top + number * STEP + ROOM + 2, STEP - ROOM - 5))
    return parts, y + height


def drawn() -> str:
    """The map as SVG."""
    whole, half = WIDTH - 2 * MARGIN, (WIDTH - 3 * MARGIN) / 2
    parts, y = band(MARGIN, 16, whole, TOP, "top", title=False)
    left, right = MARGIN, 2 * MARGIN + half
    parts += [arrow(left + half / 2, y + 2, 15), arrow(right + half / 2, y + 2, 15)]
    product, end = band(left, y + 20, half, PRODUCT, "product")
    laboratory, _ = band(right, y + 20, half, LABORATORY, "laboratory")
    parts += [*product, *laboratory, arrow(left + half / 2, end + 2, 15), arrow(right + half / 2, end + 2, 15)]
    core, y = band(MARGIN, end + 20, whole, CORE, "core")
    parts += [*core, arrow(WIDTH / 2, y + 2, 15)]
    foundation, y = band(MARGIN, y + 20, whole, FOUNDATION, "foundation")
    parts += foundation
    height = y + 16
    bands = {"Product": PRODUCT, "laboratory": LABORATORY, "core": CORE, "foundation": FOUNDATION}
    words = "; ".join(f"{name}: {', '.join(one for row in rows for one, _ in row)}" for name, rows in bands.items())
    title = f"The rooms of evenhand, under cli and adapters. {words}. Imports point downwards."
    view = f'viewBox="0 0 {WIDTH} {height:g}" role="img" aria-labelledby="title"'
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" {view}>', f'<title id="title">{escape(title)}</title>']
    back = f'<rect width="{WIDTH}" height="{height:g}" fill="#fff"/>'
    return "\n".join([*head, f"<style>{STYLE}</style>", MARKER, back, *parts, "</svg>\n"])


if __name__ == "__main__":
    with atomic_write(TARGET) as file:
        file.write(drawn().encode())
