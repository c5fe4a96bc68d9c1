"""Past reviews and complaints: what somebody said of two people who were treated differently."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._internal.checks import check_share
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from evenhand.history.past_log import PastLog


@dataclass(frozen=True)
class PastVerdict:
    """Somebody found the treatment of two people unfair, or acceptable."""

    first: str
    """The id of one candidate of the log."""
    second: str
    unfair: bool
    gap: float
    """By how much their chances differed: 1 if one was chosen and the other was not, and nobody knows more."""
    reviewer: str | None = None


@dataclass(frozen=True)
class VerdictColumns:
    """The columns of a table of past reviews or complaints, one row for each pair.

    first, second: the ids of two candidates, as in the log or, if it is clear which application is meant, in the table.
    unfair: whether it was found unfair; None if all rows are complaints. reviewer: who said so. gap: the difference in
    chances that was judged; None takes what the log has: recorded probabilities, or 1 if one of the two was chosen and
    the other was not.
    """

    first: str
    second: str
    unfair: str | None = None
    reviewer: str | None = None
    gap: str | None = None


def with_verdicts(
    log: PastLog, source: Any, columns: VerdictColumns, *, table: str | None = None, encoding: str = "utf-8"
) -> PastLog:
    """The log with past reviews or complaints from a table; rows that do not fit are added to the refused ones."""
    from evenhand.history.past_log import RefusedRow
    from evenhand.history.tables import read_raw

    raw = read_raw(source, table=table, encoding=encoding)
    named = (columns.first, columns.second, columns.unfair, columns.reviewer, columns.gap)
    cells = {name: raw.column(name) for name in named if name is not None}
    people = _People(log)
    verdicts, refused = [], [RefusedRow(place, "", (why,)) for place, why in raw.unreadable]
    for row, place in enumerate(raw.places):
        try:
            verdicts.append(_verdict({name: values[row] for name, values in cells.items()}, columns, log, people))
        except InvalidInput as error:
            refused.append(RefusedRow(f"verdicts, {place}", "", (str(error),)))
    return replace(log, verdicts=(*log.verdicts, *verdicts), refused=(*log.refused, *refused))


class _People:
    """Candidates of a log by their ids, or by what the table calls them if they applied in several rounds."""

    def __init__(self, log: PastLog) -> None:
        self.rows: dict[str, list[int]] = defaultdict(list)
        self.rounds = np.repeat(np.arange(len(log)), log.sizes)
        for names in (log.ids, log.people):
            for row, name in enumerate(names):
                self.rows[name].append(row)

    def pair(self, first: str, second: str) -> tuple[int, int]:
        """The rows of two people: the only ones, or those of the only round that both were in."""
        for name in (first, second):
            if name not in self.rows:
                raise InvalidInput(f"candidates must be in the log, got {name!r}")
        pairs = [(i, j) for i, j in product(self.rows[first], self.rows[second]) if i != j]
        if first == second or not pairs:
            raise InvalidInput(f"a verdict must be about two candidates, got {first!r} twice")
        together = [(i, j) for i, j in pairs if self.rounds[i] == self.rounds[j]]
        found = pairs if len(pairs) == 1 else together
        if len(found) != 1:
            raise InvalidInput(
                f"{first!r} and {second!r} must have been in one round together, since they applied in several, got "
                f"{len(together)} rounds; put the round in front, as in 'round/id'"
            )
        return found[0]


def _verdict(cell: dict[str, Any], columns: VerdictColumns, log: PastLog, people: _People) -> PastVerdict:
    from evenhand.history.row_answers import number_of, text_of, yes_no

    i, j = people.pair(text_of(cell[columns.first]), text_of(cell[columns.second]))
    unfair = True if columns.unfair is None else yes_no(columns.unfair, cell[columns.unfair])
    if columns.gap is not None:
        gap = check_share(columns.gap, number_of(cell[columns.gap]))
    else:
        chances = log.chosen if log.probabilities is None else log.probabilities
        gap = abs(float(chances[i]) - float(chances[j]))
    reviewer = None if columns.reviewer is None else text_of(cell[columns.reviewer]) or None
    return PastVerdict(log.ids[i], log.ids[j], unfair, gap, reviewer)
