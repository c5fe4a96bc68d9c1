"""The numbers that a report shows, and the ways in which a figure may be written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any


def written(value: Any) -> Iterator[str]:
    """A figure in all ways that numbers are written."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from (str(name), *written(one))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from written(one)
    elif isinstance(value, float):
        value = value + 0.0
        yield f"{value:.3f} {value:.2f} {value:.1f} {value:.1%} {value:.1e} {value!r} {round(value, 3) + 0.0:.3f}"
    elif isinstance(value, int):
        yield f"{value} {value:,}"
    elif value is not None:
        yield str(value)


def tokens(text: str) -> list[str]:
    """The numbers in a text, without signs and commas."""
    return re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", text.replace(",", ""))


def text_of(html: str, section: str) -> str:
    """The text of a section, without tags."""
    part = html.partition(f'<section id="{section}">')[2].partition("</section>")[0]
    return unescape(re.sub(r"<[^>]*>", " ", part))
