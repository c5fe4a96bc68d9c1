"""The tables beside the ledger, for SQLAlchemy; `migrations` creates them and those of the ledger itself."""

from __future__ import annotations

from sqlalchemy import Column, Double, LargeBinary, MetaData, String, Table, Text, UniqueConstraint

metadata = MetaData()

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
"""Access tokens of the service: digests of secrets; roles and desks as JSON lists, NULL for all desks."""

sessions = Table(
    "sessions",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("token", String(64), nullable=False),
    Column("expires", Double, nullable=False),
)
"""Sessions of the pages: digests of the cookie's secret and of its token."""

interview_people = Table(
    "interview_people",
    metadata,
    Column("desk", String(200), primary_key=True),
    Column("kept", String(32), nullable=False),
    Column("rows", Text, nullable=False),
)
"""People uploaded for interviews: a JSON list of features by name."""

service_keys = Table(
    "service_keys",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("key", LargeBinary, nullable=False),
)
"""Random keys of the service's own, by purpose; created when first needed."""

REVIEW_KEY = "review"
"""Encrypts what browsers hold while a pair is reviewed."""
