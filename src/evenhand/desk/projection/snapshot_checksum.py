"""A snapshot's seal: its digest, tied to the line of the ledger that it was taken at.

It tells a snapshot that was damaged, edited or put in another's place. There is no key in it: whoever can write to the
database can seal what they made up, and only `ledger replay`, which folds everything again, finds that out.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import orjson

from evenhand.errors import DamagedFile, DamagedLedger
from evenhand.ledger.ledger import Ledger, Stamp

MARK = b"evenhand snapshot\n"
OLDER = b"PK\x03\x04"
"""What snapshots began with that had no seal yet. They are not used, for anybody could take a seal off."""


class Sealed(NamedTuple):
    """A snapshot whose seal is right."""

    stamp: Stamp
    chain: str
    """The hash of the line that it was taken at."""
    content: bytes


def sealed(stamp: Stamp, chain: str, content: bytes) -> bytes:
    """A snapshot with its seal: a line that says what it is, and the content."""
    told = {"chain": chain, "seq": stamp.seq, "until": stamp.until, "digest": _digest(stamp, chain, content)}
    return MARK + orjson.dumps(told) + b"\n" + content


def is_sealed(blob: bytes) -> bool:
    """Whether it has a seal at all."""
    return blob.startswith(MARK)


def unsealed(blob: bytes) -> Sealed:
    """What was sealed; DamagedFile if the seal is not right, or there is none.

    >>> unsealed(sealed(Stamp(3, 3), "aa", b"content")).content
    b'content'
    """
    head, _, content = blob.removeprefix(MARK).partition(b"\n")
    try:
        told = orjson.loads(head) if is_sealed(blob) else {}
        stamp, chain = Stamp(int(told["seq"]), int(told["until"])), str(told["chain"])
        is_right = told["digest"] == _digest(stamp, chain, content)
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        is_right = False
    if not is_right:
        raise DamagedFile("the snapshot was changed: it does not have its digest")
    return Sealed(stamp, chain, content)


def _digest(stamp: Stamp, chain: str, content: bytes) -> str:
    digest = hashlib.sha256(f"{chain} {stamp.seq} {stamp.until}\n".encode())
    digest.update(content)
    return digest.hexdigest()


def check_snapshots(ledger: Ledger, desk: str) -> None:
    """DamagedLedger if a snapshot of a desk is not the one that was taken, as far as its seal tells."""
    for seq in [stamp.seq for stamp in ledger.snapshots(desk)]:
        with ledger.reading(desk) as view:
            lines = view.after(seq - 1, 1)
        blob = ledger.snapshot(desk, seq)
        if blob is None or blob.startswith(OLDER):  # dropped meanwhile; not used
            continue
        wrong = _wrong(blob, seq, lines[0].hash if lines and lines[0].seq == seq else None)
        if wrong is not None:
            raise DamagedLedger(
                f"the snapshot at line {seq} of desk {desk!r} {wrong}; it is not used, and may be deleted: snapshots "
                "only save time. The lines are whole"
            )


def _wrong(blob: bytes, seq: int, chain: str | None) -> str | None:
    """What is wrong with a snapshot at a line with this hash."""
    try:
        found = unsealed(blob)
    except DamagedFile:
        return "was changed: it does not have its digest"
    if found.stamp.seq != seq:
        return f"was taken at line {found.stamp.seq}"
    return None if found.chain == chain else "was taken of another ledger: the line had another hash then"
