"""`evenhand ledger verify`: a desk, all desks, or a file that was exported."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.cli.database_options import is_given
from evenhand.cli.ledger_commands import opened_ledger
from evenhand.errors import DamagedLedger, EvenhandError, InvalidInput

if TYPE_CHECKING:
    from evenhand.ledger.ledger import Ledger

Known = tuple[int, str] | None
"""The seq and hash of a line, as noted before."""


def run_verify(options: argparse.Namespace) -> int:
    """Say that ledgers are whole, or what is not: then the status is 1."""
    known = _known(options.known)
    file = _file(options)
    if file is not None:
        _verify_file(file, known)
        return 0
    if options.desk is None and known is not None:
        raise InvalidInput("--known is a line of one desk's ledger; say which desk's")
    with opened_ledger(options) as ledger:
        if options.desk is not None:
            _verify_desk(ledger, options.desk, known)
            return 0
        return _verify_all(ledger)


def _known(text: str | None) -> Known:
    if text is None:
        return None
    seq, _, digest = text.partition(":")
    if not (seq.isascii() and seq.isdecimal()) or int(seq) < 1 or len(digest) != 64:
        raise InvalidInput(f"--known is {text!r}; allowed is SEQ:HASH, as verify prints it")
    return int(seq), digest.lower()


def _file(options: argparse.Namespace) -> Path | None:
    """The file that is meant; None if it is a desk.

    What is given in a desk's place is a file only if it looks like one: a desk must not go unchecked because a file of
    its name lies about.
    """
    if options.file is not None:
        if options.desk is not None or is_given(options):
            raise InvalidInput("--file is verified by itself; leave out the desk, --data and --database")
        return Path(options.file)
    path = None if options.desk is None or is_given(options) else Path(options.desk)
    if path is None or not (path.suffix or len(path.parts) > 1) or not os.path.isfile(path):
        return None
    if len(path.parts) == 1 and _is_desk(options):
        raise InvalidInput(
            f"there is a file {options.desk} and a desk of that name; say --file {options.desk} for the file, and "
            "--data or --database for the desk"
        )
    return path


def _is_desk(options: argparse.Namespace) -> bool:
    try:
        with opened_ledger(options) as ledger:
            return options.desk in ledger.names()
    except EvenhandError:  # no ledger where one would be looked for, or none that can be asked: the file can be
        return False


def _verify_file(path: Path, known: Known) -> None:
    from evenhand.ledger.export import verify_lines

    try:
        # Not universal newlines: a line ends where `ledger export` ended it.
        with open(path, encoding="utf-8", newline="\n") as file:
            last = verify_lines(file, known=known)
    except UnicodeDecodeError:
        raise DamagedLedger(f"{path} is no exported ledger, or was changed: it is no UTF-8") from None
    except OSError as error:
        raise InvalidInput(f"the file {path} cannot be read: {error.strerror}") from None
    print(f"{last.seq} lines, every hash and link is right; the last is {last.seq}:{last.hash}")


def _verify_desk(ledger: Ledger, desk: str, known: Known) -> None:
    from evenhand.desk.projection.snapshot_checksum import check_snapshots
    from evenhand.ledger.verify import verify

    found = verify(ledger, desk, known=known)
    check_snapshots(ledger, desk)
    print(
        f"desk {found.desk}: {found.seq} lines, {found.decisions} decisions, every hash and link is right; "
        f"the last is {found.seq}:{found.hash}"
    )


def _verify_all(ledger: Ledger) -> int:
    names, damaged = ledger.names(), 0
    for name in names:
        try:
            _verify_desk(ledger, name, None)
        except DamagedLedger as error:
            damaged += 1
            print(error, file=sys.stderr)
    if not names:
        print("there is no desk yet")
    return 1 if damaged else 0
