"""`evenhand ledger list`, `replay` and `export`: what they do."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evenhand.desk.database_options import database_of
from evenhand.errors import DamagedLedger

if TYPE_CHECKING:
    from evenhand.desk.ledger import Ledger


@contextmanager
def opened_ledger(options: argparse.Namespace) -> Iterator[Ledger]:
    """The ledger that the options name, for as long as the block lasts; it has to be there."""
    from evenhand.desk.ledger import open_ledger

    ledger = open_ledger(database_of(options), make=False)
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
    with ledger.reading(name) as view:
        head = view.head
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
        first = told.differences[0]
        raise DamagedLedger(
            f"{len(told.differences)} of {told.decisions} decisions come out otherwise, the first is line {first.seq}: "
            f"{first.what}; another version of evenhand or another processor may be the reason"
        )
    print(f"desk {told.desk}: {told.decisions} decisions made again from {told.lines} lines, the same to the bit")


def run_export(options: argparse.Namespace) -> None:
    """Write a ledger's lines."""
    from evenhand.desk.dsjson import to_dsjson
    from evenhand.desk.export import to_jsonl

    with opened_ledger(options) as ledger:
        lines = (to_jsonl if options.format == "jsonl" else to_dsjson)(ledger, options.desk)
        if options.output is None:
            for line in lines:
                sys.stdout.write(line + "\n")
            return
        with open(options.output, "w", encoding="utf-8", newline="\n") as file:
            for line in lines:
                file.write(line + "\n")
