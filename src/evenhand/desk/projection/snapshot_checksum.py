"""The checksum of a snapshot: a digest of its content and of the event it was taken at.

It detects a snapshot that was damaged, edited or put in another's place. It has no key: whoever can write to the
database can compute one, and only `ledger replay`, which applies all events again, finds that out.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import orjson

from evenhand.errors import DamagedFile, DamagedLedger
from evenhand.ledger.event import Stamp
from evenhand.ledger.ledger import Ledger

MARK = b"evenhand snapshot\n"
OLDER = b"PK\x03\x04"
"""How snapshots without a checksum begin. They are not used, since anybody could remove one."""


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
    digest = hashlib.sha256(f"{chain} {stamp.seq} {stamp.until}\n".encode())
    digest.update(content)
    return digest.hexdigest()


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
