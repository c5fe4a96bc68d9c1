"""The records of a ledger's storage: Head, Row and Stamp."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from evenhand.ledger.event import Event


@dataclass(frozen=True)
class Head:
    """Where a desk's ledger ends."""

    seq: int
    hash: str
    decisions: int
    """How many decisions were made: the number of the next one."""
    settings: int
    """The seq of the event with the settings in force."""


class Row(NamedTuple):
    """An event as stored: its text and hashes, and the columns it is found by."""

    seq: int
    id: str
    kind: str
    target: str | None
    """The decision or the review that the event is about."""
    number: int | None
    """The number of a decision."""
    undoes: int | None
    """The seq of the review that the event withdraws or supersedes."""
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


class EventToApply(NamedTuple):
    """What a reducer needs of an event; decisions are not read, they only count."""

    seq: int
    kind: str
    target: str | None = None
    undoes: int | None = None
    text: str | None = None


class Stamp(NamedTuple):
    """Which events were applied: those up to `seq`, except reviews withdrawn by an event up to `until`."""

    seq: int
    until: int


class StrayEvent(NamedTuple):
    """An event that does not belong: after the head, or before the first."""

    head: int
    seq: object
    """SQLite stores any type in a column: what is not a number sorts after all numbers."""

    @property
    def sentence(self) -> str:
        """What is wrong."""
        last = f"event {self.seq}" if isinstance(self.seq, int) else "one without a number"
        if isinstance(self.seq, int | float) and self.seq < 1:
            return "there is an event before the first; restore a backup, then verify the ledger"
        return (
            f"there are events after event {self.head}, up to {last}, but its head says {self.head}: the head was "
            "set back, or events were inserted; restore a backup, then verify the ledger"
        )
