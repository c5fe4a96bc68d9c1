"""Who is asking, and whether they may: bearer tokens looked up in memory, roles, desks, and a rate for each token."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from evenhand.service.asked import Caller
from evenhand.service.bucket import Bucket
from evenhand.service.problems import Problem
from evenhand.service.tokens import Token, TokenStore, digest_of
from evenhand.service.wrong_tokens import WrongTokens

if TYPE_CHECKING:
    from evenhand.service.settings import Settings

__all__ = ["Access", "Caller", "Headers"]

Headers = Mapping[bytes, bytes]

STALE_SECONDS = 5.0
"""Tokens read longer ago than this are not believed any more."""
READ_SECONDS = 10.0
"""So long a request waits for them to be read, at most."""
ASK_AGAIN_SECONDS = 0.25
"""A token nobody knows makes the service look again, but not more often than this."""
LOOPBACK_HOSTS = (b"127.0.0.1", b"localhost", b"[::1]")

log = logging.getLogger(__name__)


Known = tuple[Caller, Bucket]


class Access:
    """Looks up who is asking. Tokens are held in memory and read again every second; no request waits for that."""

    def __init__(self, store: TokenStore, settings: Settings) -> None:
        self._store, self._settings = store, settings
        self._buckets: dict[str, Bucket] = {}
        self._fixed = self._fixed_callers()
        self._callers: dict[str, Known] = {}
        self._read_at = float("-inf")
        self._read: asyncio.Task[None] | None = None
        self._wrong = WrongTokens(settings.wrong_tokens)
        self._everybody = (Caller("local", ("admin",), token="local"), self._bucket("local"))

    def _bucket(self, name: str) -> Bucket:
        return self._buckets.setdefault(name, Bucket(self._settings.rate, self._settings.burst))

    def _fixed_callers(self) -> dict[str, Known]:
        named = {"admin": self._settings.admin_token, "metrics": self._settings.metrics_token}
        return {
            digest_of(secret): (Caller(name, (name,), token=name), self._bucket(name))
            for name, secret in named.items()
            if secret is not None
        }

    def refresh(self) -> None:
        """Read all tokens that are not revoked; blocks."""
        read_at = time.monotonic()
        self._callers = {token.digest: self._holder(token) for token in self._store.all() if token.revoked is None}
        self._read_at = read_at

    def _holder(self, token: Token) -> Known:
        return Caller(token.name, token.roles, token.desks, token.id), self._bucket(token.id)

    def _reading(self) -> asyncio.Future[None]:
        """Tokens being read: however many wait for it, and however long the database takes, one thread does it."""
        if self._read is None or self._read.done():
            self._read = asyncio.create_task(asyncio.to_thread(self.refresh))
            self._read.add_done_callback(lambda read: read.cancelled() or read.exception())  # somebody has seen it
        return asyncio.shield(self._read)

    async def keep_fresh(self) -> None:
        """Read the tokens again, if the database lets us."""
        try:
            await self._reading()
        except Exception as error:
            log.warning("tokens cannot be read", extra={"error": type(error).__name__})

    async def caller(self, headers: Headers, address: str | None = None) -> Caller:
        """Whoever sent a request with these headers, once their rate allows it; a Problem if that is nobody.

        address: where it came from, of which wrong tokens are counted.
        """
        if not self._settings.tokens:
            return self._allowed(self._somebody_local(headers))
        given = headers.get(b"authorization", b"")
        if given[:7].lower() != b"bearer ":
            raise _unauthorized()
        return await self.holder_at(address, digest_of(given[7:].strip()))

    def at_hand(self, headers: Headers) -> Caller | None:
        """The same for a bearer token without waiting; None, and nothing has happened, for whoever else it may be."""
        if not self._settings.tokens:
            return self._allowed(self._somebody_local(headers))
        given = headers.get(b"authorization", b"")
        if given[:7].lower() != b"bearer " or time.monotonic() - self._read_at > STALE_SECONDS:
            return None
        digest = digest_of(given[7:].strip())
        known = self._callers.get(digest) or self._fixed.get(digest)
        return None if known is None else self._allowed(known)

    async def holder_at(self, address: str | None, digest: str) -> Caller:
        """The same as `holder` of a token that was sent from an address: if it is wrong, it counts there."""
        try:
            return await self.holder(digest)
        except Problem as problem:
            wait = self._wrong.wait(address, time.monotonic()) if problem.kind == "unauthorized" else 0.0
            if not wait:
                raise
        raise Problem(
            "rate",
            f"one address may send {self._settings.wrong_tokens:g} wrong tokens a minute; send a right one, or wait",
            headers=_again_after(wait),
        )

    async def holder(self, digest: str) -> Caller:
        """Whoever holds the token with this digest, once their rate allows another request."""
        if time.monotonic() - self._read_at > STALE_SECONDS:
            await self._refresh_or_fail()
        known = self._callers.get(digest) or self._fixed.get(digest)
        if known is None and time.monotonic() - self._read_at > ASK_AGAIN_SECONDS:
            await self._refresh_or_fail()
            known = self._callers.get(digest)
        if known is None:
            raise _unauthorized()
        return self._allowed(known)

    def _allowed(self, known: Known) -> Caller:
        caller, bucket = known
        wait = bucket.wait(time.monotonic())
        if wait:
            raise Problem(
                "rate",
                f"this token may send {self._settings.rate:g} requests a second; send this one again later",
                headers=_again_after(wait),
            )
        return caller

    async def _refresh_or_fail(self) -> None:
        try:
            await asyncio.wait_for(self._reading(), READ_SECONDS)
        except Exception as error:
            log.warning("tokens cannot be read", extra={"error": type(error).__name__})
            raise Problem(
                "unavailable",
                "tokens cannot be checked now: the database does not answer",
                headers={"Retry-After": "1"},
            ) from None

    def _somebody_local(self, headers: Headers) -> Known:
        """Without tokens a web page elsewhere must not reach the service by a name that leads to loopback."""
        host = headers.get(b"host", b"")
        name = host if host.endswith(b"]") else host.rpartition(b":")[0] or host
        if name.lower() not in LOOPBACK_HOSTS:
            raise Problem("forbidden", "a service without tokens is asked as localhost only")
        return self._everybody


def _again_after(seconds: float) -> dict[str, str]:
    return {"Retry-After": str(max(1, round(seconds + 0.5)))}


def _unauthorized() -> Problem:
    return Problem("unauthorized", "send a token: Authorization: Bearer eh_...", headers={"WWW-Authenticate": "Bearer"})
