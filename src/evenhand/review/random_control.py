"""Random controls: a pair by lot from all decisions, whatever the desk thinks of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenhand.ledger.event import Event
from evenhand.ledger.ledger import Ledger
from evenhand.records.decision import PROBABILITY_TOLERANCE

DRAWS = 10
"""So often it is drawn anew, when a pair was answered or has equal odds."""


def draw_control(
    ledger: Ledger, desk: str, lot: Callable[[str], float], is_new: Callable[[str, frozenset[str]], bool]
) -> tuple[Event, int, int] | None:
    """A decision and the places of two of its candidates whose odds differ, and of whom `is_new` says that it fits.

    lot: a number from 0 to 1 for each purpose, always the same for the same one. None if no draw gives such a pair.
    """
    for draw in range(DRAWS):
        with ledger.reading(desk) as view:
            decisions = view.head.decisions
            found = view.by_number([int(lot(f"decision {draw}") * decisions)]) if decisions else {}
        for event in (row.event for row in found.values()):
            pair = _apart(event, lot(f"pair {draw}"))
            if pair is not None and is_new(event.id, frozenset(event.body["candidates"][place] for place in pair)):
                return (event, *pair)
    return None


def _apart(event: Event, lot: float) -> tuple[int, int] | None:
    """Two candidates whose odds differ, by lot."""
    odds = np.array(event.body["probabilities"])
    first, second = np.triu_indices(len(odds), 1)
    apart = np.flatnonzero(np.abs(odds[first] - odds[second]) > PROBABILITY_TOLERANCE)
    if not len(apart):
        return None
    at = apart[int(lot * len(apart))]
    return int(first[at]), int(second[at])
