"""Writable: whether the ledger takes what is written. A full disk can still be read, and who reads does not notice."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from evenhand.errors import EvenhandError, LedgerUnavailable

if TYPE_CHECKING:
    from evenhand.ledger.ledger import Ledger

log = logging.getLogger(__name__)

Given = TypeVar("Given")
Result = TypeVar("Result")


class Writable:
    """Notes that a write failed; from then on, whoever asks makes the ledger try, until it succeeds.

    As long as writes succeed nothing is tried. A service that is not asked for anything any more, since it is not
    ready, would never find out by itself that there is room again.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._failed = False
        self._trying: asyncio.Task[bool] | None = None

    def noting(self, write: Callable[[Given], Result]) -> Callable[[Given], Result]:
        """The same function, of which it is noted when the ledger could not be written."""

        def noted(given: Given) -> Result:
            try:
                return write(given)
            except LedgerUnavailable as error:
                if not self._failed:
                    log.warning("the ledger cannot be written: %s", error)
                self._failed = True
                raise

        return noted

    async def now(self) -> bool:
        """Whether the last write succeeded, or one would now; however many ask, one tries."""
        if not self._failed:
            return True
        if self._trying is None or self._trying.done():
            self._trying = asyncio.create_task(self._try())
        return await asyncio.shield(self._trying)

    async def _try(self) -> bool:
        try:
            await asyncio.to_thread(self._ledger.check_writable)
        except EvenhandError:
            return False
        self._failed = False
        log.info("the ledger can be written again")
        return True
