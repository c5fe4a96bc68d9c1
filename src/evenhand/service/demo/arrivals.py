"""Arrivals: applicants who arrive at the demo's desk over HTTP, and their outcomes."""

from __future__ import annotations

import logging
import threading
from collections import deque
from types import TracebackType
from typing import Any, Self

import httpx

from evenhand.service.demo.past import DESK, World

log = logging.getLogger(__name__)

PAUSE = 1.0
"""Seconds between two decisions."""
DELAY = 3
"""Decisions until the outcome of one is known."""


class Arrivals:
    """A thread that requests decisions while the block lasts."""

    def __init__(self, base: str, token: str, world: World, *, pause: float = PAUSE) -> None:
        self._base, self._world, self._pause = base, world, pause
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
                    self._decide(http)
                except httpx.HTTPError as error:  # the service is starting, or stopping
                    log.debug("a request failed: %s", type(error).__name__)

    def _decide(self, http: httpx.Client) -> None:
        candidates = self._world.candidates()
        response = http.post(f"/api/desks/{DESK}/decisions", json={"candidates": candidates})
        response.raise_for_status()
        decision: dict[str, Any] = response.json()
        chosen = [candidate for candidate in candidates if candidate["id"] in decision["chosen"]]
        if chosen:
            self._waiting.append((decision["id"], {one["id"]: self._world.reward(one) for one in chosen}))
        if len(self._waiting) > DELAY:
            earlier, rewards = self._waiting.popleft()
            http.post(f"/api/desks/{DESK}/decisions/{earlier}/outcomes", json={"rewards": rewards}).raise_for_status()
