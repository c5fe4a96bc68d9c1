"""The options that name the database, the same for all commands."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from evenhand.errors import InvalidInput

DATA = Path("evenhand-data")
FILE = "ledger.db"
ENVIRONMENT = "EVENHAND_DATABASE_URL"


def add_database(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the database."""
    parser.add_argument("--data", type=Path, help=f"folder of the SQLite ledger ({DATA})")
    parser.add_argument("--database", metavar="URL", help=f"a database instead; also {ENVIRONMENT}")


def names_database(options: argparse.Namespace) -> bool:
    """Whether an option names the database."""
    return options.database is not None or options.data is not None


def database_of(options: argparse.Namespace) -> str:
    """The URL of the database that the options or the environment name, which must exist."""
    if options.database is not None and options.data is not None:
        raise InvalidInput("--data and --database both name the ledger; pass one of them")
    url = options.database or (os.environ.get(ENVIRONMENT) if options.data is None else None)
    return str(url) if url else f"sqlite:///{(options.data or DATA).resolve() / FILE}"


def database_to_make(options: argparse.Namespace) -> str:
    """The same for a command that creates the database if there is none: the data folder is created.

    DamagedLedger if there is an empty file: perhaps a ledger was lost, and nobody would notice.
    """
    from evenhand.ledger.engine import refuse_empty
    from evenhand.ledger.transaction import translated

    url = database_of(options)
    if options.database is None and (options.data is not None or not os.environ.get(ENVIRONMENT)):
        folder = (options.data or DATA).resolve()
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise InvalidInput(f"the data folder {folder} cannot be created: {error.strerror}") from None
    with translated():
        refuse_empty(url)
    return url
