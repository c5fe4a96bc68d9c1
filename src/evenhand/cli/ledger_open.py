"""`evenhand ledger open`: a new desk, with settings from options and files."""

from __future__ import annotations

import argparse
from contextlib import closing

from evenhand._internal.counted import counted
from evenhand.cli._database_options import database_to_make
from evenhand.cli._desk_settings import add_settings, settings_of
from evenhand.errors import AlreadyRecorded


def add_open(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand ledger open`."""
    parser.add_argument("desk", help="the name of the new desk")
    add_settings(parser)
    parser.set_defaults(run=run_open)


def run_open(options: argparse.Namespace) -> None:
    """Create a desk and print what it is."""
    from evenhand.desk.desk import Desk
    from evenhand.ledger.ledger import open_ledger

    with closing(open_ledger(database_to_make(options))) as ledger:
        if options.desk in ledger.names():
            raise AlreadyRecorded(f"there is a desk {options.desk!r} already; choose another name")
        with Desk.open(ledger, options.desk, **settings_of(options)) as desk:
            made = desk.settings
    print(
        f"desk {options.desk}: created, {counted(made.n_features, 'feature')}, capacity {made.capacity}, "
        f"metric {made.metric}, reward {made.reward.kind}"
    )
