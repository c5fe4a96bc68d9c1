"""Random controls: a pair drawn from all decisions, whatever the desk expects of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenhand.ledger.event import Event
from evenhand.ledger.ledger import Ledger
from evenhand.records.decision import PROBABILITY_TOLERANCE

DRAWS = 10
"""Maximum number of draws: a pair may be answered already, or have equal probabilities."""


def draw_control(
    ledger: Ledger, desk: str, draw: Callable[[str], float], is_new: Callable[[str, frozenset[str]], bool]
) -> tuple[Event, int, int] | None:
    """A decision and the places of two of its candidates with different probabilities, for whom `is_new` holds.

    draw: a number in [0, 1) for a purpose, always the same for the same one. None if no draw gives such a pair.
    """
    for attempt in range(DRAWS):
        with ledger.reading(desk) as view:
            decisions = view.head.decisions
            found = view.by_number([int(draw(f"decision {attempt}") * decisions)]) if decisions else {}
        for event in (row.event for row in found.values()):
            pair = _unequal_pair(event, draw(f"pair {attempt}"))
            if pair is not None and is_new(event.id, frozenset(event.body["candidates"][place] for place in pair)):
                return (event, *pair)
    return None


def _unequal_pair(event: Event, draw: float) -> tuple[int, int] | None:
    probabilities = np.array(event.body["probabilities"])
    first, second = np.triu_indices(len(probabilities), 1)
    unequal = np.flatnonzero(np.abs(probabilities[first] - probabilities[second]) > PROBABILITY_TOLERANCE)
    if not len(unequal):
        return None
    at = unequal[int(draw * len(unequal))]
    return int(first[at]), int(second[at])
