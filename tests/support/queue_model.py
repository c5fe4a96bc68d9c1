"""QueueModel: the simplest review queue, in memory; the ledger's queue must answer as it does."""

from __future__ import annotations

import sys
import threading
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as changed

from evenhand.ledger.waiting_pairs import Answered, QueuePosition, WaitingPair

Names = tuple[str, str, str]
"""Decision, first, second."""

Place = tuple[str, str, str, int]
"""The same, and copy."""


@dataclass
class _Desk:
    places: dict[Place, WaitingPair] = field(default_factory=dict)
    decisions: defaultdict[str, set[Place]] = field(default_factory=lambda: defaultdict(set))
    order: list[tuple[float, Place]] = field(default_factory=list)
    """Places by rising priority."""
    leases: dict[Place, tuple[str, float]] = field(default_factory=dict)
    """Who looks at a place, or did, and until when."""
    not_for: defaultdict[Place, set[str | None]] = field(default_factory=lambda: defaultdict(set))

    def of_pair(self, decision: str, pair: frozenset[str]) -> list[Place]:
        """The places of one pair."""
        return sorted(place for place in self.decisions.get(decision, ()) if frozenset(place[1:3]) == pair)

    def free(self, before: int | None, now: float) -> Iterator[Place]:
        """Places that nobody looks at, the most informative first; only those before this one of the order."""
        for _, place in reversed(self.order[:before]):
            if self.leases.get(place, ("", 0.0))[1] <= now:
                yield place

    def add(self, place: Place, pair: WaitingPair) -> None:
        """A place waits."""
        self.places[place] = pair
        self.decisions[pair.decision].add(place)
        insort(self.order, (pair.priority, place))

    def remove(self, place: Place) -> None:
        """A place waits no more."""
        self.out_of_order(place)
        del self.places[place]
        self.leases.pop(place, None)
        self.not_for.pop(place, None)
        self.decisions[place[0]].discard(place)
        if not self.decisions[place[0]]:
            del self.decisions[place[0]]

    def out_of_order(self, place: Place) -> None:
        """Its priority is to change, or it goes."""
        del self.order[bisect_left(self.order, (self.places[place].priority, place))]


class QueueModel:
    """Waiting pairs of all desks, in order of priority."""

    def __init__(self) -> None:
        self._desks: defaultdict[str, _Desk] = defaultdict(_Desk)
        self._lock = threading.Lock()

    def put(self, desk: str, pairs: Sequence[WaitingPair], most: int, *, replace: bool = False) -> None:
        """Add pairs that are not there; beyond `most` the least informative go."""
        with self._lock:
            held = self._desks[desk]
            for pair in pairs:
                place = (pair.decision, pair.first, pair.second, pair.copy)
                known = held.places.get(place)
                if known is not None and not replace:
                    continue
                if known is not None:
                    held.out_of_order(place)
                    pair = changed(known, reason=pair.reason, priority=pair.priority)
                held.add(place, pair)
            for _, place in held.order[: max(0, len(held.places) - most)]:
                held.remove(place)

    def lease(self, desk: str, n: int, reviewer: str, now: float, until: float) -> list[WaitingPair]:
        """The n most informative pairs that nobody else looks at."""
        with self._lock:
            held = self._desks[desk]
            mine = [place for place, (who, end) in held.leases.items() if who == reviewer and end > now]
            found = dict.fromkeys(sorted(mine, key=lambda place: _order(held.places[place]), reverse=True)[:n])
            taken = {place[:3] for place in mine}
            for place in held.free(None, now) if len(found) < n else ():
                if len(found) >= n:
                    break
                if place[:3] not in taken and reviewer not in held.not_for.get(place, ()):
                    found[place] = None
                    taken.add(place[:3])
            held.leases.update(dict.fromkeys(found, (reviewer, until)))
            return sorted((held.places[place] for place in found), key=_order, reverse=True)

    def page(self, desk: str, n: int, now: float, after: QueuePosition | None = None) -> list[WaitingPair]:
        """The n most informative pairs that nobody looks at, from one on."""
        with self._lock:
            held = self._desks[desk]
            before = None if after is None else bisect_left(held.order, (after.priority, (*after[1:], -sys.maxsize)))
            found: dict[Names, WaitingPair] = {}
            for place in held.free(before, now):
                if len(found) >= n:
                    break
                found.setdefault(place[:3], held.places[place])
            return list(found.values())

    def settle(self, desk: str, answers: Sequence[Answered]) -> None:
        """One place of each answered pair waits no more: the reviewer's own, or else one on nobody's lease."""
        with self._lock:
            for answer in answers:
                self._settle_one(self._desks[desk], answer)

    @staticmethod
    def _settle_one(held: _Desk, answer: Answered) -> None:
        by_pair: dict[Names, list[Place]] = {}
        for place in sorted(held.decisions.get(answer.decision, ())):
            answered_before = answer.reviewer is not None and answer.reviewer in held.not_for.get(place, ())
            if not answered_before and (answer.pairs is None or frozenset(place[1:3]) in answer.pairs):
                by_pair.setdefault(place[:3], []).append(place)
        for places in by_pair.values():
            own = [p for p in places if p in held.leases and held.leases[p][0] == answer.reviewer]
            gone = (own or [p for p in places if p not in held.leases] or places)[0]
            held.remove(gone)
            for rest in places:
                if rest != gone:
                    held.not_for[rest].add(answer.reviewer)

    def decline(self, desk: str, decision: str, pair: frozenset[str], reviewer: str) -> None:
        """The pair waits on, for others."""
        with self._lock:
            held = self._desks[desk]
            for place in held.of_pair(decision, pair):
                if reviewer not in held.not_for[place] and held.leases.get(place, (None,))[0] == reviewer:
                    del held.leases[place]
                held.not_for[place].add(reviewer)

    def claim(
        self, desk: str, decision: str, pair: frozenset[str], place: int, reviewer: str, now: float, until: float
    ) -> bool:
        """Keep a place for a reviewer, unless it is somebody else's."""
        with self._lock:
            held = self._desks[desk]
            places = held.of_pair(decision, pair)
            wanted = next((one for one in places if one[3] == place), None)
            if wanted is None:
                return True
            leased_to, leased_until = held.leases.get(wanted, (reviewer, until))
            if leased_to != reviewer and leased_until > now:
                return False
            held.leases[wanted] = (reviewer, until)
            for one in places:
                held.not_for[one].discard(reviewer)
            return True

    def count(self, desk: str) -> int:
        """How many places wait."""
        with self._lock:
            return len(self._desks[desk].places)


def _order(pair: WaitingPair) -> tuple[object, ...]:
    return (*pair.position, pair.copy)
