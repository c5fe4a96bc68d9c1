"""Verify a ledger, every hash, link and column; and export it as JSONL that can be verified without a database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from evenhand.errors import DamagedLedger
from evenhand.ledger.contents import as_json, commitments_in, from_json, wrong_content
from evenhand.ledger.event import FIRST, SETTINGS_KINDS, Event, Head, Row, chained, request_digest
from evenhand.ledger.ledger import LARGEST_SEQ, Ledger
from evenhand.ledger.lottery import Commitments

NEWEST = 2_000
"""Maximum number of events checked when a desk is opened, however long its ledger is."""

TARGETED = ("outcome", "review", "override", "action", "withdrawal")
"""Kinds of events about a decision or a review."""

HASHES = len(',"previous":"","hash":""}') + 2 * 64
"""Length of the two hashes at the end of a line; the rest, and a brace, is the event's text."""


def verify(ledger: Ledger, desk: str, *, known: tuple[int, str] | None = None) -> Head:
    """The head of a desk's ledger, after all of it was checked; see `verified_chain`."""
    return verified_chain(ledger, desk, known=known)[1]


def verified_chain(
    ledger: Ledger,
    desk: str,
    *,
    known: tuple[int, str] | None = None,
    watch: Callable[[Row], None] = lambda row: None,
) -> tuple[Chain, Head]:
    """All events of a desk's ledger, checked, and its head; DamagedLedger with the first event that is wrong.

    known: the seq and hash of an event as noted before. Without it, somebody who can write to the database could remove
    the newest events, or rewrite the whole ledger. watch: gets every event that was found right.
    """
    head, stray = head_and_stray(ledger, desk)
    chain = Chain(desk)
    for row in ledger.rows(desk, until=head.seq):
        chain.add(row)
        watch(row)
        if known is not None and row.seq == known[0] and row.hash != known[1]:
            raise DamagedLedger(
                f"event {row.seq} of desk {desk!r} is not the one that was noted: the ledger was rewritten"
            )
    if stray is not None:  # last: an event with another number is missing where it was
        raise stray
    if known is not None and known[0] > chain.seq:
        raise DamagedLedger(f"the ledger of desk {desk!r} ends at event {chain.seq}; event {known[0]} was noted before")
    chain.compare(head)
    chain.check_erasures(ledger)
    return chain, head


def head_and_stray(ledger: Ledger, desk: str) -> tuple[Head, DamagedLedger | None]:
    """The head of a desk's ledger; and an error if there are events after it, or before the first."""
    with ledger.reading(desk) as view:
        return view.head, view.stray()


def check_end(ledger: Ledger, desk: str, after: int) -> None:
    """Check the events from `after` on, of a long ledger only the newest: those that opening a desk relies on."""
    head, stray = head_and_stray(ledger, desk)
    if stray is not None:
        raise stray
    chain = None
    for row in ledger.rows(desk, max(0, after - 1, head.seq - NEWEST), head.seq):
        chain = chain or (Chain(desk) if row.seq == 1 else Chain.within(desk, row))
        chain.add(row)
    (chain or Chain(desk)).compare(head)


def check_text(row: Row) -> Row:
    """The event, whose text has its hash."""
    check_column_types(row, f"event {row.seq}")
    if chained(row.previous, row.text) != row.hash:
        raise DamagedLedger(f"event {row.seq} was changed: its text does not have its hash")
    if row.opened and wrong_content(orjson.loads(row.text)["body"], row.opened):
        raise DamagedLedger(f"event {row.seq} was changed: what it says about people does not have its commitment")
    return row


def check_column_types(row: Row, where: str) -> None:
    """DamagedLedger unless text and hashes are text."""
    if not has_text(row):
        raise DamagedLedger(f"{where} was changed: its text or one of its hashes is not text")


def has_text(row: Row) -> bool:
    """Whether text and hashes are text: SQLite stores any type in a column."""
    return all(isinstance(column, str) for column in (row.text, row.previous, row.hash))


