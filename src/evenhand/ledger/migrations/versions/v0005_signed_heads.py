"""Signed heads, which are append-only as events are, and tiles of the Merkle trees over events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from evenhand.ledger.service_stream import begin

revision = "0005"
down_revision = "0004"

REFUSED = "signed heads are append-only: none is changed or removed"


def upgrade() -> None:
    """Create two tables, and record the tokens there are: they were recorded nowhere."""
    op.create_table(
        "tree_tiles",
        sa.Column("desk", sa.String(200), primary_key=True),
        sa.Column("level", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("position", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("hashes", sa.LargeBinary, nullable=False),
        sa.Column("root", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "signed_heads",
        sa.Column("desk", sa.String(200), primary_key=True),
        sa.Column("size", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("line", sa.Text, nullable=False),
    )
    _refuse_changes()
    if op.get_bind().exec_driver_sql("SELECT 1 FROM tokens LIMIT 1").fetchone() is not None:
        begin(op.get_bind())


def _refuse_changes() -> None:
    if op.get_bind().dialect.name == "sqlite":
        for what in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER signed_heads_no_{what.lower()} BEFORE {what} ON signed_heads "
                f"BEGIN SELECT RAISE(ABORT, '{REFUSED}'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION evenhand_refuse_heads() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{REFUSED}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER signed_heads_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON signed_heads "
        "FOR EACH STATEMENT EXECUTE FUNCTION evenhand_refuse_heads()"
    )
