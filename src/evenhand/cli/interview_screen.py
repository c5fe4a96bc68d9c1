"""A question as text: two people side by side, their probabilities as bars, and the progress."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from evenhand.interview.interview import Interview
from evenhand.interview.question import Question, steps_in_one
from evenhand.schema import Number, Schema

BAR = 40
"""The width of a bar for 1."""

WIDTH, NARROWEST = 100, 40
"""The widest and the narrowest text, whatever the width of the terminal."""

HEADINGS = ("first person", "second person")

DIFFERS = "*"
"""Marks rows in which the two differ."""

KEYS = "u unfair   a acceptable   ? unsure   b undo the last answer   q save and stop"

LAST = "b undoes the last answer; Enter or q ends."

INSTRUCTIONS = (
    "One of the two is drawn, with these chances. It does not matter who has the higher chance, nor who deserves it: "
    "only how far apart the chances are. Are the two so alike that a gap this wide would be unfair to one of them, or "
    "are they different enough to make it acceptable?"
)


def question_text(interview: Interview, schema: Schema, rows: Sequence[Mapping[str, Any]], question: Question) -> str:
    """The whole text of a question; rows are in the same order for every pair."""
    first, second = (rows[index] for index in question.pair)
    lines = ["", *progress_lines(interview, question.number), "", *side_by_side(schema, first, second), ""]
    lines += [*_bars(question, _digits(interview.epsilon, question)), ""]
    return "\n".join([*lines, *wrapped(INSTRUCTIONS), *wrapped(f"Why these two: {question.why}"), *wrapped(KEYS)])


def wrapped(sentence: str) -> list[str]:
    """A sentence wrapped to the width of the terminal."""
    return wrap(sentence, min(WIDTH, max(NARROWEST, shutil.get_terminal_size().columns)), drop_whitespace=True)


def progress_lines(interview: Interview, number: int) -> list[str]:
    """How much is unknown, and the unfair pairs expected."""
    unknown = interview.unknown
    return [
        f"Question {number}",
        f"  still unknown  [{bar(unknown)}] {unknown:.0%}",
        f"  if live now    {interview.expected_unfair_pairs:.1f} unfair pairs expected in all",
    ]


def bar(share: float, *, start: float = 0.0) -> str:
    """A bar of BAR characters, filled from `start` by a share.

    >>> bar(0.25)
    '##########..............................'
    """
    first, last = round(start * BAR), round(min(start + share, 1.0) * BAR)
    return "." * first + "#" * (last - first) + "." * (BAR - last)


def side_by_side(schema: Schema, first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """A row for each feature, marked where the two differ.

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
    """A value with its unit, to six digits."""
    if isinstance(feature, Number):
        number = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"
        return f"{number} {feature.unit}".strip()
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _bars(question: Question, digits: int) -> list[str]:
    width = max(map(len, HEADINGS))
    lines = [
        f"  {heading:{width}}  [{bar(chance)}] {chance:.{digits}%}"
        for heading, chance in zip(HEADINGS, question.probabilities, strict=True)
    ]
    gap = bar(question.gap, start=min(question.probabilities))
    return [*lines, f"  {'the gap':{width}}  [{gap}] {100 * question.gap:.{digits}f} points"]


def _digits(epsilon: float, question: Question) -> int:
    """As many decimals as these percentages have, so that they add up to 100."""
    digits = max(0, len(str(steps_in_one(epsilon))) - 3)
    is_exact = all(abs(100 * p - round(100 * p, digits)) < 1e-9 for p in question.probabilities)
    return digits if is_exact else digits + 1
