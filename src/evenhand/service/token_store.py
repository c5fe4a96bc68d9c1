"""TokenStore: tokens in the ledger's database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from evenhand.errors import InvalidInput
from evenhand.ledger.ledger import open_ledger
from evenhand.ledger.tables import tokens
from evenhand.service.tokens import Token, UnknownToken

if TYPE_CHECKING:
    from evenhand.ledger.ledger import Ledger


class TokenStore:
    """Tokens in a table of the ledger's database. Methods block."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def add(self, token: Token) -> None:
        """Store a new token; InvalidInput if its name is taken."""
        desks = None if token.desks is None else _listed(token.desks)
        row = {**vars(token), "roles": _listed(token.roles), "desks": desks}
        try:
            with self._ledger.transaction(writes=True) as connection:
                connection.execute(insert(tokens).values(row))
        except Exception as error:
            if isinstance(error, IntegrityError) or isinstance(error.__cause__, IntegrityError):
                raise InvalidInput(
                    f"the name must be new, got {token.name!r}; names of revoked tokens stay taken"
                ) from None
            raise

    def revoke(self, name: str, time: str) -> Token:
        """Revoke the token with this name or id, if it is not revoked; UnknownToken if there is none."""
        named = or_(tokens.c.name == name, tokens.c.id == name)
        with self._ledger.transaction(writes=True) as connection:
            connection.execute(update(tokens).where(named, tokens.c.revoked.is_(None)).values(revoked=time))
            row = connection.execute(select(tokens).where(named)).mappings().first()
        if row is None:
            raise UnknownToken(f"there is no token {name!r}")
        return _token(row)

    def all(self) -> list[Token]:
        """All tokens, revoked ones too, the oldest first."""
        with self._ledger.transaction() as connection:
            rows = connection.execute(select(tokens).order_by(tokens.c.created, tokens.c.id)).mappings().all()
        return [_token(row) for row in rows]


def _listed(names: tuple[str, ...]) -> str:
    return orjson.dumps(names).decode()


def _token(row: Any) -> Token:
    desks = None if row["desks"] is None else tuple(orjson.loads(row["desks"]))
    return Token(**{**row, "roles": tuple(orjson.loads(row["roles"])), "desks": desks})


@contextmanager
def open_tokens(url: str, *, make: bool = True) -> Iterator[TokenStore]:
    """The tokens in the database at a URL; make: whether to create the database."""
    ledger = open_ledger(url, make=make)
    try:
        yield TokenStore(ledger)
    finally:
        ledger.close()
