"""`evenhand backup` and `evenhand restore`: copies of an SQLite ledger, verified."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand._internal.counted import counted
from evenhand.cli._database_options import add_database, database_of

if TYPE_CHECKING:
    from evenhand.ledger.backup import NotedErasure
    from evenhand.ledger.ledger import Ledger


def add_backup(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand backup`."""
    parser.add_argument("file", type=Path, help="the copy to write; it must not exist")
    add_database(parser)
    parser.set_defaults(run=run_backup)


def add_restore(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand restore`."""
    parser.add_argument("file", type=Path, help="a copy that `evenhand backup` wrote")
    parser.add_argument(
        "--erasures",
        type=Path,
        help="list of people to erase again (the one beside the restored ledger)",
    )
    add_database(parser)
    parser.set_defaults(run=run_restore)


def run_backup(options: argparse.Namespace) -> None:
    """Copy the ledger while it is in use, and verify the copy."""
    from evenhand.ledger.backup import copy_database, sqlite_file

    copy_database(sqlite_file(database_of(options)), options.file)
    print(f"{options.file}: {_verified(options.file)}")


def run_restore(options: argparse.Namespace) -> None:
    """Copy a backup to where the ledger belongs, verify it, and erase again who was erased since it was made."""
    from evenhand.cli._database_options import database_to_make
    from evenhand.ledger.backup import ERASURES, copy_database, noted_erasures, sqlite_file
    from evenhand.ledger.ledger import open_ledger

    target = sqlite_file(database_to_make(options))
    erasures = list(noted_erasures(options.erasures or Path(f"{target}{ERASURES}")))
    copy_database(options.file, target)
    print(f"{target}: {_verified(target)}")
    with closing(open_ledger(f"sqlite:///{target}", make=False)) as ledger:
        again = sum(_erased_again(ledger, one) for one in erasures)
    print(f"{again} of {len(erasures)} noted erasures were carried out again")


def _verified(file: Path) -> str:
    """Verify all desks of a copy; DamagedLedger if one is not intact."""
    from evenhand.ledger.ledger import open_ledger
    from evenhand.ledger.verify import verify

    with closing(open_ledger(f"sqlite:///{file.resolve()}", make=False, reads=True)) as ledger:
        heads = [verify(ledger, name) for name in ledger.names()]
    events = counted(sum(head.seq for head in heads), "event")
    return f"{counted(len(heads), 'desk')}, {events}, every hash and link is right"


def _erased_again(ledger: Ledger, noted: NotedErasure) -> bool:
    """Erase a person from a restored ledger, if it holds something of theirs from before they were erased."""
    from evenhand.desk.desk import Desk

    if noted.desk not in ledger.names():
        return False
    with ledger.reading(noted.desk) as view:
        since = view.held(noted.candidate).since
        first = [] if since is None else view.after(since - 1, 1)
    if not first or first[0].event.time > noted.time:
        return False
    with Desk.open(ledger, noted.desk) as desk:
        desk.erase(noted.candidate, "erased again after a backup was restored", actor="restore")
    return True
