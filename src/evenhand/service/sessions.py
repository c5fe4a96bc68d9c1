"""Sessions of the pages: a token exchanged for a cookie, and a CSRF value.

The cookie holds 256 random bits; the database stores their digest, the digest of the token, and when the session ends.
The CSRF value is derived from the cookie's secret: another site can make a browser send the cookie, but reads neither.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select

from evenhand.ledger.tables import sessions
from evenhand.service.problems import Problem
from evenhand.service.tokens import digest_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.ledger.ledger import Ledger

COOKIE = "evenhand_session"
CSRF_HEADER = b"x-csrf-token"
SESSION_SECONDS = 12 * 3600.0
"""From signing in to having to sign in again: a long working day."""
CACHE_SECONDS = 5.0
"""Time until signing out in one process takes effect in others."""
MAX_CACHED = 10_000
MAX_SESSIONS = 100
"""Sessions of one token; the next one ends the oldest, so that nobody can fill the database by signing in."""
KEPT_SECONDS = 24 * 3600.0
"""How long an ended session is remembered: whoever still has its cookie is not taken for somebody who guesses."""
NOT_SIGNED_IN = "you are not signed in any more; sign in again"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

Session = tuple[str, float]
"""The digest of the token, and when the session ends (seconds since 1970)."""


class Sessions:
    """Sessions in the ledger's database, cached for some seconds."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._cache: dict[str, tuple[Session | None, float]] = {}

    async def token_of(self, secret: str, headers: Mapping[bytes, bytes], method: str) -> str | None:
        """The digest of the token that a session was begun with; None if there is no such session.

        A Problem if it ended or the CSRF value is missing.
        """
        session = await self._find(digest_of(secret))
        if session is None:
            return None
        if session[1] < time.time():
            raise Problem("unauthorized", NOT_SIGNED_IN)
        sent = headers.get(CSRF_HEADER, b"").decode("latin-1")
        if method not in SAFE_METHODS and not hmac.compare_digest(sent.encode(), csrf_of(secret).encode()):
            # The member csrf lets a page notice that somebody signed in again elsewhere.
            raise Problem("forbidden", "this request by cookie needs the header X-CSRF-Token", csrf=True)
        return session[0]

    async def _find(self, digest: str) -> Session | None:
        session, read_at = self._cache.get(digest, (None, float("-inf")))
        if time.monotonic() - read_at > CACHE_SECONDS:
            session = await asyncio.to_thread(self._read, digest)
            if len(self._cache) >= MAX_CACHED:
                self._cache.clear()
            self._cache[digest] = (session, time.monotonic())
        return session

    def _read(self, digest: str) -> Session | None:
        query = select(sessions.c.token, sessions.c.expires).where(sessions.c.digest == digest)
        with self._ledger.transaction() as connection:
            row = connection.execute(query).first()
        return None if row is None else (str(row[0]), float(row[1]))

    async def begin(self, token_digest: str) -> str:
        """Begin a session; its secret goes into the cookie. The token's oldest one ends if it has too many."""
        secret = secrets.token_urlsafe(32)

        def add() -> None:
            values = {"digest": digest_of(secret), "token": token_digest, "expires": time.time() + SESSION_SECONDS}
            with self._ledger.transaction(writes=True) as connection:
                connection.execute(delete(sessions).where(sessions.c.expires < time.time() - KEPT_SECONDS))
                connection.execute(insert(sessions).values(values))
                own = sessions.c.token == token_digest
                newest = select(sessions.c.digest).where(own).order_by(sessions.c.expires.desc()).limit(MAX_SESSIONS)
                connection.execute(delete(sessions).where(own, sessions.c.digest.not_in(newest)))

        await asyncio.to_thread(add)
        return secret

    async def end(self, secret: str) -> None:
        """End the session with this secret."""
        digest = digest_of(secret)

        def remove() -> None:
            with self._ledger.transaction(writes=True) as connection:
                connection.execute(delete(sessions).where(sessions.c.digest == digest))

        await asyncio.to_thread(remove)
        self._cache.pop(digest, None)


def secret_in(headers: Mapping[bytes, bytes]) -> str | None:
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
    """What a page sends in the header X-CSRF-Token."""
    return digest_of(f"csrf {secret}")


def cookie_of(secret: str, *, secure: bool) -> str:
    """The Set-Cookie header for a session; an empty secret removes the cookie."""
    age = int(SESSION_SECONDS) if secret else 0
    end = "; Secure" if secure else ""
    return f"{COOKIE}={secret}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict{end}"
