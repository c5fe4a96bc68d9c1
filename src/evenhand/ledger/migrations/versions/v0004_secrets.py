"""The lottery's secrets; tokens that expire or are rotated; idempotency keys that owners may use again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

WITH_KEY = sa.text("key IS NOT NULL")


def upgrade() -> None:
    """Create a table, add columns, and make the index of idempotency keys one of several events."""
    op.create_table(
        "lottery_secrets",
        sa.Column("desk", sa.String(200), primary_key=True),
        sa.Column("secret", sa.LargeBinary, nullable=False),
    )
    op.add_column("tokens", sa.Column("expires", sa.String(32)))
    op.add_column("tokens", sa.Column("old_digest", sa.String(64)))
    op.add_column("tokens", sa.Column("old_until", sa.String(32)))
    op.drop_index("events_key", "events")
    op.create_index("events_key", "events", ["desk", "key"], sqlite_where=WITH_KEY, postgresql_where=WITH_KEY)
