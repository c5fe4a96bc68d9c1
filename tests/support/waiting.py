"""Waiting for a condition that another thread or process brings about."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE_SECONDS = 60.0
"""Long enough for a slow, busy machine; nobody waits that long for a condition that comes about."""

Value = TypeVar("Value")


def wait_for(
    condition: Callable[[], Value],
    *,
    what: str = "the condition",
    seconds: float = PATIENCE_SECONDS,
    pause: float = 0.005,
) -> Value:
    """The value of the condition as soon as it is true; fail after some seconds. pause: between two looks."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"{what} did not come about in {seconds:g} s"
        time.sleep(pause)
    return value
