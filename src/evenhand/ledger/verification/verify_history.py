"""Verify a ledger with its signed heads: signatures, roots, times, actors and tiles of the tree, in one pass.

A head that somebody kept shows everything up to its size: an event changed, removed, inserted or moved before it gives
another root. What came after it, it cannot show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from heapq import merge
from itertools import groupby
from typing import NamedTuple

from evenhand.errors import DamagedLedger
from evenhand.ledger.event import Event, Head, Row
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.merkle import Frontier, leaf_hash
from evenhand.ledger.signed_head import CLOCKS, SignedHead
from evenhand.ledger.signed_heads import SignedHeads
from evenhand.ledger.signing_keys import RecordedKey, recorded_keys
from evenhand.ledger.tree import Tile, TileBuilder, has_trees, stored_tile
from evenhand.ledger.verification.actors import Actors
from evenhand.ledger.verification.heads_file import KeptHeads
from evenhand.ledger.verify import verified_chain

Kept = KeptHeads | Sequence[SignedHead]
"""Heads that somebody kept, also of several desks."""


class VerifiedHistory(NamedTuple):
    """What was found right."""

    head: Head
    heads: int
    """How many signed heads fit."""
    erased: int
    """How many contents are gone because their people were erased."""
    without_token: dict[str, int]
    """Events of each actor for whom the service has no token, since it records tokens."""


def verify_history(
    ledger: Ledger,
    desk: str,
    *,
    known: tuple[int, str] | None = None,
    kept: Kept = (),
    reader: Callable[[Row], None] = lambda row: None,
) -> VerifiedHistory:
    """The head of a desk's ledger, and how many signed heads fit, after all was checked; else DamagedLedger.

    known: the seq and hash of an event as noted before. kept: heads that were kept elsewhere, also of other desks.
    Heads are read along with the events: however many there are, few are in memory.
    reader: gets every event that was found right, so that the ledger need not be read twice.
    """
    is_new, stored = has_trees(ledger), SignedHeads(ledger)
    latest = stored.latest(desk) if is_new else None  # before the events: a running service adds to both
    heads = merge(
        () if latest is None else stored.all(desk, latest.size), kept_of(kept, desk), key=lambda head: head.size
    )
    fit = HeadsFit(desk, checked_heads(desk, heads, recorded_keys(ledger)))
    tiles = TileBuilder(lambda tile: _compare(ledger, desk, tile)) if is_new else None
    actors = Actors.recorded(ledger, desk)

    def watch(row: Row) -> None:
        event = row.event
        fit.add(event)
        actors.add(event)
        if tiles is not None:
            tiles.add(leaf_hash(row.previous, row.text))
        reader(row)

    chain, found = verified_chain(ledger, desk, known=known, watch=watch)
    fit.finish()
    return VerifiedHistory(found, fit.fitted, chain.erased, dict(actors.without_token))


def kept_of(kept: Kept, desk: str) -> Iterable[SignedHead]:
    """The kept heads of a desk, the smallest first."""
    if isinstance(kept, KeptHeads):
        return kept.of(desk)
    return sorted((head for head in kept if head.desk == desk), key=lambda head: head.size)


def checked_heads(desk: str, heads: Iterable[SignedHead], keys: Sequence[RecordedKey] | None) -> Iterator[SignedHead]:
    """The heads of a desk, each once; DamagedLedger if no key of its time signed one, or it is older than one before.

    heads: the smallest first. keys: those that the service has recorded; None if they are not at hand.
    """
    by_key = {one.key: one for one in keys or ()}
    last: SignedHead | None = None
    for _, same in groupby(heads, key=lambda head: head.size):
        group = sorted(set(same), key=lambda one: one.time)
        for head in group:
            _check_head(desk, head, last)
            if keys is not None:
                _check_key(head, by_key.get(head.key), _where(head))
            last = head
        yield from group


def _where(head: SignedHead) -> str:
    return f"the head of desk {head.desk!r} with {head.size} events"


def _check_head(desk: str, head: SignedHead, last: SignedHead | None) -> None:
    if head.desk != desk or not head.is_signed:
        raise DamagedLedger(f"{_where(head)} was changed: its signature is wrong")
    if last is not None and head.moment < last.moment - CLOCKS:
        raise DamagedLedger(f"{_where(head)} says {head.time}: before one with {last.size} events; one was backdated")
    if last is not None and head.size == last.size and (head.root, head.hash) != (last.root, last.hash):
        raise DamagedLedger(f"there are two heads of desk {desk!r} with {head.size} events: its history was forked")


def _check_key(head: SignedHead, key: RecordedKey | None, where: str) -> None:
    if key is None:
        raise DamagedLedger(f"{where} is signed with the key {head.key}, which the service has not recorded")
    signed = head.moment
    is_early = signed < _moment(key.created, where) - CLOCKS
    is_late = key.retired is not None and signed > _moment(key.retired, where) + CLOCKS
    if is_early or is_late:
        raise DamagedLedger(f"{where} is signed with the key {head.key}, which was not in use at {head.time}")


class HeadsFit:
    """The events of a ledger so far, in order, compared with signed heads and with each other's times.

    heads: the smallest first.
    """

    def __init__(self, desk: str, heads: Iterable[SignedHead]) -> None:
        self._desk, self._heads, self.fitted = desk, iter(heads), 0
        self._next = next(self._heads, None)
        """The first of those that are still to come."""
        self._frontier = Frontier()
        self._latest = datetime.fromisoformat("0001-01-02T00:00:00+00:00")
        """The latest time of an event or head so far."""

    def add(self, event: Event) -> None:
        """Check the next event, whose hash and link were checked."""
        self._frontier.add(leaf_hash(event.previous, event.text))
        size = self._frontier.size
        where = f"event {size} of desk {self._desk!r}"
        time = _moment(event.content.get("time"), where)
        if time < self._latest - CLOCKS:
            raise DamagedLedger(
                f"{where} says {event.time}, before what precedes it: it was backdated, or a clock was set back"
            )
        self._latest = max(time, self._latest)
        while self._next is not None and self._next.size == size:
            self._fit(self._next, event)
            self._next = next(self._heads, None)

    def _fit(self, head: SignedHead, last: Event) -> None:
        """Check the head of the events so far."""
        where = f"the first {head.size} events of desk {self._desk!r}"
        if head.root != self._frontier.root.hex() or head.hash != last.hash:
            raise DamagedLedger(f"{where} are not those that were signed at {head.time}: the ledger was rewritten")
        signed = head.moment
        if signed < self._latest - CLOCKS:
            raise DamagedLedger(f"{where} were signed at {head.time}, before the last of them: one was backdated")
        self._latest = max(signed, self._latest)
        self.fitted += 1

    def finish(self) -> None:
        """Check that no head is of more events than there are."""
        if self._next is not None:
            head = self._next
            raise DamagedLedger(
                f"the ledger of desk {self._desk!r} ends at event {self._frontier.size}; {head.size} events were "
                f"signed at {head.time}: its end was cut off"
            )


class LinesFit:
    """The same for an exported ledger, whose first event names the desk; keys are those of the heads."""

    def __init__(self, kept: Kept) -> None:
        self._kept, self._fit = kept, HeadsFit("", ())

    def add(self, event: Event) -> None:
        """Check the next event."""
        if event.seq == 1:
            heads = checked_heads(event.desk, kept_of(self._kept, event.desk), None)
            self._fit = HeadsFit(event.desk, heads)
        self._fit.add(event)

    def finish(self) -> int:
        """How many heads fit, after checking that none is of more events than there are."""
        self._fit.finish()
        return self._fit.fitted


def _compare(ledger: Ledger, desk: str, tile: Tile) -> None:
    if stored_tile(ledger, desk, tile.level, tile.position) not in (None, tile):
        raise DamagedLedger(
            f"the tree of desk {desk!r} was changed: a tile of level {tile.level} does not follow from its events; "
            "delete its tiles: they are made again"
        )


def _moment(time: str | None, where: str) -> datetime:
    """A time that is written in an event or a head."""
    try:
        return datetime.fromisoformat(str(time)).astimezone(UTC)
    except ValueError:
        raise DamagedLedger(f"the time of {where} cannot be read") from None
