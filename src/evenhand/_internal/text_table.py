"""Small tables of plain text, for `print`."""

from __future__ import annotations

from collections.abc import Sequence

MOST_ROWS = 10  # Candidates in the table of a decision.


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines, in columns two blanks apart.

    >>> aligned([("a", "b"), ("long", "c")])
    ['a     b', 'long  c']
    """
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    return ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


def probability_table(names: Sequence[str], probabilities: Sequence[float], chosen: Sequence[int] | None) -> list[str]:
    """Candidates with their probabilities, the highest first, and who was chosen; the first ten, and all chosen ones.

    chosen: None if probabilities are shares, of which nobody is drawn.

    >>> print("\\n".join(probability_table(["a", "b"], [0.25, 0.75], [0])))
    candidate  probability
    b          0.750
    a          0.250        chosen
    """
    order = sorted(range(len(names)), key=lambda i: (-probabilities[i], i))
    drawn = chosen or ()
    shown = [i for place, i in enumerate(order) if place < MOST_ROWS or i in drawn]
    rows = [("candidate", "share" if chosen is None else "probability", "")]
    rows += [(names[i], f"{probabilities[i]:.3f}", "chosen" * (i in drawn)) for i in shown]
    left = len(names) - len(shown)
    return [*aligned(rows), *([f"and {left} more"] if left else [])]
