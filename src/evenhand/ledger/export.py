"""A ledger as JSONL that can be verified without a database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from evenhand.errors import DamagedLedger
from evenhand.ledger.event import FIRST, Event, chained
from evenhand.ledger.ledger import LARGEST_SEQ, Ledger
from evenhand.ledger.verify import Chain, has_text, standing

HASHES = len(',"previous":"","hash":""}') + 2 * 64
"""Length of the two hashes at the end of a line; the rest, and a brace, is the event's text."""


def to_jsonl(ledger: Ledger, desk: str, *, damaged: Callable[[DamagedLedger], None] | None = None) -> Iterator[str]:
    """Every event of a desk, one JSON object a line, with the hash before it and its own at the end.

    Events are verified on the way; DamagedLedger at the first that is wrong. damaged: is called with the error instead,
    and the events come as they are, except those that are not text.
    """

    def is_right(check: Callable[[], None]) -> bool:
        try:
            check()
        except DamagedLedger as error:
            if damaged is None:
                raise
            damaged(error)
            return False
        return True

    head, stray = standing(ledger, desk)
    if stray is not None and damaged is None:
        raise stray
    if stray is not None and damaged is not None:
        damaged(stray)
    chain, is_whole = Chain(desk), True
    for row in ledger.rows(desk, until=head.seq if stray is None else LARGEST_SEQ):
        is_whole = is_whole and is_right(lambda row=row: chain.add(row))  # type: ignore[misc]
        if is_whole or has_text(row):
            yield as_line(row.event)
    if is_whole and stray is None:
        is_right(lambda: chain.compare(head))


def as_line(event: Event) -> str:
    """One event as a line."""
    return f'{event.text[:-1]},"previous":"{event.previous}","hash":"{event.hash}"}}'


def from_line(line: str) -> Event:
    """The event that `as_line` wrote; `verify_lines` checks its hash."""
    content = line.rstrip("\r\n")
    end = content[-HASHES:]
    previous, own = end[13:77], end[87:151]
    if end != f',"previous":"{previous}","hash":"{own}"}}':
        raise DamagedLedger("a line of an exported ledger must end with two hashes, this one does not")
    return Event(content[:-HASHES] + "}", previous, own)


def verify_lines(lines: Iterable[str], *, known: tuple[int, str] | None = None) -> Event:
    """The last event of an exported ledger, after every hash and link was checked; else DamagedLedger.

    known: the seq and hash of an event as noted before; it must be among them.
    """
    previous, last = FIRST, None
    for number, line in enumerate(lines, start=1):
        event = from_line(line)
        if event.previous != previous or chained(event.previous, event.text) != event.hash or event.seq != number:
            raise DamagedLedger(f"line {number} was changed, or one before it was removed")
        if known is not None and known[0] == number and known[1] != event.hash:
            raise DamagedLedger(f"line {number} is not the one that was noted: the ledger was rewritten")
        previous, last = event.hash, event
    if last is None:
        raise DamagedLedger("there is no line at all")
    if known is not None and known[0] > last.seq:
        raise DamagedLedger(f"the file ends at line {last.seq}; line {known[0]} was noted before")
    return last
