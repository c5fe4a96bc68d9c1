"""What a section of a report consists of: paragraphs, lists, tables and charts; and how numbers are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand._internal.intervals import MeanInterval

NONE = "\N{EN DASH}"
"""In place of a number that there is not."""
NBSP = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Bullets:
    """A list of sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class ReportTable:
    """A table; the first column is text, the others are numbers unless `is_text`."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    is_text: bool = False


@dataclass(frozen=True)
class Drawing:
    """A chart as SVG, with a caption that says the same in words."""

    svg: str
    caption: str


@dataclass(frozen=True)
class Letter:
    """Text that a person can be sent, apart from the rest."""

    title: str
    lines: tuple[str, ...]


Block = str | Bullets | ReportTable | Drawing | Letter


@dataclass(frozen=True)
class ReportSection:
    """A section: its anchor, its title, and its blocks."""

    id: str
    title: str
    blocks: tuple[Block, ...]


def section(id: str, title: str, blocks: Sequence[Block | None]) -> ReportSection:
    """A section of those blocks that there are."""
    return ReportSection(id, title, tuple(block for block in blocks if block is not None))


def table(
    caption: str, head: Sequence[str], rows: Sequence[Sequence[str]], *, is_text: bool = False
) -> ReportTable | None:
    """A table; None without rows."""
    return ReportTable(caption, tuple(head), tuple(tuple(row) for row in rows), is_text) if rows else None


def whole(number: int) -> str:
    """A count.

    >>> whole(12345)
    '12,345'
    """
    return f"{number:,}"


def percent(share: float | None) -> str:
    """A share in percent.

    >>> percent(0.1234), percent(None)
    ('12.3%', '–')
    """
    return NONE if share is None else f"{share:.1%}"


def decimal(value: float | None, digits: int = 3) -> str:
    """A number with a fixed number of digits; no negative zero.

    >>> decimal(-0.0001), decimal(0.12345), decimal(None)
    ('0.000', '0.123', '–')
    """
    if value is None:
        return NONE
    return f"{round(value, digits) + 0.0:.{digits}f}"


def interval(mean: MeanInterval, *, is_share: bool = False) -> str:
    """A mean with its 95% interval, which is not broken into lines.

    >>> interval(MeanInterval(0.5, 0.25, 0.75), is_share=True).replace(NBSP, " "), interval(MeanInterval(0.5))
    ('50.0% (25.0% to 75.0%)', '0.500')
    """
    words = percent if is_share else decimal
    if mean.lower is None:
        return words(mean.value)
    return f"{words(mean.value)} ({words(mean.lower)}{NBSP}to{NBSP}{words(mean.upper)})"
