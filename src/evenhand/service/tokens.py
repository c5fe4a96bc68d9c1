"""Bearer tokens: a secret that is shown once and kept as a hash, with roles, for some desks or all."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from evenhand.errors import EvenhandError, InvalidInput

ROLES = ("decide", "review", "admin")
PREFIX = "eh_"
LONGEST_NAME = 100
OWN_NAMES = ("admin", "metrics", "local")
"""Actors of tokens that come with the service's settings, and of a service without tokens."""


class UnknownToken(EvenhandError, KeyError):
    """A token that was never made."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Token:
    """What is known of a token; the secret itself is not."""

    id: str
    name: str
    """Who holds it: the actor in the ledger of all that is done with it. No two tokens have one name."""
    digest: str
    """SHA-256 of the secret. The secret has 256 random bits, so that a slow hash would add nothing."""
    roles: tuple[str, ...]
    desks: tuple[str, ...] | None
    """The desks it is for; None for all there are and will be."""
    created: str
    revoked: str | None = None


class TokenStore(Protocol):
    """Where tokens are kept."""

    def add(self, token: Token) -> None:
        """Keep a new one; InvalidInput if its name is taken."""

    def revoke(self, name: str, time: str) -> Token:
        """From now on it opens nothing; UnknownToken if there is none of this name or id."""

    def all(self) -> list[Token]:
        """All that were ever made, the oldest first."""


def digest_of(secret: str | bytes) -> str:
    """How a secret is kept and looked up."""
    return hashlib.sha256(secret.encode() if isinstance(secret, str) else secret).hexdigest()


def now() -> str:
    """The time, UTC."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def new_token(name: str, roles: Iterable[str], desks: Iterable[str] | None = None) -> tuple[Token, str]:
    """A token and its secret, which is to be shown once.

    >>> token, secret = new_token("intake", ["decide"], ["loans"])
    >>> token.digest == digest_of(secret), secret.startswith("eh_")
    (True, True)
    """
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise InvalidInput(f"the name {name!r} does not fit; allowed are 1 to {LONGEST_NAME} printable characters")
    if name.casefold() in OWN_NAMES:
        raise InvalidInput(f"the name {name!r} is the service's own; {', '.join(OWN_NAMES)} are not allowed as names")
    held = tuple(role for role in ROLES if role in set(roles))
    unknown = set(roles) - set(ROLES)
    if unknown or not held:
        raise InvalidInput(f"the roles are {sorted(set(roles))}; allowed are one or more of {', '.join(ROLES)}")
    scope = None if desks is None else tuple(sorted(set(desks)))
    if scope == ():
        raise InvalidInput("the token is for no desk; name desks, or none at all for every desk")
    secret = PREFIX + secrets.token_urlsafe(32)
    return Token(f"tok_{secrets.token_hex(8)}", name, digest_of(secret), held, scope, now()), secret


class MemoryTokens:
    """Tokens of a service that keeps nothing."""

    def __init__(self) -> None:
        self._tokens: dict[str, Token] = {}

    def add(self, token: Token) -> None:
        """Keep a new one."""
        if token.name in self._tokens:
            raise name_taken(token.name)
        self._tokens[token.name] = token

    def revoke(self, name: str, time: str) -> Token:
        """Put an end to one."""
        for token in self._tokens.values():
            if name in (token.name, token.id):
                ended = Token(**{**vars(token), "revoked": token.revoked or time})
                self._tokens[token.name] = ended
                return ended
        raise UnknownToken(f"there is no token {name!r}")

    def all(self) -> list[Token]:
        """All of them, in the order they were made in."""
        return list(self._tokens.values())


def name_taken(name: str) -> InvalidInput:
    """The error for a second token of one name."""
    return InvalidInput(f"there is a token {name!r} already; a name is used once, also after the token was revoked")
