"""`evenhand ledger erase`: people who want to be forgotten."""

from __future__ import annotations

import argparse
from contextlib import closing
from typing import TYPE_CHECKING

from evenhand.cli._database_options import database_of
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from evenhand.ledger.ledger import Ledger

MOST_NAMED = 20
"""Maximum number of desks named in one line."""


def add_erase(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand ledger erase`."""
    parser.add_argument("desk", nargs="?", help="a desk's name (the only one there is)")
    parser.add_argument("--candidate", required=True, metavar="ID", help="whom to erase, by the id in the ledger")
    parser.add_argument("--reason", help="stays in the ledger for good: name nobody")
    parser.set_defaults(run=run_erase)


def run_erase(options: argparse.Namespace) -> int:
    """Erase a person; the status is 1 if events of an earlier version still hold them."""
    from evenhand.desk.desk import Desk
    from evenhand.ledger.ledger import open_ledger

    with closing(open_ledger(database_of(options), make=False)) as ledger:
        name = _desk_of(ledger) if options.desk is None else options.desk
        with Desk.open(ledger, name) as desk:
            event = desk.erase(options.candidate, options.reason, actor="command line")
            desk.catch_up(wait=True)
    since, old = event.body["since"], event.body["old_events"]
    print(
        f"desk {name}: {options.candidate} was erased by event {event.seq}; their contents from event {since} "
        "on are gone, with all that was learned from them. Backups made before still have them"
    )
    if old:
        print(
            f"{old} events that name them were written by an earlier version, with everything in the hashed text, and "
            "stay as they are: import the ledger's export into a new database, erase them there, and delete this one"
        )
    return 1 if old else 0


def _desk_of(ledger: Ledger) -> str:
    """The only desk; InvalidInput if there are several, since an id may be somebody else's at another."""
    names = ledger.names()
    if len(names) != 1:
        raise InvalidInput(
            f"name the desk: there are {len(names)}{': ' if names else ''}{', '.join(names[:MOST_NAMED])}"
        )
    return names[0]
