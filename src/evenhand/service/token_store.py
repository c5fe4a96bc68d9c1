"""Where tokens are kept: beside the ledgers, in the same database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson
from sqlalchemy import insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from evenhand.ledger.ledger import Ledger, open_ledger
from evenhand.ledger.tables import tokens
from evenhand.service.tokens import Token, TokenStore, UnknownToken, name_taken


class SqlTokens:
    """Tokens in the table of a ledger's database."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def add(self, token: Token) -> None:
        """Keep a new one; InvalidInput if its name is taken."""
        desks = None if token.desks is None else _listed(token.desks)
        row = {**vars(token), "roles": _listed(token.roles), "desks": desks}
        try:
            with self._ledger.transaction(writes=True) as connection:
                connection.execute(insert(tokens).values(row))
        except Exception as error:
            if isinstance(error, IntegrityError) or isinstance(error.__cause__, IntegrityError):
                raise name_taken(token.name) from None
            raise

    def revoke(self, name: str, time: str) -> Token:
        """Put an end to the one of this name or id; one that was revoked before stays as it is."""
        named = or_(tokens.c.name == name, tokens.c.id == name)
        with self._ledger.transaction(writes=True) as connection:
            connection.execute(update(tokens).where(named, tokens.c.revoked.is_(None)).values(revoked=time))
            row = connection.execute(select(tokens).where(named)).mappings().first()
        if row is None:
            raise UnknownToken(f"there is no token {name!r}")
        return _token(row)

    def all(self) -> list[Token]:
        """All that were ever made, the oldest first."""
        with self._ledger.transaction() as connection:
            rows = connection.execute(select(tokens).order_by(tokens.c.created, tokens.c.id)).mappings().all()
        return [_token(row) for row in rows]


def _listed(names: tuple[str, ...]) -> str:
    return orjson.dumps(names).decode()


def _token(row: Any) -> Token:
    desks = None if row["desks"] is None else tuple(orjson.loads(row["desks"]))
    return Token(**{**row, "roles": tuple(orjson.loads(row["roles"])), "desks": desks})


def token_store_of(ledger: Ledger) -> TokenStore:
    """The tokens that are kept beside a ledger."""
    return SqlTokens(ledger)


@contextmanager
def open_tokens(url: str, *, make: bool = True) -> Iterator[TokenStore]:
    """The tokens in the database at a URL, for as long as the block lasts; make: whether a new one may be made."""
    ledger = open_ledger(url, make=make)
    try:
        yield token_store_of(ledger)
    finally:
        ledger.close()
