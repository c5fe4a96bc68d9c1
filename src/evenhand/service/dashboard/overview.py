"""Overview: what the dashboard shows of one desk, in parts, each computed again only when it may have changed."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from evenhand.review.review_book import ReviewBook
from evenhand.service.dashboard.decision_list import latest_decisions
from evenhand.service.dashboard.metric import metric_part
from evenhand.service.dashboard.reviewers import reviewers_part
from evenhand.service.dashboard.rounds import rounds_part

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk
    from evenhand.desk.projection.projection import Projection
    from evenhand.ledger.event import Head

COUNT_SECONDS = 2.0
"""Waiting pairs are counted at most this often: counting reads all of them."""


class Overview:
    """The dashboard of one desk. Its methods block and may be called from any thread."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._book = ReviewBook(desk.ledger, desk.name)
        self._lock = threading.Lock()
        self._waiting, self._counted_at = 0, float("-inf")

    def since(self, known: str | None) -> dict[str, Any]:
        """The parts that changed since the version `known`; all without one.

        The version consists of the last events of the ledger and of the projection, and of what was learned. It
        depends on the ledger alone, so a viewer can continue with another process.
        """
        with self._lock:
            head, projection = self._desk.head, self._desk.projection
            before = (known or "").split(".")
            now = [str(head.seq), str(projection.seq), str(projection.history.news)]
            parts: dict[str, Any] = {"version": ".".join(now)}
            if before[:2] != now[:2]:
                parts["desk"] = self._desk_part(head, projection)
            if before[2:] != now[2:]:
                parts["metric"] = metric_part(projection, self._desk.settings)
                parts["reviewers"] = reviewers_part(self._book, projection, self._desk.settings)
            return parts

    def _desk_part(self, head: Head, projection: Projection) -> dict[str, Any]:
        settings = self._desk.settings
        return {
            "name": self._desk.name,
            "lines": head.seq,
            "hash": head.hash,
            "decisions": head.decisions,
            "behind": head.seq - projection.seq,
            "kinds": projection.history.kinds,
            "taught": projection.history.taught,
            "waiting": self._count(),
            "capacity": settings.capacity,
            "rounds": rounds_part(projection, settings),
            "latest": latest_decisions(self._desk, head, projection),
        }

    def _count(self) -> int:
        if time.monotonic() - self._counted_at > COUNT_SECONDS:
            self._waiting = self._desk.ledger.pairs.count(self._desk.name)
            self._counted_at = time.monotonic()
        return self._waiting
