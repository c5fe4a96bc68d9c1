"""Bearer tokens: a secret that is shown once and stored as a hash in the ledger's database, with roles and desks."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from evenhand.errors import EvenhandError, InvalidInput
from evenhand.ledger.event import now
from evenhand.ledger.ledger import open_ledger
from evenhand.ledger.service_stream import record_token
from evenhand.ledger.tables import tokens
from evenhand.service.settings import ROLES

if TYPE_CHECKING:
    from evenhand.ledger.ledger import Ledger

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
    expires: str | None = None
    """When it stops working; None for never."""
    old_digest: str | None = None
    """That of the secret before the last rotation, which works until `old_until`."""
    old_until: str | None = None

    def is_valid(self, moment: str) -> bool:
        """Whether the token works at a moment, given as `now` gives it."""
        return self.revoked is None and (self.expires is None or moment < self.expires)

    @property
    def secrets(self) -> dict[str, str | None]:
        """The digests of its secrets, and until when each works."""
        old = {} if self.old_digest is None else {self.old_digest: _earlier(self.old_until, self.expires)}
        return {self.digest: self.expires, **old}


def digest_of(secret: str | bytes) -> str:
    """How a secret is stored and looked up."""
    return hashlib.sha256(secret.encode() if isinstance(secret, str) else secret).hexdigest()


def _earlier(*moments: str | None) -> str | None:
    return min((moment for moment in moments if moment is not None), default=None)


def new_token(
    name: str, roles: Iterable[str], desks: Iterable[str] | None = None, expires: str | None = None
) -> tuple[Token, str]:
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
    _check_later(expires)
    secret = new_secret()
    ordered = tuple(role for role in ROLES if role in wanted)
    return Token(f"tok_{secrets.token_hex(8)}", name, digest_of(secret), ordered, scope, now(), expires=expires), secret


def new_secret() -> str:
    """A secret of 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def _check_later(expires: str | None) -> None:
    if expires is not None and expires <= now():
        raise InvalidInput(f"expires must be in the future, got {expires}")


class TokenStore:
    """Tokens in a table of the ledger's database. Methods block."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def add(self, token: Token) -> None:
        """Store a new token; InvalidInput if its name is taken."""
        desks = None if token.desks is None else orjson.dumps(token.desks).decode()
        row = {**vars(token), "roles": orjson.dumps(token.roles).decode(), "desks": desks}
        try:
            with self._ledger.transaction(writes=True) as connection:
                connection.execute(insert(tokens).values(row))
                record_token(connection, token.id)
        except IntegrityError:
            raise InvalidInput(
                f"the name must be new, got {token.name!r}; names of revoked tokens stay taken"
            ) from None

    def revoke(self, name: str, time: str) -> Token:
        """Revoke the token with this name or id, if it is not revoked; UnknownToken if there is none."""
        named = or_(tokens.c.name == name, tokens.c.id == name)
        with self._ledger.transaction(writes=True) as connection:
            changed = connection.execute(update(tokens).where(named, tokens.c.revoked.is_(None)).values(revoked=time))
            row = connection.execute(select(tokens).where(named)).mappings().first()
            if row is not None and changed.rowcount:
                record_token(connection, row["id"])
        if row is None:
            raise UnknownToken(f"there is no token {name!r}")
        return _token(row)

    def rotate(self, name: str, old_until: str, expires: str | None = None) -> tuple[Token, str]:
        """A new secret for a token, shown once; the one before works until `old_until`, any older one no more.

        expires: when the token stops working; None to leave that as it is. UnknownToken if there is no such token.
        """
        _check_later(expires)
        secret, named = new_secret(), or_(tokens.c.name == name, tokens.c.id == name)
        with self._ledger.transaction(writes=True) as connection:
            row = connection.execute(select(tokens).where(named)).mappings().first()
            if row is None:
                raise UnknownToken(f"there is no token {name!r}")
            before = _token(row)
            if before.revoked is not None:
                raise InvalidInput(f"token {before.name!r} was revoked; create another one")
            if expires is None and not before.is_valid(now()):
                raise InvalidInput(f"token {before.name!r} expired at {before.expires}; pass a new expires")
            after = replace(
                before,
                digest=digest_of(secret),
                expires=expires or before.expires,
                old_digest=before.digest,
                old_until=_earlier(old_until, before.expires),
            )
            changed = {name: getattr(after, name) for name in ("digest", "expires", "old_digest", "old_until")}
            connection.execute(update(tokens).where(tokens.c.id == before.id).values(changed))
            record_token(connection, before.id)
        return after, secret

    def all(self) -> list[Token]:
        """All tokens, revoked ones too, the oldest first."""
        with self._ledger.transaction() as connection:
            rows = connection.execute(select(tokens).order_by(tokens.c.created, tokens.c.id)).mappings().all()
        return [_token(row) for row in rows]


def _token(row: Any) -> Token:
    desks = None if row["desks"] is None else tuple(orjson.loads(row["desks"]))
    return Token(**{**row, "roles": tuple(orjson.loads(row["roles"])), "desks": desks})


@contextmanager
def open_tokens(url: str, *, make: bool = True) -> Iterator[TokenStore]:
    """The tokens in the database at a URL; make: whether to create the database."""
    with closing(open_ledger(url, make=make)) as ledger:
        yield TokenStore(ledger)
