"""`evenhand ledger list`, `replay` and `export`: what they do."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evenhand.cli.database_options import database_of
from evenhand.errors import DamagedLedger, InvalidInput

if TYPE_CHECKING:
    from evenhand.desk.replay import Replayed
    from evenhand.ledger.ledger import Ledger


@contextmanager
def opened_ledger(options: argparse.Namespace) -> Iterator[Ledger]:
    """The ledger that the options name, for as long as the block lasts; it has to be there."""
    from evenhand.ledger.ledger import open_ledger

    ledger = open_ledger(database_of(options), make=False, reads=True)
    try:
        yield ledger
    finally:
        ledger.close()


def run_list(options: argparse.Namespace) -> int:
    """Show all desks; one that cannot be read is told, and the status is 1."""
    status = 0
    with opened_ledger(options) as ledger:
        for name in ledger.names():
            try:
                print(_standing(ledger, name))
            except DamagedLedger as error:
                print(f"{name}  {error}")
                status = 1
    return status


def _standing(ledger: Ledger, name: str) -> str:
    from evenhand.ledger.verify import standing

    head, stray = standing(ledger, name)
    if stray is not None:
        raise stray
    with ledger.reading(name) as view:
        last = view.after(head.seq - 1, 1)
    if not last:
        raise DamagedLedger(f"its last line, {head.seq}, is missing; verify it")
    return f"{name}  {head.seq} lines  {head.decisions} decisions  last {last[0].event.time}"


def run_replay(options: argparse.Namespace) -> None:
    """Say that every decision came out the same, or raise DamagedLedger."""
    from evenhand.desk.replay import replay

    with opened_ledger(options) as ledger:
        told = replay(ledger, options.desk)
    if not told.is_same:
        raise DamagedLedger(_what_differs(told))
    print(f"desk {told.desk}: {told.decisions} decisions made again from {told.lines} lines, the same to the bit")


def _what_differs(told: Replayed) -> str:
    """A snapshot that does not follow comes first: what was decided from it comes out otherwise for that reason."""
    said = []
    if told.snapshots:
        others = f", nor do those at {len(told.snapshots) - 1} others" if told.snapshots[1:] else ""
        said.append(f"the snapshot at line {told.snapshots[0]} does not follow from the ledger{others}")
    if told.differences:
        first = told.differences[0]
        said.append(
            f"{len(told.differences)} of {told.decisions} decisions come out otherwise, the first is line {first.seq}: "
            f"{first.what}"
        )
    if told.snapshots:
        said.append("delete the snapshots, and the desk folds its ledger anew")
    return f"{'; '.join(said)}; another version of evenhand or another processor may be the reason"


def run_export(options: argparse.Namespace) -> int:
    """Write a ledger's lines, each checked; DamagedLedger, and no file, at the first that is not what was written.

    Even if damaged: then all that can be read is written, what was found is told, and the status is 1.
    """
    from evenhand.cli.output import write_lines
    from evenhand.desk.dsjson import to_dsjson
    from evenhand.ledger.export import to_jsonl

    found: list[DamagedLedger] = []
    with opened_ledger(options) as ledger:
        if options.format == "jsonl":
            lines = to_jsonl(ledger, options.desk, damaged=found.append if options.even_if_damaged else None)
        elif options.even_if_damaged:
            raise InvalidInput("--even-if-damaged is for --format jsonl: other formats are made of whole ledgers only")
        else:
            lines = to_dsjson(ledger, options.desk)
        write_lines(lines, options.output)
    for error in found:
        print(f"{error}; it was written as it is", file=sys.stderr)
    return 1 if found else 0