@dataclass
class Chain:
    """The events of a ledger so far, each checked against those before it."""

    desk: str
    seq: int = 0
    hash: str = FIRST
    decisions: int | None = 0
    """How many there were; None if the chain begins within a ledger and has had none yet."""
    settings: int | None = 0
    """The event of those in force; None if the chain begins within a ledger and has had none yet."""
    erased: int = 0
    """How many contents are not there any more."""
    _missing: dict[frozenset[str], int] = field(default_factory=dict)
    """Whose contents are not there, with no erasure of one of them so far, and the last event that had some."""
    _reviews: dict[str, int] = field(default_factory=dict)
    """The seq of every event that can be withdrawn."""
    _is_whole: bool = True
    _commitments: Commitments = field(default_factory=Commitments)
    """To the keys of the lottery."""

    @classmethod
    def within(cls, desk: str, row: Row) -> Chain:
        """A chain that begins at an event in the middle; those before it are trusted."""
        commitments = Commitments(is_whole=False)
        return cls(desk, row.seq - 1, row.previous, None, None, _is_whole=False, _commitments=commitments)

    def add(self, row: Row) -> None:
        """Check the next event."""
        where = f"event {self.seq + 1} of desk {self.desk!r}"
        if row.seq != self.seq + 1:
            raise DamagedLedger(f"{where} is missing: event {row.seq} comes next")
        check_column_types(row, where)
        if row.previous != self.hash:
            raise DamagedLedger(f"{where} does not follow the event before it: one of the two was changed")
        if chained(row.previous, row.text) != row.hash:
            raise DamagedLedger(f"{where} was changed: its text does not have its hash")
        try:
            content = orjson.loads(row.text)
            column = self._wrong_column(row, content)
            problem = self._commitments.problem(content["kind"], content["body"])
            self._check_contents(row, content["body"], where)
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
            raise DamagedLedger(f"{where} cannot be read: its text is not an event") from None
        if column is not None:
            raise DamagedLedger(f"{where} was changed: its column {column} does not match its text")
        if problem is not None:
            raise DamagedLedger(f"{where} was changed: {problem}")
        self.seq, self.hash = row.seq, row.hash
        if row.kind == "decision":
            self.decisions = content["body"]["number"] + 1
        if row.kind in SETTINGS_KINDS:
            self.settings = row.seq
        if row.kind in ("review", "answer", "imported"):
            self._reviews[row.id] = row.seq

    def _check_contents(self, row: Row, body: dict[str, Any], where: str) -> None:
        """Check the contents that are there; note those that are not."""
        if wrong_content(body, row.opened):
            raise DamagedLedger(f"{where} was changed: what it says about people does not have its commitment")
        for (people, _), content in zip(commitments_in(body), row.opened, strict=True):
            if content is None:
                self.erased += 1
                self._missing[people] = row.seq
        if row.kind == "erasure":
            self.note_erasure(body["candidate"])

    def note_erasure(self, person: str) -> None:
        """A person was erased, and with them what others share with them."""
        self._missing = {people: seq for people, seq in self._missing.items() if person not in people}

    def check_erasures(self, ledger: Ledger) -> None:
        """DamagedLedger if contents are missing that no event says were erased."""
        if self._missing and self._is_whole:
            with ledger.reading(self.desk) as view:  # somebody may have been erased meanwhile
                for erasure in view.erasures():
                    if erasure.seq > self.seq:
                        self.note_erasure(erasure.candidate)
        if self._missing and self._is_whole:
            people, seq = min(self._missing.items(), key=lambda missing: missing[1])
            raise DamagedLedger(
                f"event {seq} of desk {self.desk!r} was changed: what it says about {', '.join(sorted(people))} cannot "
                "be read, and no event says that it was erased: a key was removed"
            )

    def _wrong_column(self, row: Row, content: dict[str, Any]) -> str | None:
        body, kind = content["body"], row.kind
        undone = body.get("review") if kind == "withdrawal" else body.get("supersedes")
        target = body.get("review") if kind == "withdrawal" else body.get("decision")
        columns = {
            "desk": (self.desk, content["desk"]),
            "seq": (row.seq, content["seq"]),
            "id": (row.id, content["id"]),
            "kind": (kind, content["kind"]),
            "target": (row.target, target if kind in TARGETED else None),
            "number": (row.number, body["number"] if kind == "decision" else None),
            "undoes": (row.undoes, None if undone is None else self._seq_of(undone, row.undoes)),
        }
        if kind == "decision" and self.decisions not in (None, body["number"]):
            return "number"
        if "request" in content and content["request"] != request_digest(row.key, row.fingerprint):
            return "key or fingerprint"  # the first ledgers did not hash them
        return next((name for name, (column, text) in columns.items() if column != text), None)

    def _seq_of(self, review: str, column: int | None) -> int | None:
        """The seq of a review; for one before the first event of this chain, only that the column is set."""
        return self._reviews.get(review, None if self._is_whole else column or 0)

    def compare(self, head: Head) -> None:
        """Check the head."""
        if head.seq == self.seq and head.hash != self.hash:
            raise DamagedLedger(f"desk {self.desk!r} was changed: its hash is not that of event {self.seq}, its last")
        if (head.seq, head.hash) != (self.seq, self.hash):
            raise DamagedLedger(
                f"the head of desk {self.desk!r} says {head.seq} events, but its ledger ends at event {self.seq}"
            )
        if self.decisions not in (None, head.decisions) or self.settings not in (None, head.settings):
            raise DamagedLedger(
                f"desk {self.desk!r} was changed: its head says {head.decisions} decisions and settings of event "
                f"{head.settings}, its ledger {self.decisions} and {self.settings}"
            )


