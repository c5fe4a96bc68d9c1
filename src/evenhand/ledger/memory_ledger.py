"""MemoryLedger: ledgers in memory, for notebooks and tests; gone with the process."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from evenhand.errors import AlreadyRecorded, UnknownRecord
from evenhand.ledger.ledger import Head, Ledger, Row, Stamp, Stray, ToFold, taken
from evenhand.ledger.memory_pairs import MemoryPairs


@dataclass
class MemoryBook:
    """The events of one desk, and ways to find them."""

    head: Head
    rows: list[Row] = field(default_factory=list)
    ids: dict[str, Row] = field(default_factory=dict)
    keys: dict[str, Row] = field(default_factory=dict)
    numbers: dict[int, Row] = field(default_factory=dict)
    targets: dict[str, list[Row]] = field(default_factory=dict)
    snapshots: dict[int, tuple[Stamp, bytes]] = field(default_factory=dict)
    writer: threading.RLock = field(default_factory=threading.RLock)
    folder: threading.Lock = field(default_factory=threading.Lock)

    def by_id(self, ids: Iterable[str]) -> dict[str, Row]:
        """The events with these ids."""
        return {name: self.ids[name] for name in ids if name in self.ids}

    def by_key(self, keys: Iterable[str]) -> dict[str, Row]:
        """The events that came with these keys."""
        return {key: self.keys[key] for key in keys if key in self.keys}

    def by_number(self, numbers: Iterable[int]) -> dict[int, Row]:
        """The decisions with these numbers."""
        return {number: self.numbers[number] for number in numbers if number in self.numbers}

    def about(self, targets: Iterable[str]) -> list[Row]:
        """The events about these decisions and reviews, in order."""
        found = [row for target in set(targets) for row in self.targets.get(target, ())]
        return sorted(found, key=lambda row: row.seq)

    def after(self, seq: int, limit: int, kinds: Sequence[str] | None = None) -> list[Row]:
        """Up to `limit` events after `seq`, in order."""
        if kinds is None:
            return self.rows[seq : seq + limit]
        return [row for row in self.rows[seq:] if row.kind in kinds][:limit]

    def to_fold(self, after: int, until: int, limit: int) -> list[ToFold]:
        """What a fold needs of the events after `after`."""
        return [
            ToFold(r.seq, r.kind) if r.kind == "decision" else ToFold(r.seq, r.kind, r.target, r.undoes, r.text)
            for r in self.rows[after : min(after + limit, until)]
        ]

    def undone(self) -> list[tuple[int, int]]:
        """All that was taken back."""
        return [(row.seq, row.undoes) for row in self.rows if row.undoes is not None]

    def last(self, kinds: Sequence[str], until: int) -> Row | None:
        """The newest event of these kinds."""
        upto = bisect_right(self.rows, until, key=lambda row: row.seq)
        return next((row for row in reversed(self.rows[:upto]) if row.kind in kinds), None)

    def stray(self) -> Stray | None:
        """A line beyond the head or before the first."""
        ends = {row.seq for row in (*self.rows[-1:], *self.rows[:1])}
        return next((Stray(self.head.seq, seq) for seq in ends if not 1 <= seq <= self.head.seq), None)

    def append(self, rows: Sequence[Row], head: Head) -> None:
        """Add events and move the head."""
        if rows and self.rows and rows[0].seq <= self.rows[-1].seq:
            raise taken(rows[0].seq)
        for row in rows:
            self.rows.append(row)
            self.ids[row.id] = row
            if row.key is not None:
                self.keys[row.key] = row
            if row.number is not None:
                self.numbers[row.number] = row
            if row.target is not None:
                self.targets.setdefault(row.target, []).append(row)
        self.head = head


class MemoryFoldLock:
    """The lock of whoever folds a desk, among the threads of this process."""

    def __init__(self, lock: threading.Lock) -> None:
        self._lock, self._held = lock, False

    def acquire(self) -> bool:
        """Whether it is held now."""
        if not self._held:
            self._held = self._lock.acquire(blocking=False)
        return self._held

    def release(self) -> None:
        """Let others fold."""
        if self._held:
            self._held = False
            self._lock.release()


class MemoryLedger(Ledger):
    """Ledgers of any number of desks in this process's memory."""

    def __init__(self) -> None:
        self._books: dict[str, MemoryBook] = {}
        self.pairs = MemoryPairs()

    def names(self) -> list[str]:
        """The names of all desks."""
        return sorted(self._books)

    def create(self, name: str, first: Row, created: str) -> None:
        """A new desk with its first event."""
        book = MemoryBook(Head(0, first.previous, 0, 1))
        book.append([first], Head(1, first.hash, 0, 1))
        if self._books.setdefault(name, book) is not book:
            raise AlreadyRecorded(f"there is a desk {name!r} already; open it, or choose another name")

    def _book(self, name: str) -> MemoryBook:
        if name not in self._books:
            raise UnknownRecord(f"there is no desk {name!r}; there are {self.names()}")
        return self._books[name]

    @contextmanager
    def reading(self, name: str) -> Iterator[MemoryBook]:
        """The book of a desk, while nobody writes."""
        book = self._book(name)
        with book.writer:
            yield book

    writing = reading

    def check_writable(self) -> None:
        """Memory takes what is written, or the process ends."""

    def snapshots(self, name: str) -> list[Stamp]:
        """Which snapshots there are."""
        return sorted(stamp for stamp, _ in self._book(name).snapshots.values())

    def snapshot(self, name: str, seq: int) -> bytes | None:
        """One snapshot."""
        found = self._book(name).snapshots.get(seq)
        return None if found is None else found[1]

    def keep_snapshot(self, name: str, stamp: Stamp, blob: bytes, drop: Sequence[int]) -> None:
        """Add a snapshot and drop others."""
        kept = {seq: pair for seq, pair in self._book(name).snapshots.items() if seq not in drop}
        self._book(name).snapshots = {**kept, stamp.seq: (stamp, blob)}

    def fold_lock(self, name: str) -> MemoryFoldLock:
        """The lock of whoever folds."""
        return MemoryFoldLock(self._book(name).folder)

    def close(self) -> None:
        """Nothing to let go of: the ledgers stay as long as this object does."""
