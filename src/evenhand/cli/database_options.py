"""Where the database is: the options that say so, alike for all commands that work on ledgers or beside them."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from evenhand.errors import InvalidInput

DATA = Path("evenhand-data")
FILE = "ledger.db"
ENVIRONMENT = "EVENHAND_DATABASE_URL"


def add_database(parser: argparse.ArgumentParser) -> None:
    """The options that say where the database is."""
    parser.add_argument("--data", type=Path, help=f"the folder of the SQLite ledger ({DATA})")
    parser.add_argument("--database", metavar="URL", help=f"of a database instead; also by {ENVIRONMENT}")


def is_given(options: argparse.Namespace) -> bool:
    """Whether an option says where the database is."""
    return options.database is not None or options.data is not None


def database_of(options: argparse.Namespace) -> str:
    """The URL of the database that the options or the environment name; open it with `make=False`."""
    if options.database is not None and options.data is not None:
        raise InvalidInput("--data and --database both say where the ledger is; give one of them")
    url = options.database or (os.environ.get(ENVIRONMENT) if options.data is None else None)
    return str(url) if url else f"sqlite:///{(options.data or DATA).resolve() / FILE}"


def database_to_make(options: argparse.Namespace) -> str:
    """The same for a command that makes a database where there is none: the data folder is made.

    DamagedLedger if there is an empty file: a ledger was there, perhaps, and nobody would notice its loss.
    """
    from evenhand.ledger.engine import refuse_empty, translated

    url = database_of(options)
    if options.database is None and (options.data is not None or not os.environ.get(ENVIRONMENT)):
        folder = (options.data or DATA).resolve()
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise InvalidInput(f"the data folder {folder} cannot be made: {error.strerror}") from None
    with translated():
        refuse_empty(url)
    return url
