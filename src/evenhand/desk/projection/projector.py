"""Projector keeps the projection of one desk up to date with its ledger; Projectors does so for all open desks."""

from __future__ import annotations

import copy
import logging
import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.bandit.safeguards import Safeguards
from evenhand.desk.projection.projection import Projection
from evenhand.desk.projection.reducer import Reducer, Withdrawals, newest_start, reaches
from evenhand.desk.projection.snapshots import CLOSEST, OLDER, from_bytes, to_bytes, to_drop
from evenhand.desk.queue import QueueFeeder
from evenhand.desk.settings import DeskSettings
from evenhand.errors import DamagedLedger, Erased, EvenhandError, LedgerUnavailable
from evenhand.ledger.event import Stamp
from evenhand.ledger.ledger import Ledger

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk

log = logging.getLogger(__name__)

RETRY_SECONDS = 0.05
"""Pause while another process projects and the caller waits for it."""

SNAPSHOT_SHARE = 40.0
"""Minimum time between snapshots, as a multiple of the time one takes."""

SNAPSHOT_SECONDS = 1.0
"""Minimum seconds between snapshots."""

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


class Projector:
    """Whoever holds the projection lock applies events; every other process follows the snapshots it keeps."""

    def __init__(self, ledger: Ledger, name: str, opened: DeskSettings) -> None:
        self._ledger, self._name, self._opened = ledger, name, opened
        self._lock = ledger.projection_lock(name)
        self._turn = threading.RLock()
        self._published = threading.Condition()
        self._feeder = QueueFeeder(ledger, name)
        self._snapshot_at, self._snapshot_cost = 0.0, 0.0
        self._snapshot_seq = self._kept_at = 0
        self.is_holding = False
        self._reducer = Reducer.initial(opened)
        self.projection: Projection
        """The published projection: replaced, never changed."""
        self._publish(None)
        self._follow()

    def wait_for(self, seq: int, timeout: float | None) -> bool:
        """Wait until the projection has reached `seq`; False after `timeout` seconds."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            left = deadline - time.monotonic()
            with self._published:
                if self._published.wait_for(lambda: self.projection.seq >= seq, max(0.0, min(left, RETRY_SECONDS))):
                    return True
            if left <= 0:
                return False
            if not self.is_holding and self._turn.acquire(blocking=False):
                try:
                    self._follow()  # what another process publishes notifies nobody here
                finally:
                    self._turn.release()

    def catch_up(self, *, wait: bool, keep_lock: bool) -> float | None:
        """Apply events up to the head; without `wait`, never waits for another projector.

        Returns the seconds until there is more to do even without a new event (a snapshot, pairs for the queue, or
        another attempt if another thread was projecting), or None.
        """
        if not self._turn.acquire(blocking=wait):
            return RETRY_SECONDS
        try:
            until = None
            while True:
                self.is_holding = self._lock.acquire()
                if self.is_holding:
                    return self._apply_all(patiently=keep_lock)
                until = until or self._ledger.head(self._name).seq
                self._follow()
                if not wait or self.projection.seq >= until:
                    return None
                time.sleep(RETRY_SECONDS)
        except BaseException:  # what this process cannot do, another one may
            self._release()
            raise
        finally:
            if not keep_lock:
                self._release()
            self._turn.release()

    def _release(self) -> None:
        if self.is_holding:
            self.is_holding = False
            self._lock.release()

    def _apply_all(self, *, patiently: bool) -> float | None:
        with self._ledger.reading(self._name) as view:
            head, withdrawals, undone, stamps = view.head, view.withdrawals(), view.undone(), view.snapshots()
        if head.seq > self._reducer.stamp.seq:
            self._start_nearest(head.seq, undone, stamps)
            before, self._kept_at = self.projection, self._reducer.stamp.seq
            self._reducer.advance(self._ledger, self._name, head.seq, withdrawals, self._keep_intermediate)
            if self._reducer.bandit.rounds != head.decisions:
                counted = self._reducer.bandit.rounds
                self._reducer = Reducer.initial(self._opened)  # what was projected cannot be trusted
                raise DamagedLedger(
                    f"desk {self._name!r} counts {head.decisions} decisions, its ledger {counted}; verify it"
                )
            self._publish(before)
            self._feeder.settle(before, self.projection)
        if self._seconds_to_snapshot() == 0.0:
            self._keep_snapshot(self._reducer)
        waits = (self._feeder.feed(self.projection, patiently=patiently), self._seconds_to_snapshot())
        return min((seconds for seconds in waits if seconds is not None), default=None)

    def _start_nearest(self, target: int, undone: Withdrawals, stamps: list[Stamp]) -> None:
        """Start where the fewest events are left to apply: here, or at a snapshot, perhaps of another process."""
        start, here = newest_start(stamps, target, undone), self._reducer.stamp
        if not reaches(here, target, undone) or (start is not None and start.seq > here.seq):
            self._reducer = self._restored(stamps, target, undone)
            self._snapshot_seq = self._reducer.stamp.seq

    def _restored(self, stamps: list[Stamp], target: int, undone: Withdrawals) -> Reducer:
        while (stamp := newest_start(stamps, target, undone)) is not None:
            reducer = self._read_snapshot(stamp)
            if reducer is not None:
                return reducer
            stamps = [other for other in stamps if other != stamp]
        return Reducer.initial(self._opened)

    def _read_snapshot(self, stamp: Stamp) -> Reducer | None:
        blob = self._ledger.snapshot(self._name, stamp.seq)
        with self._ledger.reading(self._name) as view:
            rows = view.after(stamp.seq - 1, 1)
        if not rows or rows[0].seq != stamp.seq:
            raise DamagedLedger(f"event {stamp.seq} of desk {self._name!r} is missing: a snapshot was taken there")
        reducer = from_bytes(blob, rows[0].hash) if blob is not None else None
        if reducer is None or reducer.stamp != stamp:
            level = logging.INFO if blob is not None and blob.startswith(OLDER) else logging.WARNING
            log.log(level, "snapshot at event %d cannot be used; projecting from an earlier one", stamp.seq)
            return None
        return reducer

    def _publish(self, before: Projection | None) -> None:
        reducer = self._reducer
        shared = before.bandit if before is not None and not reducer.has_learned_metric else None
        bandit, history = reducer.bandit.published(shared), copy.deepcopy(reducer.history)
        reducer.has_learned_metric = False
        if bandit.safeguards.is_capped:
            bandit.safeguards.prepare(self._previous_safeguards())  # may take long: not when somebody waits
        with self._published:
            self.projection = Projection(reducer.stamp.seq, bandit, len(reducer.skipped), history)
            self._published.notify_all()

    def _previous_safeguards(self) -> Safeguards | None:
        previous: Projection | None = getattr(self, "projection", None)
        return None if previous is None else previous.bandit.safeguards

    def _follow(self) -> None:
        """Publish the newest readable snapshot that is a projection, if it is newer than what is published.

        One kept on the way to a later event may leave out more than the projection at its own event does.
        """
        whole = [stamp for stamp in self._ledger.snapshots(self._name) if stamp.seq == stamp.until]
        for stamp in sorted(whole, reverse=True):
            if stamp.seq <= self.projection.seq:
                return
            reducer = self._read_snapshot(stamp)
            if reducer is not None:
                self._reducer, self._snapshot_seq = reducer, stamp.seq
                self._publish(None)
                return

    def at(self, seq: int) -> Projection:
        """The projection at an earlier event, projected again from the nearest snapshot; Erased if it cannot be."""
        if seq == self.projection.seq:
            return self.projection
        with self._ledger.reading(self._name) as view:
            withdrawals, erasures, undone, stamps = view.withdrawals(), view.erasures(), view.undone(), view.snapshots()
        reducer = self._restored(stamps, seq, undone)
        reducer.advance(self._ledger, self._name, seq, withdrawals)
        if reducer.is_incomplete(seq, erasures):
            raise Erased(f"what was known at event {seq} cannot be computed again: somebody was erased since")
        return Projection(seq, reducer.bandit, len(reducer.skipped), reducer.history)

    # Snapshots.

    def _seconds_to_snapshot(self) -> float | None:
        """0 if a snapshot is due; None if there is nothing new to keep."""
        if self._reducer.stamp.seq <= self._snapshot_seq:
            return None
        pause = max(SNAPSHOT_SECONDS, SNAPSHOT_SHARE * self._snapshot_cost)
        return max(0.0, self._snapshot_at + pause - time.monotonic())

    def _keep_snapshot(self, reducer: Reducer) -> None:
        begun = time.monotonic()
        with self._ledger.reading(self._name) as view:
            chain, undone = view.after(reducer.stamp.seq - 1, 1)[0].hash, view.undone()
            others = [stamp for stamp in view.snapshots() if stamp.seq != reducer.stamp.seq]
        usable = [stamp for stamp in others if reaches(stamp, max(reducer.stamp.until, stamp.seq), undone)]
        drop = {stamp.seq for stamp in others} - {stamp.seq for stamp in usable}  # they hold a withdrawn review
        drop |= set(to_drop([*usable, reducer.stamp], max(stamp.seq for stamp in (*usable, reducer.stamp))))
        self._ledger.keep_snapshot(
            self._name, reducer.stamp, to_bytes(reducer, chain), sorted(drop - {reducer.stamp.seq})
        )
        self._snapshot_at, self._snapshot_seq = time.monotonic(), reducer.stamp.seq
        self._snapshot_cost = self._snapshot_at - begun

    def _keep_intermediate(self, reducer: Reducer) -> None:
        """During a long run keep snapshots, closer and closer together, so that the next withdrawal is cheap."""
        done, left = reducer.stamp.seq - self._kept_at, reducer.stamp.until - reducer.stamp.seq
        if left > 0 and done >= max(16 * CLOSEST, left // 4):
            self._keep_snapshot(reducer)
            self._kept_at = reducer.stamp.seq

    def close(self) -> None:
        """Keep a last snapshot if this process projected, and release the lock."""
        with self._turn:
            try:
                is_whole = self.projection.seq == self._reducer.stamp.seq
                if is_whole and self._reducer.stamp.seq > self._snapshot_seq + CLOSEST:
                    self._keep_snapshot(self._reducer)
            except EvenhandError:
                log.warning("could not keep a last snapshot of desk %s; the next start takes longer", self._name)
            finally:
                self._release()


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
