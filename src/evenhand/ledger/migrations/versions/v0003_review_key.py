"""Keys of the service's own: one that encrypts what browsers hold while a pair is reviewed."""

from __future__ import annotations

import os

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the table with its first key."""
    table = op.create_table(
        "service_keys",
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("key", sa.LargeBinary, nullable=False),
    )
    op.bulk_insert(table, [{"name": "review", "key": os.urandom(32)}])
