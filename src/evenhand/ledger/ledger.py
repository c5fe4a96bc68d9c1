"""Ledger: where the events of desks are kept. One class a kind of storage; all of them do the same."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from evenhand.errors import DamagedLedger, InvalidInput, MissingExtra
from evenhand.ledger.event import Event
from evenhand.ledger.waiting_pairs import WaitingPairs


@dataclass(frozen=True)
class Head:
    """Where a desk's ledger stands."""

    seq: int
    hash: str
    decisions: int
    """How many decisions were made: the number of the next one."""
    settings: int
    """The seq of the event that has the settings in force."""


class Row(NamedTuple):
    """An event as it is stored: its text and hashes, and columns to find it by."""

    seq: int
    id: str
    kind: str
    target: str | None
    """The decision or the review that the event is about."""
    number: int | None
    """The number of a decision."""
    undoes: int | None
    """The seq of the review that the event takes back."""
    key: str | None
    """The idempotency key."""
    fingerprint: str | None
    """A digest of the command that came with the key."""
    text: str
    previous: str
    hash: str

    @property
    def event(self) -> Event:
        """The event itself."""
        return Event(self.text, self.previous, self.hash)


class ToFold(NamedTuple):
    """What a fold needs of an event; a decision is not read, it only counts."""

    seq: int
    kind: str
    target: str | None = None
    undoes: int | None = None
    text: str | None = None


class Stamp(NamedTuple):
    """Which events a fold has taken in: those up to `seq`, but for reviews taken back by an event up to `until`."""

    seq: int
    until: int


class Stray(NamedTuple):
    """A line that does not belong: beyond where the desk says that its ledger stands, or before the first."""

    standing: int
    seq: object
    """SQLite keeps whatever somebody puts into a column: what is no number comes after all that are."""

    @property
    def sentence(self) -> str:
        """What is wrong."""
        last = f"line {self.seq}" if isinstance(self.seq, int) else "one without a number"
        if isinstance(self.seq, int | float) and self.seq < 1:
            return "there is a line before the first: it was put there; restore a backup, then verify the ledger"
        return (
            f"lines after line {self.standing} are there, up to {last}, but the desk's standing says {self.standing}: "
            "it was set back, or they were put there; restore a backup, then verify the ledger"
        )


class View(Protocol):
    """One desk's ledger within one transaction."""

    @property
    def head(self) -> Head:
        """Where it stands."""

    def by_id(self, ids: Iterable[str]) -> dict[str, Row]:
        """The events with these ids, as far as there are any."""

    def by_key(self, keys: Iterable[str]) -> dict[str, Row]:
        """The events that came with these idempotency keys."""

    def by_number(self, numbers: Iterable[int]) -> dict[int, Row]:
        """The decisions with these numbers."""

    def about(self, targets: Iterable[str]) -> list[Row]:
        """The events about these decisions and reviews, in order."""

    def after(self, seq: int, limit: int, kinds: Sequence[str] | None = None) -> list[Row]:
        """Up to `limit` events after `seq`, in order, of these kinds or of all."""

    def to_fold(self, after: int, until: int, limit: int) -> list[ToFold]:
        """The `limit` events after `after`, as far as not beyond `until`, in order."""

    def undone(self) -> list[tuple[int, int]]:
        """All that was taken back: the seq of the event that did it, and of the review."""

    def last(self, kinds: Sequence[str], until: int) -> Row | None:
        """The newest event of these kinds, not beyond `until`."""

    def stray(self) -> Stray | None:
        """A line beyond the head or before the first, if there is any: it takes one look at either end."""

    def append(self, rows: Sequence[Row], head: Head) -> None:
        """Add events and move the head; only within `Ledger.writing`. DamagedLedger if a line is there already."""


class FoldLock(Protocol):
    """A lock that one folder in all processes can hold; it falls free when its holder dies."""

    def acquire(self) -> bool:
        """Whether it is held now; does not wait for another holder."""

    def release(self) -> None:
        """Let others fold."""


class Ledger(ABC):
    """Keeps the ledgers of many desks: append and read, snapshots beside, and the pairs that wait for reviewers."""

    pairs: WaitingPairs

    @abstractmethod
    def names(self) -> list[str]:
        """The names of all desks, sorted."""

    @abstractmethod
    def create(self, name: str, first: Row, created: str) -> None:
        """A new desk with its first event; AlreadyRecorded if there is one of that name."""

    @abstractmethod
    def reading(self, name: str) -> AbstractContextManager[View]:
        """A consistent view of a desk's ledger; UnknownRecord if there is no such desk."""

    @abstractmethod
    def writing(self, name: str) -> AbstractContextManager[View]:
        """The same, alone: nobody else writes to the desk until it ends. Durable once it has ended without error."""

    @abstractmethod
    def check_writable(self) -> None:
        """Write something, durably, that leaves no trace; LedgerUnavailable if that cannot be done now."""

    # Snapshots of what was folded: made from events, and never the truth.

    @abstractmethod
    def snapshots(self, name: str) -> list[Stamp]:
        """Which snapshots there are, ascending."""

    @abstractmethod
    def snapshot(self, name: str, seq: int) -> bytes | None:
        """One snapshot."""

    @abstractmethod
    def keep_snapshot(self, name: str, stamp: Stamp, blob: bytes, drop: Sequence[int]) -> None:
        """Add a snapshot, or replace the one at its seq, and drop others."""

    @abstractmethod
    def fold_lock(self, name: str) -> FoldLock:
        """The lock of whoever folds this desk's ledger."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections."""


def taken(seq: int) -> DamagedLedger:
    """What is raised when the next line cannot be added, since the ledger has it, or its id, key or number."""
    return DamagedLedger(
        f"nothing was written: line {seq} is to be added, and the ledger has it already, or one with its id, key or "
        "number; the desk's standing was set back, or lines were put there; restore a backup, then verify the ledger"
    )


def open_ledger(url: str, *, make: bool = True, reads: bool = False) -> Ledger:
    """The ledger at a URL: "memory:", "sqlite:///path", or "postgresql+psycopg://..."; tables are made as needed.

    make: False for whoever needs a ledger that is there: InvalidInput if there is none, and nothing is made. Tables of
    an older version are brought up to date either way. reads: True for whoever only reads: an SQLite file that cannot
    be written is opened all the same, as it is.
    """
    if url == "memory:":
        from evenhand.ledger.memory_ledger import MemoryLedger

        if not make:
            raise InvalidInput("a ledger in memory belongs to the process that made it; give a database")
        return MemoryLedger()
    try:
        from evenhand.ledger.sql_ledger import SqlLedger
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"{error.name} is missing: a ledger in a database needs pip install 'evenhand[desk]'"
        ) from None
    return SqlLedger(url, make=make, reads=reads)
