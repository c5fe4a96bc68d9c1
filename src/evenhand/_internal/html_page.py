"""A self-contained HTML page: its style, its frame, and figures inside it."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable
from typing import TYPE_CHECKING

from evenhand.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --paper: #fff; --line: #ccc; --good: #00694a; --bad: #a33c00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --paper: #181818; --line: #444; --good: #4cc9a0; --bad: #ff9a62; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
body { max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1.5rem; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .8rem; text-align: right; }
th:first-child, td:first-child { text-align: left; }
img { max-width: 100%; background: #fff; }
.holds { color: var(--good); font-weight: 600; } .fails { color: var(--bad); font-weight: 600; }
.texts td, .texts th { text-align: left; vertical-align: top; }
.numbers td, .texts td:not(:last-child) { white-space: nowrap; }
details { margin: 1rem 0; } .record td { text-align: left; vertical-align: top; }
"""


def html_page(title: str, sections: Iterable[str]) -> str:
    """A page that needs no other file and no network; the sections are HTML."""
    name, body = html.escape(title), "\n".join(sections)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>\n'
        f"<body><h1>{name}</h1>\n<p>evenhand {__version__}</p>\n{body}\n</body></html>\n"
    )


def embedded(figure: Figure) -> str:
    """A figure as base64 PNG."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    return base64.b64encode(buffer.getvalue()).decode()
