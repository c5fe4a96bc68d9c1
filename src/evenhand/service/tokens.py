"""Bearer tokens: a secret that is shown once and stored as a hash, with roles, for some desks or all."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from evenhand.errors import EvenhandError, InvalidInput

ROLES = ("decide", "review", "admin")
PREFIX = "eh_"
MAX_NAME = 100
RESERVED = ("admin", "metrics", "local")
"""Actors of tokens from the service's settings, and of a service without tokens."""


class UnknownToken(EvenhandError, KeyError):
    """A token that does not exist."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Token:
    """A stored token, without its secret."""

    id: str
    name: str
    """Who holds it: the actor in the ledger. Names are unique."""
    digest: str
    """SHA-256 of the secret, which has 256 random bits: a slow hash would add nothing."""
    roles: tuple[str, ...]
    desks: tuple[str, ...] | None
    """The desks it is for; None for all."""
    created: str
    revoked: str | None = None


def digest_of(secret: str | bytes) -> str:
    """How a secret is stored and looked up."""
    return hashlib.sha256(secret.encode() if isinstance(secret, str) else secret).hexdigest()


def now() -> str:
    """The time, UTC."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def new_token(name: str, roles: Iterable[str], desks: Iterable[str] | None = None) -> tuple[Token, str]:
    """A token and its secret, to be shown once.

    >>> token, secret = new_token("intake", ["decide"], ["loans"])
    >>> token.digest == digest_of(secret), secret.startswith("eh_")
    (True, True)
    """
    if not 1 <= len(name) <= MAX_NAME or not name.isprintable() or name != name.strip():
        raise InvalidInput(f"the name must be 1 to {MAX_NAME} printable characters, got {name!r}")
    if name.casefold() in RESERVED:
        raise InvalidInput(f"the name must not be one of {', '.join(RESERVED)}, got {name!r}")
    wanted = set(roles)
    if not wanted or wanted - set(ROLES):
        raise InvalidInput(f"roles must be one or more of {', '.join(ROLES)}, got {sorted(wanted)}")
    scope = None if desks is None else tuple(sorted(set(desks)))
    if scope == ():
        raise InvalidInput("desks must name one desk or more, or be None for all, got none")
    secret = PREFIX + secrets.token_urlsafe(32)
    ordered = tuple(role for role in ROLES if role in wanted)
    return Token(f"tok_{secrets.token_hex(8)}", name, digest_of(secret), ordered, scope, now()), secret
