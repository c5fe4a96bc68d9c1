"""Authenticator: who sends a request, by bearer token or session cookie, within the token's rate."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.service.problems import Problem, unavailable
from evenhand.service.rate_limit import Bucket, WrongTokens
from evenhand.service.sessions import secret_in
from evenhand.service.tokens import digest_of

if TYPE_CHECKING:
    from starlette.types import Scope

    from evenhand.service.sessions import Sessions
    from evenhand.service.settings import ServiceSettings
    from evenhand.service.token_store import TokenStore

REFRESH_SECONDS = 1.0
"""How often tokens are read: a revoked one stops working after this."""
STALE_SECONDS = 5.0
"""Tokens that were read longer ago are read again before anybody is let in."""
READ_SECONDS = 10.0
"""How long a request waits for that."""
RETRY_SECONDS = 0.25
"""An unknown token causes a read, but not more often than this."""
LOOPBACK_HOSTS = (b"127.0.0.1", b"localhost", b"[::1]")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Caller:
    """Who sent a request."""

    name: str
    """The actor in the ledger."""
    roles: tuple[str, ...]
    desks: tuple[str, ...] | None = None
    """The desks the token is for; None for all."""
    token: str | None = None
    """The token's id, which logs contain instead of the name of a person."""

    def has_role(self, *roles: str) -> bool:
        """Whether the caller has one of these roles; admins have all."""
        return "admin" in self.roles or not set(roles).isdisjoint(self.roles)

    def sees(self, desk: str) -> bool:
        """Whether the token is for this desk."""
        return self.desks is None or desk in self.desks


Known = tuple[Caller, Bucket]


class Authenticator:
    """Holds all tokens in memory and reads them again every second; requests do not wait for that."""

    def __init__(self, store: TokenStore, sessions: Sessions, settings: ServiceSettings) -> None:
        self._store, self._sessions, self._settings = store, sessions, settings
        self._buckets: dict[str, Bucket] = {}
        self._stored: dict[str, Known] = {}
        self._fixed = {
            digest_of(secret): self._known(Caller(name, (name,), token=name))
            for name, secret in (("admin", settings.admin_token), ("metrics", settings.metrics_token))
            if secret is not None
        }
        self._local = self._known(Caller("local", ("admin",), token="local"))
        self._wrong = WrongTokens(settings.wrong_tokens)
        self._read_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None

    def _known(self, caller: Caller) -> Known:
        bucket = Bucket(self._settings.rate, self._settings.burst)
        return caller, self._buckets.setdefault(str(caller.token), bucket)

    def refresh(self) -> None:
        """Read all tokens that are not revoked; blocks."""
        read_at = time.monotonic()
        self._stored = {
            token.digest: self._known(Caller(token.name, token.roles, token.desks, token.id))
            for token in self._store.all()
            if token.revoked is None
        }
        self._read_at = read_at

    async def keep_fresh(self) -> None:
        """Read the tokens every second, until cancelled."""
        while True:
            await asyncio.sleep(REFRESH_SECONDS)
            with contextlib.suppress(Problem):
                await self._refresh()

    async def _refresh(self) -> None:
        """Read the tokens; however many requests wait, and however long the database takes, one thread reads."""
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(asyncio.to_thread(self.refresh))
            self._reading.add_done_callback(lambda task: task.cancelled() or task.exception())
        try:
            await asyncio.wait_for(asyncio.shield(self._reading), READ_SECONDS)
        except Exception as error:
            log.warning("tokens cannot be read", extra={"error": type(error).__name__})
            raise unavailable("tokens cannot be checked now: the database does not answer") from None

    async def caller(self, scope: Scope) -> Caller:
        """Who sends a request; a Problem if the token is missing, wrong or over its rate."""
        headers = dict(scope["headers"])
        if not self._settings.tokens:
            return self._within_rate(self._check_local(headers))
        authorization = headers.get(b"authorization")
        if authorization is None:
            secret = secret_in(headers)
            if secret is None:
                raise _unauthorized()
            return await self.holder(await self._sessions.token_of(secret, headers, scope["method"]))
        if authorization[:7].lower() != b"bearer ":
            raise _unauthorized()
        return await self.holder(digest_of(authorization[7:].strip()), scope)

    async def holder(self, digest: str, scope: Scope | None = None) -> Caller:
        """Who holds the token with this digest. scope: the request that sent it; wrong tokens count for its address."""
        age = time.monotonic() - self._read_at
        known = None if age > STALE_SECONDS else self._stored.get(digest) or self._fixed.get(digest)
        if known is None:
            if age > RETRY_SECONDS:
                await self._refresh()
            known = self._stored.get(digest) or self._fixed.get(digest)
        if known is not None:
            return self._within_rate(known)
        client = None if scope is None else scope.get("client")
        wait = 0.0 if scope is None else self._wrong.wait(client and str(client[0]), time.monotonic())
        if wait:
            limit = f"an address may send {self._settings.wrong_tokens:g} wrong tokens per minute"
            raise Problem("rate", f"{limit}; send a valid one, or wait", headers=_retry_after(wait))
        raise _unauthorized()

    def _within_rate(self, known: Known) -> Caller:
        caller, bucket = known
        wait = bucket.wait(time.monotonic())
        if wait:
            limit = f"this token may send {self._settings.rate:g} requests per second"
            raise Problem("rate", f"{limit}; send this one again later", headers=_retry_after(wait))
        return caller

    def _check_local(self, headers: Mapping[bytes, bytes]) -> Known:
        """Without tokens, refuse other host names: a web page elsewhere could use one that resolves to loopback."""
        host = headers.get(b"host", b"")
        name = host if host.endswith(b"]") else host.rpartition(b":")[0] or host
        if name.lower() not in LOOPBACK_HOSTS:
            raise Problem("forbidden", "a service without tokens answers requests to localhost only")
        return self._local


def _retry_after(seconds: float) -> dict[str, str]:
    return {"Retry-After": str(max(1, round(seconds + 0.5)))}


def _unauthorized() -> Problem:
    return Problem("unauthorized", "send a token: Authorization: Bearer eh_...", headers={"WWW-Authenticate": "Bearer"})
