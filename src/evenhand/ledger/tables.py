"""The tables of a ledger's database, as they are now; `migrations` makes them, step by step."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, Index, LargeBinary, MetaData, String, Table, Text, UniqueConstraint
from sqlalchemy.sql import text

metadata = MetaData()

desks = Table(
    "desks",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("hash", String(64), nullable=False),
    Column("decisions", BigInteger, nullable=False),
    Column("settings", BigInteger, nullable=False),
    Column("created", String(32), nullable=False),
)
"""Where each desk's ledger stands; the only row that ever changes, and what is locked to write."""

events = Table(
    "events",
    metadata,
    Column("desk", String(200), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("id", String(40), nullable=False),
    Column("kind", String(12), nullable=False),
    Column("target", String(40)),
    Column("number", BigInteger),
    Column("undoes", BigInteger),
    Column("key", String(200)),
    Column("fingerprint", String(32)),
    Column("text", Text, nullable=False),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
)
"""The lines of all ledgers. Only added to: triggers refuse UPDATE and DELETE.

SQLite's INSERT OR REPLACE passes them by, which `verify` tells. A trigger on INSERT could refuse that; but with
one there, whatever it does, SQLite gathers the rows of an INSERT aside first, and adding 32 lines takes a tenth longer.
"""

# Most lines are decisions; indexes on what they do not have leave them out, and cost them nothing.
for _name, _columns, _where, _unique in (
    ("events_id", ("id",), None, True),
    ("events_key", ("desk", "key"), "key IS NOT NULL", True),
    ("events_number", ("desk", "number"), "number IS NOT NULL", True),
    ("events_target", ("desk", "target"), "target IS NOT NULL", False),
    ("events_undoes", ("desk", "seq", "undoes"), "undoes IS NOT NULL", False),
    ("events_kind", ("desk", "kind", "seq"), "kind <> 'decision'", False),
    ("events_learned", ("desk", "seq"), "kind <> 'decision'", False),
):
    Index(
        _name,
        *(events.c[column] for column in _columns),
        unique=_unique,
        sqlite_where=None if _where is None else text(_where),
        postgresql_where=None if _where is None else text(_where),
    )

snapshots = Table(
    "snapshots",
    metadata,
    Column("desk", String(200), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("until", BigInteger, nullable=False),
    Column("blob", LargeBinary, nullable=False),
)

waiting_pairs = Table(
    "waiting_pairs",
    metadata,
    Column("desk", String(200), primary_key=True),
    Column("decision", String(40), primary_key=True),
    Column("first_id", String(200), primary_key=True),
    Column("second_id", String(200), primary_key=True),
    Column("place", BigInteger, primary_key=True, autoincrement=False),
    Column("priority", Double, nullable=False),
    Column("reason", Text, nullable=False),
    Column("gap", Double, nullable=False),
    Column("distance", Double, nullable=False),
    Column("doubt", Double, nullable=False),
    Column("chance_unfair", Double, nullable=False),
    Column("leased_to", String(200)),
    Column("leased_until", Double, nullable=False),
    Column("not_for", Text),
)
Index("waiting_pairs_order", *(waiting_pairs.c[column] for column in ("desk", "priority", "decision", "first_id")))
Index(
    "waiting_pairs_leases",
    waiting_pairs.c.desk,
    waiting_pairs.c.leased_to,
    sqlite_where=text("leased_to IS NOT NULL"),
    postgresql_where=text("leased_to IS NOT NULL"),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", String(200), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("roles", Text, nullable=False),
    Column("desks", Text),
    Column("created", String(32), nullable=False),
    Column("revoked", String(32)),
    UniqueConstraint("name", name="tokens_name"),
    UniqueConstraint("digest", name="tokens_digest"),
)
"""Who may do what, for the service: digests of secrets; roles and desks as JSON lists, no list of desks for all."""

sessions = Table(
    "sessions",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("token", String(64), nullable=False),
    Column("expires", Double, nullable=False),
)
"""Who is signed in on the pages: digests of the cookie's secret and of the token it stands for."""

interview_people = Table(
    "interview_people",
    metadata,
    Column("desk", String(200), primary_key=True),
    Column("kept", String(32), nullable=False),
    Column("rows", Text, nullable=False),
)
"""People that an interview asks about, where they were uploaded: a JSON list of features by name."""

service_keys = Table(
    "service_keys",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("key", LargeBinary, nullable=False),
)
"""Random keys of the service's own, by purpose; migrations create them."""

REVIEW_KEY = "review"
"""Encrypts what browsers hold while a pair is reviewed."""
