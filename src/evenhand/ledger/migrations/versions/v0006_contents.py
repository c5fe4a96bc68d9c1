"""Contents of events beside their text, encrypted with a key for each person."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the column; create the table of keys, which are destroyed when a person is erased."""
    op.add_column("events", sa.Column("contents", sa.LargeBinary))
    op.create_table(
        "person_keys",
        sa.Column("desk", sa.String(200), primary_key=True),
        sa.Column("person", sa.String(200), primary_key=True),
        sa.Column("since", sa.BigInteger, nullable=False),
        sa.Column("key", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
