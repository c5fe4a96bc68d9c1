"""Arrivals: applicants who come by themselves, through the service as any others do, and what becomes of them."""

from __future__ import annotations

import logging
import threading
from collections import deque
from types import TracebackType
from typing import Any, Self

import httpx

from evenhand.service.demo_past import DESK, Made

log = logging.getLogger(__name__)

PAUSE = 1.0
"""Seconds between two decisions."""
LATER = 3
"""The outcome of a decision is known when so many more have been made."""


class Arrivals:
    """A thread that asks for decisions, for as long as the block lasts."""

    def __init__(self, base: str, token: str, made: Made, *, pause: float = PAUSE) -> None:
        self._base, self._made, self._pause = base, made, pause
        self._headers = {"Authorization": f"Bearer {token}"}
        self._waiting: deque[tuple[str, dict[str, float]]] = deque()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="evenhand-arrivals", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._thread.join(10)

    def _run(self) -> None:
        with httpx.Client(base_url=self._base, headers=self._headers, timeout=30) as http:
            while not self._stopped.wait(self._pause):
                try:
                    self._next(http)
                except httpx.HTTPError as problem:
                    # The service is starting, or stopping.
                    log.debug("an applicant finds nobody: %s", type(problem).__name__)

    def _next(self, http: httpx.Client) -> None:
        candidates = self._made.candidates()
        answer = http.post(f"/api/desks/{DESK}/decisions", json={"candidates": candidates})
        answer.raise_for_status()
        decision: dict[str, Any] = answer.json()
        chosen = [one for one in candidates if one["id"] in decision["chosen"]]
        if chosen:
            self._waiting.append((decision["id"], {one["id"]: self._made.reward(one) for one in chosen}))
        if len(self._waiting) > LATER:
            known, rewards = self._waiting.popleft()
            http.post(f"/api/desks/{DESK}/decisions/{known}/outcomes", json={"rewards": rewards}).raise_for_status()
