"""Sessions: a token exchanged for a cookie, and a second value against requests that another site makes a browser send.

The cookie holds 256 random bits; the database their digest, the digest of the token, and when it ends. What a page must
send back in a header with whatever changes something is derived from the cookie's secret: a page elsewhere can make a
browser send the cookie, but read neither.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import delete, insert, select

from evenhand.ledger.ledger import Ledger
from evenhand.ledger.tables import sessions
from evenhand.service.access import Access, Headers
from evenhand.service.asked import Caller
from evenhand.service.problems import Problem
from evenhand.service.tokens import digest_of

if TYPE_CHECKING:
    from evenhand.service.settings import Settings

COOKIE = "evenhand_session"
CSRF_HEADER = b"x-csrf-token"
LASTS = 12 * 3600.0
"""Seconds from signing in to having to do it again: a long working day."""
BELIEVED = 5.0
"""Seconds for which a session that was read is not read again: signing out elsewhere holds after that."""
MOST_KEPT = 10_000
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

Kept = tuple[str, float]
"""The digest of the token, and when the session ends (seconds since 1970)."""


class SessionStore(Protocol):
    """Where sessions are kept, by the digest of their secret."""

    def add(self, digest: str, kept: Kept) -> None:
        """Keep one; those that have ended are dropped."""

    def get(self, digest: str) -> Kept | None:
        """One, if it is there."""

    def remove(self, digest: str) -> None:
        """End one."""


class SqlSessions:
    """Sessions in a ledger's database, for all processes of a service."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def add(self, digest: str, kept: Kept) -> None:
        """Keep one."""
        with self._ledger.transaction(writes=True) as connection:
            connection.execute(delete(sessions).where(sessions.c.expires < time.time()))
            connection.execute(insert(sessions).values(digest=digest, token=kept[0], expires=kept[1]))

    def get(self, digest: str) -> Kept | None:
        """One, if it is there."""
        wanted = select(sessions.c.token, sessions.c.expires).where(sessions.c.digest == digest)
        with self._ledger.transaction() as connection:
            row = connection.execute(wanted).first()
        return None if row is None else (str(row[0]), float(row[1]))

    def remove(self, digest: str) -> None:
        """End one."""
        with self._ledger.transaction(writes=True) as connection:
            connection.execute(delete(sessions).where(sessions.c.digest == digest))


def session_store_of(ledger: Ledger) -> SessionStore:
    """The sessions that are kept beside a ledger."""
    return SqlSessions(ledger)


class Sessions:
    """Finds out who sends a request: by the token in its header, or else by its cookie."""

    def __init__(self, ledger: Ledger, access: Access, settings: Settings) -> None:
        self._store, self._access, self._tokens = session_store_of(ledger), access, settings.tokens
        self._read: dict[str, tuple[Kept | None, float]] = {}

    async def caller(self, headers: Headers, method: str, address: str | None = None) -> Caller:
        """Whoever sends this; a Problem if that is nobody, or if a page elsewhere may have made a browser send it."""
        secret = secret_in(headers) if self._tokens and b"authorization" not in headers else None
        if secret is None:
            return await self._access.caller(headers, address)
        kept = await self._kept(digest_of(secret))
        if kept is None or kept[1] < time.time():
            raise Problem("unauthorized", "you are not signed in any more; sign in again")
        given = headers.get(CSRF_HEADER, b"").decode("latin-1")
        if method not in SAFE and not hmac.compare_digest(given.encode(), csrf_of(secret).encode()):
            needed = "a request by cookie that changes something needs the header X-CSRF-Token"
            raise Problem("forbidden", needed, csrf=True)  # by which a page knows that another sign-in has a new one
        return await self._access.holder(kept[0])

    async def _kept(self, digest: str) -> Kept | None:
        kept, read_at = self._read.get(digest, (None, float("-inf")))
        if time.monotonic() - read_at > BELIEVED:
            kept = await asyncio.to_thread(self._store.get, digest)
            if len(self._read) >= MOST_KEPT:
                self._read.clear()
            self._read[digest] = (kept, time.monotonic())
        return kept

    async def begin(self, token: str, address: str | None = None) -> tuple[str, Caller]:
        """The secret for a new cookie, and who signed in; a Problem if the token is none."""
        digest = digest_of(token.strip())
        caller = await self._access.holder_at(address, digest)
        secret = secrets.token_urlsafe(32)
        await asyncio.to_thread(self._store.add, digest_of(secret), (digest, time.time() + LASTS))
        return secret, caller

    async def end(self, headers: Headers) -> None:
        """Sign out whoever sent this, if they came by cookie."""
        secret = secret_in(headers)
        if secret is not None:
            await asyncio.to_thread(self._store.remove, digest_of(secret))
            self._read.pop(digest_of(secret), None)


def secret_in(headers: Headers) -> str | None:
    """The session's secret in a request's cookies.

    >>> secret_in({b"cookie": b"a=1; evenhand_session=xyz"})
    'xyz'
    """
    for part in headers.get(b"cookie", b"").decode("latin-1").split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE and value:
            return value
    return None


def csrf_of(secret: str) -> str:
    """What a page sends back in the header X-CSRF-Token."""
    return digest_of(f"csrf {secret}")


def cookie_of(secret: str, *, secure: bool) -> bytes:
    """The Set-Cookie header for a session; an empty secret ends it."""
    lasts = int(LASTS) if secret else 0
    end = "; Secure" if secure else ""
    return f"{COOKIE}={secret}; Path=/; Max-Age={lasts}; HttpOnly; SameSite=Strict{end}".encode()
