"""What does not fit a schema: one record a problem, and one error that carries them all."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.errors import InvalidInput

SHOWN = 50
"""How many problems a message spells out: a million bad rows must not become a message of a million lines."""


@dataclass(frozen=True)
class Problem:
    """One thing that does not fit.

    >>> print(Problem(row=3, feature="income", reason="is 250000; allowed is 0 to 200000 EUR"))
    row 3: income is 250000; allowed is 0 to 200000 EUR
    """

    row: int | None
    """The row, counted from 0 as contexts and candidates are; None when the whole table is meant."""
    feature: str | None
    """The feature; None when the row or the table as a whole is meant."""
    reason: str

    def __str__(self) -> str:
        where = "" if self.row is None else f"row {self.row}: "
        what = "" if self.feature is None else f"{self.feature} "
        return f"{where}{what}{self.reason}"


class DoesNotFit(InvalidInput):
    """Rows that do not fit the schema; `problems` lists every one of them, the message the first fifty.

    >>> error = DoesNotFit([Problem(0, "age", "is missing; allowed is 18 to 99")])
    >>> str(error), error.problems[0].feature
    ('row 0: age is missing; allowed is 18 to 99', 'age')
    """

    problems: tuple[Problem, ...]

    def __init__(self, problems: list[Problem] | tuple[Problem, ...]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)  # the argument itself, so that the error can be pickled between processes

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems[:SHOWN]]
        if len(self.problems) > SHOWN:
            lines.append(f"and {len(self.problems) - SHOWN} more, see .problems")
        return "\n".join(lines)
