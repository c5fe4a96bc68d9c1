"""DoesNotFit: the error about rows that do not fit a schema, with a record of each problem."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.errors import InvalidInput

SHOWN = 50
"""How many problems an error message lists."""


@dataclass(frozen=True)
class RowProblem:
    """One value, row or column that does not fit.

    >>> print(RowProblem(row=3, feature="income", reason="must be a number from 0 to 200000 EUR, got 250000"))
    row 3: income must be a number from 0 to 200000 EUR, got 250000
    """

    row: int | None
    """Counted from 0, as candidates are; None for the whole table."""
    feature: str | None
    """None for the whole row or table."""
    reason: str

    def __str__(self) -> str:
        where = "" if self.row is None else f"row {self.row}: "
        what = "" if self.feature is None else f"{self.feature} "
        return f"{where}{what}{self.reason}"


class DoesNotFit(InvalidInput):
    """Rows that do not fit the schema; `problems` has all problems, the message the first fifty.

    >>> error = DoesNotFit([RowProblem(0, "age", "must be a number from 18 to 99, got no value")])
    >>> str(error), error.problems[0].feature
    ('row 0: age must be a number from 18 to 99, got no value', 'age')
    """

    problems: tuple[RowProblem, ...]

    def __init__(self, problems: list[RowProblem] | tuple[RowProblem, ...]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)  # the argument itself, so that the error can be pickled between processes

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems[:SHOWN]]
        if len(self.problems) > SHOWN:
            lines.append(f"and {len(self.problems) - SHOWN} more, see .problems")
        return "\n".join(lines)
