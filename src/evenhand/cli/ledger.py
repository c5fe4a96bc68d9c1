"""`evenhand ledger list`, `verify`, `replay`, `export` and `import`: their options, and how they end."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NoReturn

from evenhand.cli.database_options import add_database
from evenhand.cli.ledger_commands import run_export, run_list, run_replay
from evenhand.cli.ledger_import import run_import
from evenhand.cli.ledger_verify import run_verify
from evenhand.errors import CannotListen, CannotWrite, DamagedLedger, EvenhandError, LedgerUnavailable, NewerFile

NOT_NOW = (CannotListen, CannotWrite, DamagedLedger, LedgerUnavailable, NewerFile)
"""A verdict, a port that is taken, no room to write, a database that does not answer or belongs to a newer version."""


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand ledger ...`."""
    actions = parser.add_subparsers(dest="action", required=True)
    listing = actions.add_parser("list", help="all desks: how many lines each has, and when the last was written")
    listing.set_defaults(run=run_list)
    verify = actions.add_parser("verify", help="check every hash and every link of a ledger, or of an exported one")
    verify.add_argument("desk", nargs="?", help="a desk's name (all desks); or a file, if it has a suffix or a slash")
    verify.add_argument("--file", type=Path, help="a file that `ledger export` wrote, in place of a desk")
    verify.add_argument("--known", metavar="SEQ:HASH", help="a line as noted before: tells if lines were cut off")
    verify.set_defaults(run=run_verify)
    replay = actions.add_parser("replay", help="make every decision again from the first line on")
    replay.add_argument("desk", help="a desk's name")
    replay.set_defaults(run=run_replay)
    export = actions.add_parser("export", help="write a ledger as lines of JSON")
    export.add_argument("desk", help="a desk's name")
    export.add_argument("--format", choices=("jsonl", "dsjson"), default="jsonl", help="dsjson: for Vowpal Wabbit")
    export.add_argument("--output", type=Path, help="the file (standard output)")
    export.add_argument("--even-if-damaged", action="store_true", help="write what there is of a damaged ledger")
    export.set_defaults(run=run_export)
    importing = actions.add_parser("import", help="a warm start from past decisions, outcomes and reviews")
    _add_import(importing)
    for action in (listing, verify, replay, export, importing):
        add_database(action)


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("desk", help="the name of the desk that is to learn from them; made if it is not there")
    parser.add_argument("file", type=Path, help="JSON lines: an exported ledger, or past decisions")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help="a setting of a new desk, as features=income,debt or capacity=2 or epsilon=0.05; may be given more than "
        "once, and goes before those in the file",
    )
    parser.add_argument(
        "--even-if-damaged", action="store_true", help="take in an exported ledger of which lines were changed or lost"
    )
    parser.set_defaults(run=run_import)


def end(parser: argparse.ArgumentParser, error: EvenhandError) -> NoReturn:
    """Leave a command that failed: with the sentence alone and status 1, or with the usage and status 2.

    2 is for what was asked wrongly, 1 for a verdict and for what cannot be done now.
    """
    if isinstance(error, NOT_NOW):
        parser.exit(1, f"{error}\n")
    parser.error(str(error))
