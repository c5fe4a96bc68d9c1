"""Service: what all requests of one process share, from its start to its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Protocol

from evenhand.bandit.warm_up import warm_up
from evenhand.ledger.ledger import open_ledger
from evenhand.service.access import Access
from evenhand.service.apart import Apart
from evenhand.service.asked import Caller
from evenhand.service.call import address_of
from evenhand.service.logs import RequestLog
from evenhand.service.measures import RequestMeasures
from evenhand.service.office import Office
from evenhand.service.pages.sessions import Sessions
from evenhand.service.problems import Problem
from evenhand.service.token_store import token_store_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Scope

    from evenhand.ledger.ledger import Ledger
    from evenhand.service.asked import Asked, Told
    from evenhand.service.settings import Settings
    from evenhand.service.tokens import TokenStore

log = logging.getLogger(__name__)

REFRESH_SECONDS = 1.0
"""Tokens are read again so often: a revoked one opens nothing after this."""


class AnOffice(Protocol):
    """Where requests are carried out."""

    async def carry_out(self, asked: Asked) -> Told:
        """The answer to a request."""

    def decide(self, asked: Asked, tell: Callable[[Told | Exception], None]) -> bool:
        """The same without a task, if that can be."""

    async def why_not_ready(self) -> str | None:
        """None if decisions can be made now, or else why not."""

    async def measured(self, desks: tuple[str, ...] | None) -> bytes:
        """Numbers about these desks, or all."""

    async def close(self) -> None:
        """Write what waits, then end."""


class Service:
    """Made with the application; opens its ledger when the application starts."""

    nobody = Caller("nobody", (), (), "nobody")
    """Who asks where no token is needed."""

    def __init__(self, settings: Settings, *, make: bool = True) -> None:
        self.settings, self._make = settings, make
        self.measures = RequestMeasures()
        self.requests = RequestLog()
        self.tokens: TokenStore | None = None
        self._ledger: Ledger | None = None
        self._office: AnOffice | None = None
        self._access: Access | None = None
        self._sessions: Sessions | None = None
        self._refreshing: asyncio.Task[None] | None = None

    @property
    def office(self) -> AnOffice:
        """Where requests are carried out."""
        if self._office is None:
            raise _not_started()
        return self._office

    @property
    def ledger(self) -> Ledger:
        """What the door reads by itself: downloads, which are too long for one answer of the office."""
        if self._ledger is None:
            raise _not_started()
        return self._ledger

    @property
    def access(self) -> Access:
        """Who may come in."""
        if self._access is None:
            raise _not_started()
        return self._access

    async def caller(self, headers: dict[bytes, bytes], scope: Scope) -> Caller:
        """Whoever sends a request with these headers, by token or by cookie; a Problem if that is nobody."""
        return await self.sessions.caller(headers, scope["method"], address_of(scope))

    @property
    def sessions(self) -> Sessions:
        """Who is signed in on the pages."""
        if self._sessions is None:
            raise _not_started()
        return self._sessions

    async def start(self) -> None:
        """Open the ledger, the office, and read the tokens."""
        # The door needs the ledger for its tokens alone; an office in this process shares it.
        self._ledger = await asyncio.to_thread(open_ledger, self.settings.database_url, make=self._make)
        try:
            self.tokens = token_store_of(self._ledger)
            self._access = Access(self.tokens, self.settings)
            self._sessions = Sessions(self._ledger, self._access, self.settings)
            await asyncio.to_thread(self._access.refresh)
            if self.settings.apart and self.settings.database_url != "memory:":
                self._office = await Apart.opened(self.settings)
            else:
                await asyncio.to_thread(warm_up)
                self._office = Office(self.settings, self._ledger)
        except BaseException:
            await self.stop()
            raise
        self._refreshing = asyncio.create_task(self._refresh())
        log.info("started")

    async def _refresh(self) -> None:
        while True:
            await asyncio.sleep(REFRESH_SECONDS)
            await self.access.keep_fresh()

    async def stop(self) -> None:
        """Write what waits, then let go of everything."""
        if self._refreshing is not None:
            self._refreshing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._refreshing
        if self._office is not None:
            await self._office.close()
        if self._ledger is not None:
            await asyncio.to_thread(self._ledger.close)
        self._office = self._access = self._sessions = self._refreshing = self._ledger = None
        self.requests.flush()
        log.info("stopped")


def _not_started() -> Problem:
    return Problem("unavailable", "the service has not started", headers={"Retry-After": "1"})