def to_jsonl(ledger: Ledger, desk: str, *, damaged: Callable[[DamagedLedger], None] | None = None) -> Iterator[str]:
    """Every event of a desk, one JSON object a line, with the hash before it and its own at the end.

    Events are verified on the way; DamagedLedger at the first that is wrong. damaged: is called with the error instead,
    and the events come as they are, except those that are not text.
    """

    def report(error: DamagedLedger) -> None:
        if damaged is None:
            raise error
        damaged(error)

    head, stray = head_and_stray(ledger, desk)
    if stray is not None:
        report(stray)
    chain, is_whole = Chain(desk), True
    for row in ledger.rows(desk, until=head.seq if stray is None else LARGEST_SEQ):
        try:
            if is_whole:
                chain.add(row)
        except DamagedLedger as error:
            is_whole = False
            report(error)
        if is_whole or has_text(row):
            yield as_line(row.event)
    try:
        if is_whole and stray is None:
            chain.compare(head)
            chain.check_erasures(ledger)
    except DamagedLedger as error:
        report(error)


def as_line(event: Event) -> str:
    """One event as a line; contents, if it has any, come after the hashes."""
    contents = f',"contents":{orjson.dumps(as_json(event.contents)).decode()}' if event.contents else ""
    return f'{event.text[:-1]},"previous":"{event.previous}","hash":"{event.hash}"{contents}}}'


def from_line(line: str) -> Event:
    """The event that `as_line` wrote; `verify_lines` checks its hash."""
    content, contents = line.rstrip("\r\n"), "[]"
    if not _has_hashes(content):
        start, _, end = content.rpartition(',"contents":')  # within its strings quotes have a backslash
        content, contents = f"{start}}}", end[:-1]
    if not _has_hashes(content):
        raise DamagedLedger("a line of an exported ledger must end with two hashes, this one does not")
    try:
        opened = from_json(orjson.loads(contents))
    except orjson.JSONDecodeError:
        raise DamagedLedger("the contents in a line of an exported ledger must be JSON, and are not") from None
    end = content[-HASHES:]
    return Event(content[:-HASHES] + "}", end[13:77], end[87:151], opened)


def _has_hashes(line: str) -> bool:
    end = line[-HASHES:]
    return end == f',"previous":"{end[13:77]}","hash":"{end[87:151]}"}}'


def verify_lines(
    lines: Iterable[str],
    *,
    known: tuple[int, str] | None = None,
    watch: Callable[[Event], None] = lambda event: None,
) -> Event:
    """The last event of an exported ledger, after every hash and link was checked; else DamagedLedger.

    known: the seq and hash of an event as noted before; it must be among them. watch: gets every event found right.
    """
    previous, last, commitments = FIRST, None, Commitments()
    for number, line in enumerate(lines, start=1):
        event = from_line(line)
        if event.previous != previous or chained(event.previous, event.text) != event.hash or event.seq != number:
            raise DamagedLedger(f"line {number} was changed, or one before it was removed")
        if wrong_content(orjson.loads(event.text)["body"], event.contents):
            raise DamagedLedger(f"line {number} was changed: what it says about people does not have its commitment")
        if known is not None and known[0] == number and known[1] != event.hash:
            raise DamagedLedger(f"line {number} is not the one that was noted: the ledger was rewritten")
        problem = commitments.problem(event.kind, event.body)
        if problem is not None:
            raise DamagedLedger(f"line {number} was changed: {problem}")
        previous, last = event.hash, event
        watch(event)
    if last is None:
        raise DamagedLedger("there is no line at all")
    if known is not None and known[0] > last.seq:
        raise DamagedLedger(f"the file ends at line {last.seq}; line {known[0]} was noted before")
    return last
