"""What the terminal shows of a question: two people side by side, their odds as bars, and how far it has come."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from evenhand.interview.choice import steps_in_one
from evenhand.interview.interview import Interview
from evenhand.interview.question import Question
from evenhand.schema import Number, Schema

BAR = 40
"""The width of a bar, which stands for 1."""

WIDTH, NARROWEST = 100, 40
"""Where sentences are broken at the latest; and at the earliest, however narrow the terminal is."""

HEADINGS = ("first person", "second person")

DIFFERS = "*"
"""What stands before a row in which the two differ."""

KEYS = "u unfair   a acceptable   ? unsure   b take the last answer back   q stop and keep"

LAST = "b takes the last answer back; Enter or q ends."

ASKED = (
    "The two take part in a lottery with these odds. It does not matter which of them has the better odds, nor who "
    "deserves them: only how far apart the odds are. Are the two so alike that a gap this wide would be unfair to one "
    "of them, or are they different enough to make it acceptable?"
)


def shown_question(interview: Interview, schema: Schema, rows: Sequence[Mapping[str, Any]], question: Question) -> str:
    """All of it, line by line; the same rows in the same order for every pair."""
    first, second = (rows[index] for index in question.pair)
    lines = ["", *shown_meter(interview, question.number), "", *side_by_side(schema, first, second), ""]
    lines += [*_bars(question, _digits(interview.epsilon, question)), ""]
    return "\n".join([*lines, *broken(ASKED), *broken(f"Why these two: {question.why}"), *broken(KEYS)])


def broken(sentence: str) -> list[str]:
    """A sentence in lines no longer than the terminal is wide."""
    return wrap(sentence, min(WIDTH, max(NARROWEST, shutil.get_terminal_size().columns)), drop_whitespace=True)


def shown_meter(interview: Interview, number: int) -> list[str]:
    """How much is unknown, and what it would cost to go live now."""
    unknown = interview.unknown
    return [
        f"Question {number}",
        f"  still unknown  [{bar(unknown)}] {unknown:.0%}",
        f"  if live now    {interview.expected_unfair_pairs:.1f} unfair pairs to expect in all",
    ]


def bar(share: float, *, start: float = 0.0) -> str:
    """A bar of BAR signs that covers a share of it, from `start` on.

    >>> bar(0.25)
    '##########..............................'
    """
    first, last = round(start * BAR), round(min(start + share, 1.0) * BAR)
    return "." * first + "#" * (last - first) + "." * (BAR - last)


def side_by_side(schema: Schema, first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """A row for each feature, those in which the two differ marked.

    >>> from evenhand.schema import YesNo
    >>> schema = Schema([Number("income", low=0, high=1e5, unit="EUR"), YesNo("member")])
    >>> people = [{"income": 51_500.0, "member": True}, {"income": 23_000.0, "member": True}]
    >>> print("\\n".join(side_by_side(schema, *people)))
               first person   second person
      * income 51,500 EUR     23,000 EUR
        member yes            yes
    """
    table = [("", *HEADINGS)]
    table += [(f.name, _words(f, first[f.name]), _words(f, second[f.name])) for f in schema.features]
    name, left = (max(len(row[column]) for row in table) for column in (0, 1))
    marks = ["", *(DIFFERS * (first[f.name] != second[f.name]) for f in schema.features)]
    return [f"  {mark:1} {row[0]:{name}} {row[1]:{left}}   {row[2]}" for mark, row in zip(marks, table, strict=True)]


def _words(feature: object, value: Any) -> str:
    """A value as people write it: six digits, and a row in which two differ is marked even where they look alike."""
    if isinstance(feature, Number):
        number = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"
        return f"{number} {feature.unit}".strip()
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _bars(question: Question, digits: int) -> list[str]:
    width = max(map(len, HEADINGS))
    lines = [
        f"  {heading:{width}}  [{bar(odds)}] {odds:.{digits}%}"
        for heading, odds in zip(HEADINGS, question.odds, strict=True)
    ]
    gap = bar(question.gap, start=min(question.odds))
    return [*lines, f"  {'the gap':{width}}  [{gap}] {100 * question.gap:.{digits}f} points"]


def _digits(epsilon: float, question: Question) -> int:
    """As many digits after the point as these odds have in per cent, so that what is shown makes up 100."""
    digits = max(0, len(str(steps_in_one(epsilon))) - 3)
    is_exact = all(abs(100 * odds - round(100 * odds, digits)) < 1e-9 for odds in question.odds)
    return digits if is_exact else digits + 1
