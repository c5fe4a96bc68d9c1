"""A ledger as lines of text: JSONL that can be verified as it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from evenhand.errors import DamagedLedger
from evenhand.ledger.event import FIRST, Event, chained
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.verify import Chain, has_text, lines_of, standing

HASHES = len(',"previous":"","hash":""}') + 2 * 64
"""So many characters at the end of a line hold the two hashes; what is left, and a brace, is what was hashed."""

MOST = 2**63 - 1
"""No line has a larger number."""


def to_jsonl(ledger: Ledger, desk: str, *, damaged: Callable[[DamagedLedger], None] | None = None) -> Iterator[str]:
    """Every event of a desk, one JSON object a line, with the hash before it and its own at the end.

    All of it is verified on the way; DamagedLedger at the first line that is wrong. damaged: is given that instead, and
    the lines come as they are, but for those that are no text.
    """
    head, stray = standing(ledger, desk)
    if stray is not None and damaged is None:
        raise stray
    if stray is not None and damaged is not None:
        damaged(stray)
    chain, is_whole = Chain(desk), True
    for row in lines_of(ledger, desk, head.seq if stray is None else MOST):
        is_whole = is_whole and _holds(partial(chain.add, row), damaged)  # once broken, what follows tells nothing
        if is_whole or has_text(row):
            yield as_line(row.event)
    if is_whole and stray is None:
        _holds(partial(chain.compare, head), damaged)


def _holds(check: Callable[[], None], damaged: Callable[[DamagedLedger], None] | None) -> bool:
    """Whether a check passes; what it found is given to whoever takes it, or raised."""
    try:
        check()
    except DamagedLedger as error:
        if damaged is None:
            raise
        damaged(error)
        return False
    return True


def as_line(event: Event) -> str:
    """One event as a line."""
    return f'{event.text[:-1]},"previous":"{event.previous}","hash":"{event.hash}"}}'


def from_line(line: str) -> Event:
    """The event that `as_line` wrote; whether its hash is right, `verify_lines` tells."""
    content = line.rstrip("\r\n")
    told = content[-HASHES:]
    previous, own = told[13:77], told[87:151]
    if told != f',"previous":"{previous}","hash":"{own}"}}':
        raise DamagedLedger("this is no line of an exported ledger: it does not end with two hashes")
    return Event(content[:-HASHES] + "}", previous, own)


def verify_lines(lines: Iterable[str], *, known: tuple[int, str] | None = None) -> Event:
    """The last event of an exported ledger, once every hash and link of it was checked; else DamagedLedger.

    known: the seq and hash of a line as noted elsewhere before; it must be among them.
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
