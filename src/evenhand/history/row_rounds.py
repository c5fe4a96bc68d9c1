"""Rows into rounds: by a column, by time windows, or so many in a row."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from evenhand.errors import InvalidInput
from evenhand.history.log_columns import LogColumns, calendar_window, check_window
from evenhand.history.row_answers import RowAnswer

MOST_CANDIDATES = 5_000
"""Candidates of one round."""


def rounds_of(rows: Sequence[int], answers: Sequence[RowAnswer], columns: LogColumns) -> dict[str, list[int]]:
    """The rows of each round, rounds in order of time, or else of their first row."""
    if columns.time is not None:
        rows = sorted(rows, key=lambda row: (_moment(answers[row]), row))
    rounds: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        rounds.setdefault(_name(place, row, rows, answers, columns), []).append(row)
    crowded = next((name for name, members in rounds.items() if len(members) > MOST_CANDIDATES), None)
    if crowded is not None:
        size = len(rounds[crowded])
        raise InvalidInput(f"a round must have at most {MOST_CANDIDATES} candidates, got {size} in round {crowded}")
    return rounds


def _name(place: int, row: int, rows: Sequence[int], answers: Sequence[RowAnswer], columns: LogColumns) -> str:
    if columns.round is not None:
        return str(answers[row].round)
    if columns.every is not None:
        return str(place // columns.every)
    assert columns.window is not None
    length, clock = check_window(columns.window), answers[row].clock
    if length is None:
        assert clock is not None
        return calendar_window(columns.window, clock)
    moment, first = _moment(answers[row]), _moment(answers[rows[0]])
    return (first + (moment - first) // length * length).isoformat(timespec="minutes")


def _moment(answer: RowAnswer) -> datetime.datetime:
    assert answer.moment is not None
    return answer.moment


def repeated(rounds: dict[str, list[int]], answers: Sequence[RowAnswer]) -> dict[int, tuple[str, ...]]:
    """Rows whose candidate is in the round already, with the reason."""
    found: dict[int, tuple[str, ...]] = {}
    for name, members in rounds.items():
        seen: set[str] = set()
        for row in members:
            if answers[row].id in seen:
                found[row] = (f"candidate {answers[row].id} must be in round {name} once, got a second row",)
            seen.add(answers[row].id)
    return found


def other_capacity(rounds: dict[str, list[int]], answers: Sequence[RowAnswer]) -> dict[int, tuple[str, ...]]:
    """Rows with another capacity than the first of their round, with the reason."""
    found: dict[int, tuple[str, ...]] = {}
    for name, members in rounds.items():
        for row in members:
            first, own = answers[members[0]].capacity, answers[row].capacity
            if own != first:
                found[row] = (f"the capacity of round {name} must be {first} as in its first row, got {own}",)
    return found
