"""Tables of the pages: sessions, and people for interviews."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create two tables."""
    op.create_table(
        "sessions",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("token", sa.String(64), nullable=False),
        sa.Column("expires", sa.Double, nullable=False),
    )
    op.create_table(
        "interview_people",
        sa.Column("desk", sa.String(200), primary_key=True),
        sa.Column("kept", sa.String(32), nullable=False),
        sa.Column("rows", sa.Text, nullable=False),
    )
