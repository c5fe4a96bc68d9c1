"""Alembic's environment: it runs on the ledger's connection, within its transaction."""

from __future__ import annotations

from alembic import context

from evenhand.ledger.migrate import VERSION_TABLE
from evenhand.ledger.tables import metadata


def run() -> None:
    """Run the missing migrations."""
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        version_table=VERSION_TABLE,
        transactional_ddl=False,  # the caller begins and ends the transaction
    )
    context.run_migrations()


if __name__ == "env_py":  # the name under which Alembic runs it
    run()
