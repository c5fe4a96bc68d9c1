"""Waiting for a condition that another thread or process brings about."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_SECONDS = 20.0


def wait_for(condition: Callable[[], object]) -> None:
    """Return as soon as the condition holds; fail after some seconds."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end, "the condition did not come about"
        time.sleep(0.005)
