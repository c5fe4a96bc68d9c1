"""The first tables: desks, append-only events, snapshots, waiting pairs, tokens."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

REFUSED = "the ledger is append-only: no event is changed or removed"


def upgrade() -> None:
    """Create all tables."""
    _make_ledger()
    _make_indexes()
    _make_what_is_derived()
    _make_tokens()
    _refuse_changes()


def _make_ledger() -> None:
    op.create_table(
        "desks",
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("decisions", sa.BigInteger, nullable=False),
        sa.Column("settings", sa.BigInteger, nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("desk", sa.String(200), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("target", sa.String(40)),
        sa.Column("number", sa.BigInteger),
        sa.Column("undoes", sa.BigInteger),
        sa.Column("key", sa.String(200)),
        sa.Column("fingerprint", sa.String(32)),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("previous", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )


def _make_indexes() -> None:
    op.create_index("events_id", "events", ["id"], unique=True)
    for name, columns, where, unique in (
        ("events_key", ["desk", "key"], "key IS NOT NULL", True),
        ("events_number", ["desk", "number"], "number IS NOT NULL", True),
        ("events_target", ["desk", "target"], "target IS NOT NULL", False),
        ("events_undoes", ["desk", "seq", "undoes"], "undoes IS NOT NULL", False),
        ("events_kind", ["desk", "kind", "seq"], "kind <> 'decision'", False),
        ("events_learned", ["desk", "seq"], "kind <> 'decision'", False),
    ):
        op.create_index(
            name, "events", columns, unique=unique, sqlite_where=sa.text(where), postgresql_where=sa.text(where)
        )


def _make_what_is_derived() -> None:
    op.create_table(
        "snapshots",
        sa.Column("desk", sa.String(200), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.Column("blob", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "waiting_pairs",
        sa.Column("desk", sa.String(200), primary_key=True),
        sa.Column("decision", sa.String(40), primary_key=True),
        sa.Column("first_id", sa.String(200), primary_key=True),
        sa.Column("second_id", sa.String(200), primary_key=True),
        sa.Column("place", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("priority", sa.Double, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("gap", sa.Double, nullable=False),
        sa.Column("distance", sa.Double, nullable=False),
        sa.Column("doubt", sa.Double, nullable=False),
        sa.Column("chance_unfair", sa.Double, nullable=False),
        sa.Column("leased_to", sa.String(200)),
        sa.Column("leased_until", sa.Double, nullable=False),
        sa.Column("not_for", sa.Text),
    )
    op.create_index("waiting_pairs_order", "waiting_pairs", ["desk", "priority", "decision", "first_id"])
    leased = sa.text("leased_to IS NOT NULL")
    op.create_index(
        "waiting_pairs_leases", "waiting_pairs", ["desk", "leased_to"], sqlite_where=leased, postgresql_where=leased
    )


def _make_tokens() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("roles", sa.Text, nullable=False),
        sa.Column("desks", sa.Text),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("revoked", sa.String(32)),
        sa.UniqueConstraint("name", name="tokens_name"),
        sa.UniqueConstraint("digest", name="tokens_digest"),
    )


def _refuse_changes() -> None:
    if op.get_bind().dialect.name == "sqlite":
        for what in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER events_no_{what.lower()} BEFORE {what} ON events "
                f"BEGIN SELECT RAISE(ABORT, '{REFUSED}'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION evenhand_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{REFUSED}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER events_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON events "
        "FOR EACH STATEMENT EXECUTE FUNCTION evenhand_refuse()"
    )
