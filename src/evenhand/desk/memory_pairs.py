"""MemoryPairs: waiting pairs in memory."""

from __future__ import annotations

import sys
import threading
from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass, field

from evenhand.desk.waiting import Answered, Listed, WaitingPair

Place = tuple[str, str, str, int]
"""Decision, first, second, copy."""


@dataclass
class _Desk:
    places: dict[Place, WaitingPair] = field(default_factory=dict)
    decisions: dict[str, set[Place]] = field(default_factory=dict)
    order: list[tuple[float, Place]] = field(default_factory=list)
    """Places by falling priority; some may be gone."""
    leases: dict[Place, tuple[str, float]] = field(default_factory=dict)
    answered: dict[tuple[str, str, str], set[str | None]] = field(default_factory=dict)


class MemoryPairs:
    """Waiting pairs of all desks, in order of priority."""

    def __init__(self) -> None:
        self._desks: dict[str, _Desk] = {}
        self._lock = threading.Lock()

    def put(self, desk: str, pairs: Sequence[WaitingPair], most: int, *, anew: bool = False) -> None:
        """Add pairs that are not there; beyond `most` the least telling go."""
        with self._lock:
            held = self._desks.setdefault(desk, _Desk())
            for pair in pairs:
                place = (pair.decision, pair.first, pair.second, pair.copy)
                if place not in held.places:
                    if not any(other[:3] == place[:3] for other in held.decisions.get(pair.decision, ())):
                        held.answered.pop(place[:3], None)  # it waits anew, for everybody
                    held.decisions.setdefault(pair.decision, set()).add(place)
                elif anew:
                    held.order.remove((-held.places[place].priority, place))
                else:
                    continue
                held.places[place] = pair
                insort(held.order, (-pair.priority, place))
            while len(held.places) > most and held.order:
                self._remove(held, held.order.pop()[1])

    def lease(self, desk: str, n: int, reviewer: str, now: float, until: float) -> list[WaitingPair]:
        """The n most telling pairs that nobody else looks at."""
        with self._lock:
            held = self._desks.setdefault(desk, _Desk())
            held.leases = {place: lease for place, lease in held.leases.items() if lease[1] > now}
            mine = {place[:3] for place, (who, _) in held.leases.items() if who == reviewer}
            found: list[Place] = [place for place, (who, _) in held.leases.items() if who == reviewer][:n]
            for _, place in held.order:
                if len(found) >= n:
                    break
                if self._is_free(held, place, reviewer, mine):
                    found.append(place)
                    mine.add(place[:3])
            held.leases.update(dict.fromkeys(found, (reviewer, until)))
            return sorted((held.places[place] for place in found), key=lambda pair: -pair.priority)

    @staticmethod
    def _is_free(held: _Desk, place: Place, reviewer: str, mine: set[tuple[str, str, str]]) -> bool:
        if place not in held.places or place in held.leases or place[:3] in mine:
            return False
        return reviewer not in held.answered.get(place[:3], ())

    def listed(self, desk: str, n: int, now: float, after: Listed | None = None) -> list[WaitingPair]:
        """The n most telling pairs that nobody looks at, from one on."""
        with self._lock:
            held = self._desks.setdefault(desk, _Desk())
            start = 0 if after is None else bisect_right(held.order, (-after.priority, (*after[1:], sys.maxsize)))
            found: dict[tuple[str, str, str], WaitingPair] = {}
            for _, place in held.order[start:]:
                if len(found) >= n:
                    break
                if place in held.places and held.leases.get(place, ("", 0.0))[1] <= now:
                    found.setdefault(place[:3], held.places[place])
            return list(found.values())

    def settle(self, desk: str, answers: Sequence[Answered]) -> None:
        """One place of each answered pair waits no more: the reviewer's own, or else one on nobody's lease."""
        with self._lock:
            held = self._desks.setdefault(desk, _Desk())
            for answer in answers:
                self._settle_one(held, answer)
            if len(held.order) > 2 * len(held.places) + 100:
                held.order = [entry for entry in held.order if entry[1] in held.places]

    def _settle_one(self, held: _Desk, answer: Answered) -> None:
        by_pair: dict[tuple[str, str, str], list[Place]] = {}
        for place in sorted(held.decisions.get(answer.decision, ())):
            if answer.pairs is None or frozenset(place[1:3]) in answer.pairs:
                by_pair.setdefault(place[:3], []).append(place)
        for pair, places in by_pair.items():
            if answer.reviewer is not None and answer.reviewer in held.answered.get(pair, ()):
                continue
            own = [p for p in places if held.leases.get(p, ("", 0))[0] == answer.reviewer]
            free = [p for p in places if p not in held.leases]
            self._remove(held, (own or free or places)[0])
            held.answered.setdefault(pair, set()).add(answer.reviewer)

    def decline(self, desk: str, decision: str, pair: frozenset[str], reviewer: str) -> None:
        """The pair waits on, for others."""
        with self._lock:
            held = self._desks.setdefault(desk, _Desk())
            for place in held.decisions.get(decision, ()):
                if frozenset(place[1:3]) == pair:
                    held.answered.setdefault(place[:3], set()).add(reviewer)
                    if held.leases.get(place, ("", 0))[0] == reviewer:
                        del held.leases[place]

    def claim(
        self, desk: str, decision: str, pair: frozenset[str], place: int, reviewer: str, now: float, until: float
    ) -> bool:
        """Keep a place for a reviewer, unless it is somebody else's."""
        with self._lock:
            held = self._desks.setdefault(desk, _Desk())
            for at in held.decisions.get(decision, ()):
                if frozenset(at[1:3]) == pair and at[3] == place:
                    leased_to, leased_until = held.leases.get(at, (reviewer, until))
                    if leased_to != reviewer and leased_until > now:
                        return False
                    held.leases[at] = (reviewer, until)
                    held.answered.get(at[:3], set()).discard(reviewer)
            return True

    @staticmethod
    def _remove(held: _Desk, place: Place) -> None:
        held.places.pop(place, None)
        held.leases.pop(place, None)
        rest = held.decisions.get(place[0], set()) - {place}
        held.decisions.pop(place[0], None) if not rest else held.decisions.update({place[0]: rest})

    def count(self, desk: str) -> int:
        """How many places wait."""
        with self._lock:
            return len(self._desks.setdefault(desk, _Desk()).places)
