"""Projector: keeps the published projection of one desk up to date with its ledger."""

from __future__ import annotations

import copy
import logging
import math
import threading
import time

from evenhand.desk.projection.projection import Projection
from evenhand.desk.projection.reducer import Reducer, Withdrawals, newest_start, reaches
from evenhand.desk.projection.snapshots import CLOSEST, OLDER, from_bytes, to_bytes, to_drop
from evenhand.desk.queue import QueueFeeder
from evenhand.desk.settings import DeskSettings
from evenhand.errors import DamagedLedger, EvenhandError
from evenhand.ledger.event import Stamp
from evenhand.ledger.ledger import Ledger

log = logging.getLogger(__name__)

RETRY_SECONDS = 0.05
"""Pause while another process projects and the caller waits for it."""

SNAPSHOT_SHARE = 40.0
"""Minimum time between snapshots, as a multiple of the time one takes."""

SNAPSHOT_SECONDS = 1.0
"""Minimum seconds between snapshots."""


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

        Returns the seconds after which more is to be done without a new event (a snapshot, pairs for the queue; another
        try, where somebody looked at the projection at that moment), or None.
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
            head, withdrawals, stamps = view.head, view.withdrawals(), view.snapshots()
        if head.seq > self._reducer.stamp.seq:
            self._start_nearest(head.seq, withdrawals, stamps)
            before, self._kept_at = self.projection, self._reducer.stamp.seq
            self._reducer.advance(self._ledger, self._name, head.seq, withdrawals, self._keep_on_the_way)
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

    def _start_nearest(self, target: int, withdrawals: Withdrawals, stamps: list[Stamp]) -> None:
        """Start where the fewest events are left to apply: here, or at a snapshot, perhaps of another process."""
        start, here = newest_start(stamps, target, withdrawals), self._reducer.stamp
        if not reaches(here, target, withdrawals) or (start is not None and start.seq > here.seq):
            self._reducer = self._restored(stamps, target, withdrawals)
            self._snapshot_seq = self._reducer.stamp.seq

    def _restored(self, stamps: list[Stamp], target: int, withdrawals: Withdrawals) -> Reducer:
        while (stamp := newest_start(stamps, target, withdrawals)) is not None:
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
        with self._published:
            self.projection = Projection(reducer.stamp.seq, bandit, len(reducer.skipped), history)
            self._published.notify_all()

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
        """The projection at an earlier event, projected again from the nearest snapshot."""
        if seq == self.projection.seq:
            return self.projection
        with self._ledger.reading(self._name) as view:
            withdrawals, stamps = view.withdrawals(), view.snapshots()
        reducer = self._restored(stamps, seq, withdrawals)
        reducer.advance(self._ledger, self._name, seq, withdrawals)
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
            chain, withdrawals = view.after(reducer.stamp.seq - 1, 1)[0].hash, view.withdrawals()
            others = [stamp for stamp in view.snapshots() if stamp.seq != reducer.stamp.seq]
        usable = [stamp for stamp in others if reaches(stamp, max(reducer.stamp.until, stamp.seq), withdrawals)]
        drop = {stamp.seq for stamp in others} - {stamp.seq for stamp in usable}  # they hold a withdrawn review
        drop |= set(to_drop([*usable, reducer.stamp], max(stamp.seq for stamp in (*usable, reducer.stamp))))
        self._ledger.keep_snapshot(
            self._name, reducer.stamp, to_bytes(reducer, chain), sorted(drop - {reducer.stamp.seq})
        )
        self._snapshot_at, self._snapshot_seq = time.monotonic(), reducer.stamp.seq
        self._snapshot_cost = self._snapshot_at - begun

    def _keep_on_the_way(self, reducer: Reducer) -> None:
        """On a long way snapshots are kept at falling distances, so that the next withdrawal is cheap."""
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
