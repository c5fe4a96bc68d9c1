"""Projectors: keep the projections of all open desks of a process up to date, in a few threads."""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import EvenhandError, LedgerUnavailable

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk
    from evenhand.ledger.ledger import Ledger

log = logging.getLogger(__name__)

THREADS = 4
"""Maximum number of desks that are projected at the same time."""

POLL_SECONDS = 1.0
"""How often the ledger is asked for events that other processes have written."""

PAUSE_SECONDS = 0.05
"""Minimum pause between two runs for one desk: under load many events are applied at once."""

BUSY_EVENTS = 64
"""A run over this many events is followed by a pause of BUSY_SHARE times its length, so that deciding gets the core."""

BUSY_SHARE = 15.0
LONGEST_PAUSE = 0.25
LONGEST_BACKOFF = 60.0


@dataclass
class _Entry:
    desk: Desk
    due: float | None = None
    """When the next run may start; None if there is nothing to do."""
    rests_until: float = 0.0
    is_running: bool = False
    backoff: float = 0.0


class Projectors:
    """One scheduler thread that sleeps until there is something to do, and a small pool that does it.

    A desk is projected after each of its own commits (`wake`), and when a slow poll finds that another process wrote.
    """

    def __init__(self, ledger: Ledger, *, poll_seconds: float = POLL_SECONDS) -> None:
        self._ledger, self._poll_seconds = ledger, poll_seconds
        self._changed = threading.Condition()
        self._entries: dict[str, _Entry] = {}
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="evenhand-projector")
        self._scheduler: threading.Thread | None = None
        self._poll_at = 0.0
        self._is_polling = self._is_closed = False

    def add(self, desk: Desk) -> None:
        """Project this desk from now on, until it is removed or closed."""
        with self._changed:
            self._entries[desk.name] = _Entry(desk, due=0.0)
            if self._scheduler is None:
                self._scheduler = threading.Thread(target=self._schedule, name="evenhand-projectors", daemon=True)
                self._scheduler.start()
            self._changed.notify_all()
        desk.projected_by(self)

    def remove(self, desk: Desk) -> None:
        """Stop projecting this desk; returns once no run of it is under way."""
        with self._changed:
            entry = self._entries.get(desk.name)
            if entry is None or entry.desk is not desk:
                return
            del self._entries[desk.name]
            self._changed.wait_for(lambda: not entry.is_running)
        desk.projected_by(None)

    def wake(self, name: str) -> None:
        """The desk of this name has new events."""
        with self._changed:
            entry = self._entries.get(name)
            if entry is not None and (entry.due is None or entry.due > entry.rests_until):
                entry.due = entry.rests_until
                self._changed.notify_all()

    def close(self) -> None:
        """Stop projecting all desks; returns once no run is under way."""
        for entry in list(self._entries.values()):
            self.remove(entry.desk)
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        if self._scheduler is not None:
            self._scheduler.join()
        self._pool.shutdown(wait=True)

    def _schedule(self) -> None:
        with self._changed:
            while not self._is_closed:
                now = time.monotonic()
                waits = [self._poll_at - now] if self._entries and not self._is_polling else []
                for name, entry in self._entries.items():
                    if entry.due is None or entry.is_running:
                        continue
                    if entry.due <= now:
                        entry.is_running, entry.due = True, None
                        self._pool.submit(self._run, name, entry)
                    else:
                        waits.append(entry.due - now)
                if self._entries and not self._is_polling and self._poll_at <= now:
                    self._is_polling = True
                    self._pool.submit(self._poll)
                    waits = waits[1:]
                self._changed.wait(min(waits, default=None))

    def _poll(self) -> None:
        """Wake the desks that other processes have written to."""
        try:
            heads = self._ledger.heads(list(self._entries))
            for name, seq in heads.items():
                entry = self._entries.get(name)
                if entry is not None and seq > entry.desk.projector.projection.seq:
                    self.wake(name)
        except EvenhandError as error:
            log.debug("projectors cannot read the ledger: %s", error)  # a run says so, and backs off
        finally:
            with self._changed:
                self._is_polling, self._poll_at = False, time.monotonic() + self._poll_seconds
                self._changed.notify_all()

    def _run(self, name: str, entry: _Entry) -> None:
        begun, before, again = time.monotonic(), entry.desk.projector.projection.seq, None
        pause, backoff = PAUSE_SECONDS, 0.0
        try:
            again = entry.desk.projector.catch_up(wait=False, keep_lock=True)
            if entry.desk.projector.projection.seq - before >= BUSY_EVENTS:
                pause = min(LONGEST_PAUSE, max(PAUSE_SECONDS, BUSY_SHARE * (time.monotonic() - begun)))
        except LedgerUnavailable as error:
            backoff = min(5.0, 2 * max(entry.backoff, 0.25))
            log.warning("desk %s: the database is unavailable, projecting again in %g s: %s", name, backoff, error)
        except Exception as error:
            backoff = min(LONGEST_BACKOFF, 2 * max(entry.backoff, 0.25))
            is_bug = not isinstance(error, EvenhandError)
            log.error("desk %s: projecting failed, again in %g s: %s", name, backoff, error, exc_info=is_bug)
        with self._changed:
            now = time.monotonic()
            entry.is_running, entry.backoff = False, backoff
            entry.rests_until = now + max(pause, backoff)
            if entry.due is not None or backoff:  # woken meanwhile, or failed
                entry.due = entry.rests_until
            elif again is not None:
                entry.due = now + max(pause, again)
            self._changed.notify_all()
