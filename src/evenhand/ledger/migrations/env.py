"""Alembic's environment: it runs on the ledger's connection, within its transaction."""

from __future__ import annotations

from alembic import context

from evenhand.ledger.migrate import VERSION_TABLE

if __name__ == "env_py":  # the name under which Alembic runs it
    # Without transactional DDL: the caller begins and ends the transaction.
    connection = context.config.attributes["connection"]
    context.configure(connection=connection, version_table=VERSION_TABLE, transactional_ddl=False)
    context.run_migrations()
