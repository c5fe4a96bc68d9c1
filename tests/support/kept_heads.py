"""Signed heads as somebody kept them."""

from __future__ import annotations

from pathlib import Path

from evenhand.ledger.signed_head import SignedHead


def heads_in(file: Path) -> list[SignedHead]:
    """The heads in a file, in the order of its lines."""
    return [SignedHead.from_line(line) for line in file.read_bytes().splitlines()]
