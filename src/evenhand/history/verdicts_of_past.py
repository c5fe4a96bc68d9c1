"""Past reviews and complaints: what somebody said of two people who were treated differently."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

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

    first, second: the ids of two candidates, as in the log. unfair: whether it was found unfair; None if all rows are
    complaints. reviewer: who said so. gap: the difference in chances that was judged; None takes what the log has:
    recorded probabilities, or 1 if one of the two was chosen and the other was not.
    """

    first: str
    second: str
    unfair: str | None = None
    reviewer: str | None = None
    gap: str | None = None


def with_verdicts(log: PastLog, source: Any, columns: VerdictColumns, *, table: str | None = None) -> PastLog:
    """The log with past reviews or complaints from a table; rows that do not fit are added to the refused ones."""
    from evenhand.history.past_log import RefusedRow
    from evenhand.history.tables import read_raw

    raw = read_raw(source, table=table)
    named = (columns.first, columns.second, columns.unfair, columns.reviewer, columns.gap)
    cells = {name: raw.column(name) for name in named if name is not None}
    at = {name: row for row, name in enumerate(log.ids)}
    verdicts, refused = [], [RefusedRow(place, "", (why,)) for place, why in raw.unreadable]
    for row, place in enumerate(raw.places):
        try:
            verdicts.append(_verdict({name: values[row] for name, values in cells.items()}, columns, log, at))
        except InvalidInput as error:
            refused.append(RefusedRow(f"verdicts, {place}", "", (str(error),)))
    return replace(log, verdicts=(*log.verdicts, *verdicts), refused=(*log.refused, *refused))


def _verdict(cell: dict[str, Any], columns: VerdictColumns, log: PastLog, at: dict[str, int]) -> PastVerdict:
    from evenhand.history.row_answers import number_of, text_of, yes_no

    ids = (text_of(cell[columns.first]), text_of(cell[columns.second]))
    for name in ids:
        if name not in at:
            raise InvalidInput(f"candidates must be in the log, got {name!r}")
    if ids[0] == ids[1]:
        raise InvalidInput(f"a verdict must be about two candidates, got {ids[0]!r} twice")
    unfair = True if columns.unfair is None else yes_no(columns.unfair, cell[columns.unfair])
    if columns.gap is not None:
        gap = check_share(columns.gap, number_of(cell[columns.gap]))
    else:
        chances = log.chosen if log.probabilities is None else log.probabilities
        gap = abs(float(chances[at[ids[0]]]) - float(chances[at[ids[1]]]))
    reviewer = None if columns.reviewer is None else text_of(cell[columns.reviewer]) or None
    return PastVerdict(*ids, unfair, gap, reviewer)
