"""Telling: an answer goes to whoever waits for it, and what goes wrong there is nobody else's business."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from evenhand.service.logs import places

log = logging.getLogger(__name__)

Result = TypeVar("Result")


def give(tell: Callable[[Result], None], result: Result) -> None:
    """Tell somebody; an error of theirs is logged, so that the others of the same batch or frame get their answers."""
    try:
        tell(result)
    except Exception as error:
        log.error("an answer could not be given", extra={"error": type(error).__name__, "at": places(error)})
