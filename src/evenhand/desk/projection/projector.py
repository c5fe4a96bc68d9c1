"""Folding: the published state of a desk, and how it keeps up with the ledger, one folder at a time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from evenhand.desk.projection.projection import State
from evenhand.desk.projection.reducer import Fold, newest_start, reaches
from evenhand.desk.projection.snapshot_checksum import OLDER
from evenhand.desk.projection.snapshots import CLOSEST, from_bytes, to_bytes, to_drop
from evenhand.desk.queue import Feeder
from evenhand.desk.settings import Settings
from evenhand.errors import DamagedLedger, EvenhandError, LedgerUnavailable
from evenhand.ledger.ledger import Head, Ledger, Stamp

log = logging.getLogger(__name__)

PAUSE = 0.05
"""Seconds a folder rests when there is nothing to fold."""

BUSY_LINES = 64
"""After folding so many lines or more a folder leaves the core to deciding: it rests FOLD_SHARE times as long as it
took, at most LONGEST_PAUSE seconds."""

FOLD_SHARE = 15.0

LONGEST_PAUSE = 0.25

SNAPSHOT_SHARE = 40.0
"""Between two snapshots lie so many times the seconds that one takes, and at least:"""

SNAPSHOT_PAUSE = 1.0

POLL = 0.25
"""Seconds after which a process that does not fold looks for a newer snapshot."""


class Folding:
    """Keeps one desk's published state; whoever has the fold lock moves it on, others follow snapshots."""

    def __init__(self, ledger: Ledger, name: str, opened: Settings) -> None:
        self._ledger, self._name, self._opened = ledger, name, opened
        self._lock = ledger.fold_lock(name)
        self._turn = threading.RLock()
        self._feeder = Feeder(ledger, name)
        self._snapshot_at, self._snapshot_cost = 0.0, 0.0
        self._snapshot_seq = 0
        self.is_holding = False
        self._fold = Fold.first(opened)
        self._publish(None)
        self._follow()

    @property
    def state(self) -> State:
        """The published state."""
        return self._state

    def fold(self, *, wait: bool, keep_lock: bool) -> bool:
        """Fold up to the head; whether there was anything to do. Without `wait`, never waits for another folder."""
        if not self._turn.acquire(blocking=wait):
            return False
        try:
            head = ledger_head(self._ledger, self._name)
            while True:
                self.is_holding = self._lock.acquire()
                if self.is_holding:
                    return self._fold_to(head, patiently=keep_lock)
                moved = self._follow()
                if not wait or self._state.seq >= head.seq:
                    return moved
                time.sleep(PAUSE)
        except BaseException:  # whatever this process cannot do, another one may
            self._let_go()
            raise
        finally:
            if not keep_lock:
                self._let_go()
            self._turn.release()

    def _let_go(self) -> None:
        if self.is_holding:
            self.is_holding = False
            self._lock.release()

    def _fold_to(self, head: Head, *, patiently: bool) -> bool:
        if head.seq <= self._fold.stamp.seq:
            if self._is_snapshot_due():  # whoever follows waits for what was folded last, too
                self._keep_snapshot(self._fold)
            self._feeder.put(self._state, patiently=patiently)  # what it was too early for when it was folded
            return False
        with self._ledger.reading(self._name) as view:
            undone = view.undone()
        self._catch_up(head, undone)
        before = self._state
        self._fold.advance(self._ledger, self._name, head.seq, undone, self._keep_on_the_way(head.seq))
        if self._fold.bandit.rounds != head.decisions:
            counted = self._fold.bandit.rounds
            self._fold = Fold.first(self._opened)  # what was folded is not to be trusted
            raise DamagedLedger(
                f"desk {self._name!r} counts {head.decisions} decisions, its ledger {counted}; verify it"
            )
        self._publish(before)
        if self._is_snapshot_due():
            self._keep_snapshot(self._fold)
        self._feeder.feed(before.seq, self._state, patiently=patiently)
        return True

    def _catch_up(self, head: Head, undone: list[tuple[int, int]]) -> None:
        """Start from wherever the way to the head is the shortest: here, or a snapshot, somebody else's perhaps."""
        start = newest_start([*self._ledger.snapshots(self._name)], head.seq, undone)
        here = self._fold.stamp.seq if self._fold.reaches(head.seq, undone) else -1
        if here < 0 or (start is not None and start.seq > here):
            self._fold = self._restored(list(self._ledger.snapshots(self._name)), head.seq, undone)
            self._snapshot_seq = self._fold.stamp.seq

    def _restored(self, stamps: list[Stamp], target: int, undone: list[tuple[int, int]]) -> Fold:
        while (stamp := newest_start(stamps, target, undone)) is not None:
            fold = self._read_snapshot(stamp)
            if fold is not None:
                return fold
            stamps = [other for other in stamps if other != stamp]
        return Fold.first(self._opened)

    def _read_snapshot(self, stamp: Stamp) -> Fold | None:
        blob = self._ledger.snapshot(self._name, stamp.seq)
        with self._ledger.reading(self._name) as view:
            lines = view.after(stamp.seq - 1, 1)
        if not lines or lines[0].seq != stamp.seq:
            raise DamagedLedger(f"line {stamp.seq} of desk {self._name!r} is missing: a snapshot was taken there")
        fold = from_bytes(blob, lines[0].hash) if blob is not None else None
        if fold is None or fold.stamp != stamp:
            is_older = blob is not None and blob.startswith(OLDER)
            level = logging.INFO if is_older else logging.WARNING
            log.log(level, "a snapshot at line %d cannot be used; the ledger is folded from further back", stamp.seq)
            return None
        return fold

    def _publish(self, before: State | None) -> None:
        fold = self._fold
        shared = before.bandit if before is not None and not fold.heard else None
        published, history = fold.bandit.published(shared), fold.history.copied()
        self._state = State(fold.stamp.seq, published, len(fold.passed_over), history)
        fold.heard = False

    def _follow(self) -> bool:
        """Publish the newest snapshot that is a state and can be read, if it is newer than what is published.

        One kept on the way to a later line may leave out more than the state at its own line does, and is none.
        """
        whole = [stamp for stamp in self._ledger.snapshots(self._name) if stamp.seq == stamp.until]
        for stamp in sorted(whole, reverse=True):
            if stamp.seq <= self._state.seq:
                return False
            fold = self._read_snapshot(stamp)
            if fold is not None:
                self._fold, self._snapshot_seq = fold, stamp.seq
                self._publish(None)
                return True
        return False

    def at(self, seq: int) -> State:
        """The state at an earlier line, folded again from the nearest snapshot."""
        if seq == self._state.seq:
            return self._state
        with self._ledger.reading(self._name) as view:
            undone = view.undone()
        fold = self._restored(list(self._ledger.snapshots(self._name)), seq, undone)
        fold.advance(self._ledger, self._name, seq, undone)
        return State(seq, fold.bandit, len(fold.passed_over), fold.history)

    # Snapshots.

    def _is_snapshot_due(self) -> bool:
        pause = max(SNAPSHOT_PAUSE, SNAPSHOT_SHARE * self._snapshot_cost)
        return time.monotonic() - self._snapshot_at >= pause and self._fold.stamp.seq > self._snapshot_seq

    def _keep_snapshot(self, fold: Fold) -> None:
        begun = time.monotonic()
        with self._ledger.reading(self._name) as view:
            chain, undone = view.after(fold.stamp.seq - 1, 1)[0].hash, view.undone()
        there = [stamp for stamp in self._ledger.snapshots(self._name) if stamp.seq != fold.stamp.seq]
        leading = [stamp for stamp in there if reaches(stamp, max(fold.stamp.until, stamp.seq), undone)]
        drop = {stamp.seq for stamp in there} - {stamp.seq for stamp in leading}  # a review in them was taken back
        drop |= set(to_drop([*leading, fold.stamp], max(stamp.seq for stamp in (*leading, fold.stamp))))
        self._ledger.keep_snapshot(self._name, fold.stamp, to_bytes(fold, chain), sorted(drop - {fold.stamp.seq}))
        self._snapshot_at, self._snapshot_seq = time.monotonic(), fold.stamp.seq
        self._snapshot_cost = self._snapshot_at - begun

    def _keep_on_the_way(self, target: int) -> Callable[[Fold], None]:
        """On a long way snapshots are kept at falling distances, so that the next withdrawal is cheap."""
        last = self._fold.stamp.seq

        def kept(fold: Fold) -> None:
            nonlocal last
            done, left = fold.stamp.seq - last, target - fold.stamp.seq
            if left > 0 and done >= max(16 * CLOSEST, left // 4):
                self._keep_snapshot(fold)
                last = fold.stamp.seq

        return kept

    def close(self) -> None:
        """Keep a last snapshot if this process folded, and let go of the lock."""
        with self._turn:
            try:
                if self._fold.stamp.seq > self._snapshot_seq + CLOSEST and self._state.seq == self._fold.stamp.seq:
                    self._keep_snapshot(self._fold)
            except EvenhandError:
                log.warning("no last snapshot of desk %s could be kept; the next start folds more", self._name)
            finally:
                self._let_go()


def ledger_head(ledger: Ledger, name: str) -> Head:
    """Where a desk's ledger stands."""
    with ledger.reading(name) as view:
        return view.head


class Folder(threading.Thread):
    """A thread that folds whenever there is something to fold, and follows another process's folder otherwise."""

    def __init__(self, folding: Folding) -> None:
        super().__init__(name="evenhand-folder", daemon=True)
        self._folding = folding
        self._stopped = threading.Event()

    def run(self) -> None:
        """Fold until stopped; what goes wrong is logged and tried again."""
        pause = PAUSE
        while not self._stopped.wait(pause):
            try:
                begun, before = time.monotonic(), self._folding.state.seq
                moved = self._folding.fold(wait=False, keep_lock=True)
                pause = PAUSE if moved or self._folding.is_holding else POLL
                if self._folding.is_holding and self._folding.state.seq - before >= BUSY_LINES:
                    pause = min(LONGEST_PAUSE, max(PAUSE, FOLD_SHARE * (time.monotonic() - begun)))
            except LedgerUnavailable as error:
                log.warning("the folder waits for the database: %s", error)
                pause = min(5.0, 2 * max(pause, POLL))
            except EvenhandError as error:
                log.error("the folder failed, and tries again: %s", error)
                log.debug("the folder failed", exc_info=True)
                pause = min(60.0, 2 * max(pause, POLL))
            except Exception:
                log.exception("the folder failed; it tries again")
                pause = min(60.0, 2 * max(pause, POLL))

    def stop(self) -> None:
        """Stop after what is being folded now."""
        self._stopped.set()
        self.join()
