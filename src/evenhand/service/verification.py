"""Verification: after the start, verify the whole ledger of every desk, slowly, in the background."""

from __future__ import annotations

import logging
import threading
import time
from queue import SimpleQueue
from typing import TYPE_CHECKING

from evenhand.errors import DamagedLedger
from evenhand.ledger.verify import Chain, head_and_stray
from evenhand.service.logs import about

if TYPE_CHECKING:
    from evenhand.ledger.ledger import Ledger

log = logging.getLogger(__name__)

CHUNK = 20
"""Events verified at once."""

REST = 49.0
"""The thread rests this many times as long as it worked: it takes at most a fiftieth of a core, and a quarter of an
hour for a million events. More would slow down decisions, which need the same interpreter."""

RETRY_SECONDS = 5.0
"""After this a ledger that could not be read is tried again."""

PENDING, VERIFIED = "being checked", "checked"


class Verification:
    """Verifies the ledgers of all desks once, in a thread; desks that are created later follow."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._results: dict[str, str] = {}
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="evenhand-verification", daemon=True)
        self._thread.start()

    def result(self, desk: str) -> str:
        """The result for a desk: checked, being checked, or damaged at event N."""
        if desk not in self._results:
            self._results[desk] = PENDING
            self._queue.put(desk)
        return self._results[desk]

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                for name in self._ledger.names():
                    self.result(name)
                break
            except Exception as error:
                log.warning("ledgers cannot be listed; retrying", extra=about(error))
                self._stopped.wait(RETRY_SECONDS)
        while (desk := self._queue.get()) is not None and not self._stopped.is_set():
            if self._results[desk] == PENDING:
                self._verify(desk)

    def _verify(self, desk: str) -> None:
        chain, last = Chain(desk), 1
        try:
            head, stray = head_and_stray(self._ledger, desk)
            last = max(last, head.seq + (stray is not None))
            while chain.seq < head.seq and self._advance(desk, chain, head.seq):
                pass
            if self._stopped.is_set():
                return
            if stray is not None:
                raise stray
            chain.compare(head)
            chain.check_erasures(self._ledger)
        except DamagedLedger as error:
            self._results[desk] = f"damaged at event {min(chain.seq + 1, last)}"
            log.error("ledger is damaged: %s", error, extra={"desk": desk})
        except Exception as error:  # whatever it was, other ledgers still have to be verified
            log.warning("ledger cannot be verified; retrying", extra={"desk": desk, **about(error)})
            self._stopped.wait(RETRY_SECONDS)
            self._queue.put(desk)
        else:
            self._results[desk] = VERIFIED
            log.info("ledger verified: %d events", head.seq, extra={"desk": desk})

    def _advance(self, desk: str, chain: Chain, until: int) -> bool:
        """Verify some more events, then rest; False if there are none, or the service stops."""
        begun = time.monotonic()
        with self._ledger.reading(desk) as view:
            rows = view.after(chain.seq, min(CHUNK, until - chain.seq))
        for row in rows:
            chain.add(row)
        return bool(rows) and not self._stopped.wait(REST * (time.monotonic() - begun))

    def stop(self) -> None:
        """Stop after the current chunk."""
        self._stopped.set()
        self._queue.put(None)
        self._thread.join()
