"""Snapshots: a reducer as bytes, in the format of a saved bandit, with a checksum; and which of them are kept.

The checksum is a digest of the content and of the event it was taken at. It detects a snapshot that was damaged, edited
or put in another's place. It has no key: whoever can write to the database can compute one, and only `ledger replay`,
which applies all events again, finds that out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import orjson

from evenhand._internal.archive import UNREADABLE, from_archive, to_archive
from evenhand.desk.projection.projection import QuietBandit, RoundHistory
from evenhand.desk.projection.reducer import Reducer
from evenhand.errors import DamagedFile, DamagedLedger, EvenhandError
from evenhand.ledger.event import Stamp
from evenhand.ledger.ledger import Ledger

KIND, FORMAT = "DeskSnapshot", 3
"""The format is raised whenever an older evenhand could not read a snapshot; it then projects from the first event."""

MARK = b"evenhand snapshot\n"
OLDER = b"PK\x03\x04"
"""How snapshots without a checksum begin. They are not used, since anybody could remove one."""

CLOSEST = 256
"""Of snapshots closer to each other than this many events, not all are kept."""


def to_bytes(reducer: Reducer, chain: str) -> bytes:
    """A reducer as bytes, with a checksum; `chain` is the hash of its last event, which ties it to its ledger."""
    history, bandit = reducer.history.state(), reducer.bandit.state()
    content = {"passed_over": list(reducer.skipped), "history": history, "bandit": bandit}
    return with_checksum(reducer.stamp, chain, to_archive(kind=KIND, version=FORMAT, content=content))


def from_bytes(blob: bytes, chain: str | None = None) -> Reducer | None:
    """The reducer of a snapshot; None if it cannot be read or its checksum is wrong: projecting again is always right.

    chain: the hash that its last event has now; DamagedLedger if it was another when the snapshot was taken.
    """
    try:
        found = checked(blob)
        if chain is not None and found.chain != chain:
            raise DamagedLedger(
                f"event {found.stamp.seq} was changed: it had another hash when a snapshot was taken there; verify the "
                "ledger against a hash noted elsewhere (if it is intact, delete its snapshots)"
            )
        content = from_archive(found.content, "snapshot", kind=KIND, version=FORMAT)
        if "fit" not in content["bandit"]:  # older than the check of the fit, which needs the answers before it
            return None
        skipped, history = [int(seq) for seq in content["passed_over"]], RoundHistory.from_state(content["history"])
        return Reducer(QuietBandit.from_state(content["bandit"]), found.stamp, skipped, history=history)
    except DamagedLedger:
        raise
    except (DamagedFile, EvenhandError, *UNREADABLE, AttributeError, IndexError, np.linalg.LinAlgError):
        return None


def to_drop(stamps: Sequence[Stamp], newest: int) -> list[int]:
    """The seqs of snapshots to drop: the older, the fewer are kept, in cells that double in width with age.

    Of n events about 2 log2(n) snapshots stay; from any event of age a the next older one has age at most about 5 a.

    >>> to_drop([Stamp(s, s) for s in (100, 900, 950, 990, 1000)], 1000)
    [950, 990]
    """
    oldest: dict[tuple[int, int], int] = {}
    for stamp in stamps:
        age = (newest - stamp.seq) // CLOSEST
        width = CLOSEST << max(age.bit_length() - 1, 0)  # cells do not move: two become one when they are old enough
        cell = (width, stamp.seq // width)
        oldest[cell] = min(oldest.get(cell, stamp.seq), stamp.seq)
    return sorted(stamp.seq for stamp in stamps if stamp.seq != newest and stamp.seq not in oldest.values())


class CheckedSnapshot(NamedTuple):
    """A snapshot with a correct checksum."""

    stamp: Stamp
    chain: str
    """The hash of the event that it was taken at."""
    content: bytes


def with_checksum(stamp: Stamp, chain: str, content: bytes) -> bytes:
    """A snapshot: one line with its stamp and checksum, then the content."""
    header = {"chain": chain, "seq": stamp.seq, "until": stamp.until, "digest": _digest(stamp, chain, content)}
    return MARK + orjson.dumps(header) + b"\n" + content


def has_checksum(blob: bytes) -> bool:
    """Whether it has a checksum at all."""
    return blob.startswith(MARK)


def checked(blob: bytes) -> CheckedSnapshot:
    """The parts of a snapshot; DamagedFile if its checksum is wrong or missing.

    >>> checked(with_checksum(Stamp(3, 3), "aa", b"content")).content
    b'content'
    """
    first, _, content = blob.removeprefix(MARK).partition(b"\n")
    try:
        header = orjson.loads(first) if has_checksum(blob) else {}
        stamp, chain = Stamp(int(header["seq"]), int(header["until"])), str(header["chain"])
        is_right = header["digest"] == _digest(stamp, chain, content)
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        is_right = False
    if not is_right:
        raise DamagedFile("the snapshot was changed: its checksum is wrong")
    return CheckedSnapshot(stamp, chain, content)


def _digest(stamp: Stamp, chain: str, content: bytes) -> str:
    return hashlib.sha256(f"{chain} {stamp.seq} {stamp.until}\n".encode() + content).hexdigest()


def check_snapshots(ledger: Ledger, desk: str) -> None:
    """DamagedLedger if a snapshot of a desk is not the one that was taken, as far as checksums tell."""
    for seq in [stamp.seq for stamp in ledger.snapshots(desk)]:
        with ledger.reading(desk) as view:
            rows = view.after(seq - 1, 1)
        blob = ledger.snapshot(desk, seq)
        if blob is None or blob.startswith(OLDER):  # dropped meanwhile, or not used
            continue
        problem = _problem(blob, seq, rows[0].hash if rows and rows[0].seq == seq else None)
        if problem is not None:
            raise DamagedLedger(
                f"the snapshot at event {seq} of desk {desk!r} {problem}; it is not used, and may be deleted: "
                "snapshots only save time. The events are intact"
            )


def _problem(blob: bytes, seq: int, chain: str | None) -> str | None:
    """What is wrong with a snapshot at an event with this hash."""
    try:
        found = checked(blob)
    except DamagedFile:
        return "was changed: its checksum is wrong"
    if found.stamp.seq != seq:
        return f"was taken at event {found.stamp.seq}"
    return None if found.chain == chain else "was taken of another ledger: the event had another hash then"
