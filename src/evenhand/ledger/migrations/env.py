"""How Alembic runs here: on the connection that the ledger opened, within its transaction."""

from __future__ import annotations

from alembic import context

from evenhand.ledger.migrate import VERSION_TABLE
from evenhand.ledger.tables import metadata


def run() -> None:
    """Take all steps that are left."""
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        version_table=VERSION_TABLE,
        transactional_ddl=False,  # the transaction is the caller's: begun before, ended after
    )
    context.run_migrations()


if __name__ == "env_py":  # the name under which Alembic runs it
    run()
