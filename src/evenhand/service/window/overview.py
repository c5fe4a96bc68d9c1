"""Overview: what the window shows of one desk, in parts, each made anew only when it may be another."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from evenhand.desk.desk import Desk
from evenhand.desk.review_book import ReviewBook
from evenhand.service.window.latest import latest_of
from evenhand.service.window.metric import metric_told
from evenhand.service.window.reviewers import reviewers_told
from evenhand.service.window.rounds import rounds_of

if TYPE_CHECKING:
    from evenhand.desk.projection.projection import Projection
    from evenhand.ledger.ledger import Head

COUNT_SECONDS = 2.0
"""Pairs that wait are counted no more often than this: counting goes through all of them."""

_overviews: WeakKeyDictionary[Desk, Overview] = WeakKeyDictionary()


class Overview:
    """The window's side of one desk. Its methods block and may be called from any thread."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._book = ReviewBook(desk.ledger, desk.name)
        self._lock = threading.Lock()
        self._waiting, self._counted_at = 0, float("-inf")

    def since(self, known: str | None) -> dict[str, Any]:
        """The parts that are not as they were when this gave the version `known`; all without one.

        The version tells how far ledger, state and metric have come. It depends on the ledger alone, so a reader can
        go on with another process.
        """
        with self._lock:
            head, state = self._desk.head, self._desk.projection
            before = (known or "").split(".")
            now = [str(head.seq), str(state.seq), str(state.history.news)]
            told: dict[str, Any] = {"version": ".".join(now)}
            if before[:2] != now[:2]:
                told["desk"] = self._desk_part(head, state)
            if before[2:] != now[2:]:
                told["metric"] = metric_told(self._desk)
                told["reviewers"] = reviewers_told(self._book, state, self._desk.settings)
            return told

    def _desk_part(self, head: Head, state: Projection) -> dict[str, Any]:
        settings = self._desk.settings
        return {
            "name": self._desk.name,
            "lines": head.seq,
            "hash": head.hash,
            "decisions": head.decisions,
            "behind": head.seq - state.seq,
            "kinds": state.history.kinds,
            "taught": state.history.taught,
            "waiting": self._count(),
            "capacity": settings.capacity,
            "rounds": rounds_of(state, settings),
            "latest": latest_of(self._desk, head, state),
        }

    def _count(self) -> int:
        if time.monotonic() - self._counted_at > COUNT_SECONDS:
            self._waiting = self._desk.ledger.pairs.count(self._desk.name)
            self._counted_at = time.monotonic()
        return self._waiting


def overview_of(desk: Desk) -> Overview:
    """The overview of a desk that is open in this process."""
    found = _overviews.get(desk)
    return found if found is not None else _overviews.setdefault(desk, Overview(desk))
