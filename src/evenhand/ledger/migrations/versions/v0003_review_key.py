"""Keys of the service's own: one that encrypts what browsers hold while a pair is reviewed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the table; keys are created when they are first needed."""
    op.create_table(
        "service_keys",
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("key", sa.LargeBinary, nullable=False),
    )
