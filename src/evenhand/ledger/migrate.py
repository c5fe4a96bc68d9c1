"""Bringing a database's tables up to date when it is opened."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from sqlalchemy import Connection, inspect

from evenhand.errors import DamagedLedger, InvalidInput, NewerFile
from evenhand.ledger.overwriting import mark_new

VERSION_TABLE = "evenhand_version"
NEWEST = "0006"
"""The newest migration, which this version of evenhand needs."""

LOCK = 5_317_004_269
"""Key of the PostgreSQL advisory lock for migrating; any number that no other program uses."""

NO_VERSION = "the database has a table of events but no version; it is not a ledger, or was damaged"


def version_of(connection: Connection) -> str | None:
    """The migration that a database is at; None if it is new."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").fetchall()
    return str(found[0][0]) if found else None


def bring_up_to_date(connection: Connection) -> None:
    """Run the migrations that are missing, within the caller's transaction."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK})")
    found = version_of(connection)  # another process may have migrated meanwhile
    if found == NEWEST:
        return
    refuse_newer(found)
    if found is None and inspect(connection).has_table("events"):
        raise DamagedLedger(NO_VERSION)
    _upgrade(connection)
    if found is None:
        mark_new(connection)


def refuse_newer(found: str | None) -> None:
    """NewerFile if a database is at a migration that is unknown here."""
    if found is not None and found > NEWEST:
        raise NewerFile(
            f"the database is at migration {found}, this evenhand knows migrations up to {NEWEST}: update evenhand"
        )


def refuse_unknown(connection: Connection) -> NoReturn:
    """Raise the error for a database without a version."""
    if inspect(connection).has_table("events"):
        raise DamagedLedger(NO_VERSION)
    raise InvalidInput(f"the database {connection.engine.url.database} has no ledger")


def _upgrade(connection: Connection, to: str = "head") -> None:
    from alembic import command  # takes a third of a second to import, and is rarely needed
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, to)
