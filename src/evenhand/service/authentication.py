"""Authenticator: who sends a request, by bearer token or session cookie, within the token's rate."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.ledger.event import now
from evenhand.service.problems import Problem, unavailable
from evenhand.service.sessions import NOT_SIGNED_IN, secret_in
from evenhand.service.tokens import digest_of

if TYPE_CHECKING:
    from starlette.types import Scope

    from evenhand.service.sessions import Sessions
    from evenhand.service.settings import ServiceSettings
    from evenhand.service.tokens import TokenStore

REFRESH_SECONDS = 0.5
"""Tokens that were read longer ago are read again; the request does not wait for it."""
MAX_AGE_SECONDS = 1.0
"""If they are older than this it waits: a revoked token stops working after this time."""
RETRY_SECONDS = 0.25
"""An unknown token causes a read, but not more often than this."""
READ_SECONDS = 10.0
"""How long a request waits for a read."""
MAX_ADDRESSES = 10_000
"""Addresses whose wrong tokens are counted; the one that was quiet longest is dropped."""
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

    def reviewer_name(self, named: str | None) -> str:
        """In whose name a review is given: the caller's own; an admin may name somebody else."""
        if named is None or named == self.name:
            return self.name
        if "admin" in self.roles:
            return named
        raise Problem("forbidden", f"reviewer must be the token's own name, {self.name!r}, or omitted, got {named!r}")


class Bucket:
    """A token bucket: a rate per second, and a burst after a pause.

    >>> bucket = Bucket(rate=2.0, burst=1.0)
    >>> bucket.wait(10.0), bucket.wait(10.0), bucket.wait(10.5)
    (0.0, 0.5, 0.0)
    """

    __slots__ = ("at", "burst", "left", "rate")

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst, self.left, self.at = rate, burst, burst, 0.0

    def wait(self, now: float) -> float:
        """Seconds until a request is allowed; 0, and counted, if it is allowed now."""
        left = min(self.burst, self.left + (now - self.at) * self.rate) if self.at else self.burst
        self.at = now
        self.left = left - 1 if left >= 1 else left
        return 0.0 if left >= 1 else (1 - left) / self.rate


class WrongTokens:
    """Counts wrong tokens, and cookies of no session, by address.

    A valid token is never refused for it, so people who share an address with an attacker keep working. Tokens have
    256 random bits and cannot be guessed; this limits what such requests cost.

    >>> wrong = WrongTokens(per_minute=2)
    >>> [wrong.wait("192.0.2.7", now) for now in (10.0, 10.0, 10.0, 40.0)]
    [0.0, 0.0, 30.0, 0.0]
    """

    def __init__(self, per_minute: float) -> None:
        self._per_minute = per_minute
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def wait(self, address: str | None, now: float) -> float:
        """Count a wrong token: seconds until the address may send another; 0 if this one was allowed."""
        key = _network(address)
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = Bucket(self._per_minute / 60.0, max(1.0, self._per_minute))
            if len(self._buckets) > MAX_ADDRESSES:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(key)
        return bucket.wait(now)


def _network(address: str | None) -> str:
    """Whose address it is: of IPv6 the first half, since its owner has all addresses of the network.

    >>> _network("2001:db8:1:2:3:4:5:6"), _network("192.0.2.7"), _network("::ffff:192.0.2.7"), _network(None)
    ('2001:db8:1:2::', '192.0.2.7', '192.0.2.7', '')
    """
    try:
        found = ipaddress.ip_address(address or "")
    except ValueError:  # a socket of this machine has no address
        return address or ""
    if found.version == 4:
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(found) >> 64 << 64))


@dataclass(frozen=True)
class Known:
    """A secret that is known: its holder, their rate, and until when it works."""

    caller: Caller
    bucket: Bucket
    until: str | None = None
    is_old: bool = False
    """Whether it was replaced by another secret."""


