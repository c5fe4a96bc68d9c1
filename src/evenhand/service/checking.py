"""Checking: when a service starts, it goes through the whole ledger of every desk, slowly, beside its other work."""

from __future__ import annotations

import logging
import threading
import time
from queue import SimpleQueue
from typing import TYPE_CHECKING

from evenhand.errors import DamagedLedger
from evenhand.ledger.verify import Chain, standing
from evenhand.service.logs import places

if TYPE_CHECKING:
    from evenhand.ledger.ledger import Ledger

log = logging.getLogger(__name__)

AT_ONCE = 20
"""Lines that are checked in one go."""

REST = 49.0
"""After each go the thread rests so many times as long as it took: it takes at most a fiftieth of a core, and a million
lines a quarter of an hour. What it took more would be missing to decisions: both want the interpreter."""

AGAIN_SECONDS = 5.0
"""After this a ledger that could not be read is tried again."""

BEING_CHECKED, CHECKED = "being checked", "checked"


class Checking:
    """Goes through the ledgers of all desks once, in a thread of its own; desks that come later get their turn."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._told: dict[str, str] = {}
        self._waiting: SimpleQueue[str | None] = SimpleQueue()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="evenhand-checking", daemon=True)
        self._thread.start()

    def standing(self, desk: str) -> str:
        """What is known of a desk's ledger: checked, being checked, or damaged at event N."""
        if desk not in self._told:
            self._told[desk] = BEING_CHECKED
            self._waiting.put(desk)  # by two threads at once, perhaps; it is checked once
        return self._told[desk]

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                for name in self._ledger.names():
                    self.standing(name)
                break
            except Exception as error:
                log.warning("the ledgers cannot be listed now; it is tried again", extra=_named(error))
                self._stopped.wait(AGAIN_SECONDS)
        while (desk := self._waiting.get()) is not None and not self._stopped.is_set():
            if self._told[desk] == BEING_CHECKED:
                self._check(desk)

    def _check(self, desk: str) -> None:
        chain, last = Chain(desk), 1
        try:
            head, stray = standing(self._ledger, desk)
            last = max(last, head.seq + (stray is not None))
            while chain.seq < head.seq and self._go_on(desk, chain, head.seq):
                pass
            if self._stopped.is_set():
                return
            if stray is not None:
                raise stray
            chain.compare(head)
        except DamagedLedger as error:
            self._told[desk] = f"damaged at event {min(chain.seq + 1, last)}"
            log.error("the ledger of a desk is damaged: %s", error, extra={"desk": desk})
        except Exception as error:  # this thread is the only one that checks: it goes on, whatever it was
            about = {"desk": desk, **_named(error)}
            log.warning("the ledger of a desk cannot be checked now; it is tried again", extra=about)
            self._stopped.wait(AGAIN_SECONDS)
            self._waiting.put(desk)
        else:
            self._told[desk] = CHECKED
            log.info("the ledger of a desk was checked: %d events, all whole", head.seq, extra={"desk": desk})

    def _go_on(self, desk: str, chain: Chain, until: int) -> bool:
        """Check some lines more, then rest; False if there are none, or the service stops."""
        begun = time.monotonic()
        with self._ledger.reading(desk) as view:
            rows = view.after(chain.seq, min(AT_ONCE, until - chain.seq))
        for row in rows:
            chain.add(row)
        return bool(rows) and not self._stopped.wait(REST * (time.monotonic() - begun))

    def stop(self) -> None:
        """End after what is being checked now."""
        self._stopped.set()
        self._waiting.put(None)
        self._thread.join()


def _named(error: Exception) -> dict[str, object]:
    """What is logged of an error: not its words, which may quote a line."""
    return {"error": type(error).__name__, "at": places(error)}
