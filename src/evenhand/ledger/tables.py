"""The tables beside the ledger, by the names of their columns; `migrations` says what they are."""

from __future__ import annotations

from sqlalchemy import TableClause, column, table


def _table(name: str, columns: str) -> TableClause:
    return table(name, *map(column, columns.split()))


tokens = _table("tokens", "id name digest roles desks created revoked expires old_digest old_until")
"""Access tokens of the service: digests of secrets; roles and desks as JSON lists, NULL for all desks. After a
rotation the secret before it works until `old_until`."""

sessions = _table("sessions", "digest token expires")
"""Sessions of the pages: digests of the cookie's secret and of its token."""

interview_people = _table("interview_people", "desk kept rows")
"""People uploaded for interviews: a JSON list of features by name."""

service_keys = _table("service_keys", "name key")
"""Random keys of the service's own, by purpose; created when first needed."""

REVIEW_KEY = "review"
"""Encrypts what browsers hold while a pair is reviewed."""

SIGNING_KEY = "signing"
"""Signs heads, unless a secret is given."""
lottery_secrets = _table("lottery_secrets", "desk secret")
"""From which the keys of a desk's draws are derived; see `desk.lottery`."""