class Authenticator:
    """Holds all tokens in memory; while requests come in, reads them again every half second."""

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

    def _known(self, caller: Caller, until: str | None = None, *, is_old: bool = False) -> Known:
        bucket = Bucket(self._settings.rate, self._settings.burst)
        return Known(caller, self._buckets.setdefault(str(caller.token), bucket), until, is_old)

    def refresh(self) -> None:
        """Read all tokens that are not revoked; blocks."""
        read_at = time.monotonic()
        self._stored = {
            digest: self._known(
                Caller(token.name, token.roles, token.desks, token.id), until, is_old=digest != token.digest
            )
            for token in self._store.all()
            if token.revoked is None
            for digest, until in token.secrets.items()
        }
        self._read_at = read_at

    def _start_reading(self) -> asyncio.Task[None]:
        """Read the tokens; however many requests wait, and however long the database takes, one thread reads."""
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(asyncio.to_thread(self.refresh))
            self._reading.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._reading

    async def _find(self, digest: str) -> Known | None:
        """The token with this digest, as of a second ago or less."""
        if digest in self._fixed:
            return self._fixed[digest]
        age = time.monotonic() - self._read_at
        if age > REFRESH_SECONDS:
            self._start_reading()
        if age > MAX_AGE_SECONDS or (age > RETRY_SECONDS and digest not in self._stored):
            try:
                await asyncio.wait_for(asyncio.shield(self._start_reading()), READ_SECONDS)
            except Exception as error:
                log.warning("tokens cannot be read", extra={"error": type(error).__name__})
                raise unavailable("tokens cannot be checked now: the database does not answer") from None
        return self._stored.get(digest)

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
            token = await self._sessions.token_of(secret, headers, scope["method"])
            if token is None:
                raise self._refused(scope, Problem("unauthorized", NOT_SIGNED_IN))
            return await self.holder(token)
        if authorization[:7].lower() != b"bearer ":
            raise _unauthorized()
        return await self.holder(digest_of(authorization[7:].strip()), scope)

    async def holder(self, digest: str, scope: Scope | None = None) -> Caller:
        """Who holds the token with this digest. scope: the request that sent it; wrong tokens count for its address."""
        known = await self._find(digest)
        if known is None:
            raise _unauthorized() if scope is None else self._refused(scope, _unauthorized())
        if known.until is not None and now() >= known.until:
            raise _expired(known)
        return self._within_rate(known)

    async def signed_in(self, scope: Scope) -> Caller | None:
        """Whose session the cookie of a request is; None if nobody's. Nothing is counted."""
        headers = dict(scope["headers"])
        secret = secret_in(headers) if self._settings.tokens else None
        try:
            token = None if secret is None else await self._sessions.token_of(secret, headers, "GET")
            return None if token is None else await self.holder(token)
        except Problem:
            return None

    def _refused(self, scope: Scope, problem: Problem) -> Problem:
        """The problem of a wrong token or an unknown cookie; another one if its address has sent too many."""
        client = scope.get("client")
        wait = self._wrong.wait(client and str(client[0]), time.monotonic())
        if not wait:
            return problem
        limit = f"an address may send {self._settings.wrong_tokens:g} wrong tokens or cookies per minute"
        return Problem("rate", f"{limit}; send a valid one, or wait", headers=_retry_after(wait))

    def _within_rate(self, known: Known) -> Caller:
        wait = known.bucket.wait(time.monotonic())
        if wait:
            limit = f"this token may send {self._settings.rate:g} requests per second"
            raise Problem("rate", f"{limit}; send this one again later", headers=_retry_after(wait))
        return known.caller

    def _check_local(self, headers: Mapping[bytes, bytes]) -> Known:
        """Without tokens, refuse other host names: a web page elsewhere could use one that resolves to loopback."""
        host = headers.get(b"host", b"")
        name = host if host.endswith(b"]") else host.rpartition(b":")[0] or host
        if name.lower() not in LOOPBACK_HOSTS:
            raise Problem("forbidden", "a service without tokens answers requests to localhost only")
        return self._local


def _retry_after(seconds: float) -> dict[str, str]:
    return {"Retry-After": str(max(1, round(seconds + 0.5)))}


def _expired(known: Known) -> Problem:
    why = "the secret of this token was replaced" if known.is_old else f"this token expired at {known.until}"
    return Problem("unauthorized", f"{why}; ask for a new one", headers={"WWW-Authenticate": "Bearer"})


def _unauthorized() -> Problem:
    return Problem("unauthorized", "send a token: Authorization: Bearer eh_...", headers={"WWW-Authenticate": "Bearer"})
