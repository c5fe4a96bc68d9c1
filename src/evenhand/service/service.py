"""Service: what all requests of one process share, from its start to its end."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from evenhand.bandit.warm_up import warm_up
from evenhand.ledger.ledger import open_ledger
from evenhand.service.authentication import Authenticator
from evenhand.service.background.certificates import Certificates
from evenhand.service.background.worker import Worker
from evenhand.service.connections import Connections, count_connections
from evenhand.service.dashboard.live import LiveViews
from evenhand.service.head_signer import HeadSigner
from evenhand.service.metrics import Metrics, are_shared
from evenhand.service.middleware import RequestLog
from evenhand.service.open_desks import OpenDesks
from evenhand.service.sessions import Sessions
from evenhand.service.shutdown import end_if_hung, end_if_stuck
from evenhand.service.tokens import TokenStore
from evenhand.service.verification import Verification

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from evenhand.ledger.ledger import Ledger
    from evenhand.service.settings import ServiceSettings

log = logging.getLogger(__name__)

READ_THREADS = 64
"""Requests that read at the same time; slow ones would soon take the six threads that asyncio has on two cores."""
LOOP_SECONDS = 30.0
"""A worker of several whose event loop does not turn for so long is ended."""
HANG_SECONDS = 300.0
"""The same for one with a batch of commands that takes so long, or no thread to read with."""
METRICS_SECONDS = 1.0
"""How often a worker writes down how far its projections are, for the worker that is asked for metrics."""


class Service:
    """The open ledger and everything on top of it. Use `running_service`."""

    def __init__(self, settings: ServiceSettings, ledger: Ledger) -> None:
        self.settings, self.ledger = settings, ledger
        self.metrics, self.request_log = Metrics(), RequestLog()
        self.tokens, self.sessions = TokenStore(ledger), Sessions(ledger)
        self.authenticator = Authenticator(self.tokens, self.sessions, settings)
        self.desks = OpenDesks(ledger, settings, self.metrics)
        self.verification = Verification(ledger)
        self.live_views = LiveViews(self.desks, settings.max_streams)
        self.connections = Connections(settings)
        self.worker = Worker()
        self.certificates = Certificates(self.worker, settings.certificate_seconds)
        self.signer = HeadSigner(ledger, settings)

    def metrics_text(self, desks: tuple[str, ...] | None) -> bytes:
        """All metrics of these desks, or of all."""
        self.metrics.progress(self.desks.progress())
        return self.metrics.text(desks)

    async def write_metrics(self) -> None:
        """Write down how far projections are, until cancelled."""
        while True:
            self.metrics.progress(self.desks.progress())
            await asyncio.sleep(METRICS_SECONDS)

    async def close(self) -> None:
        """Write what waits, and close everything but the ledger."""
        self.worker.close()
        await asyncio.to_thread(self.verification.stop)
        await self.desks.close()
        await asyncio.to_thread(self.signer.stop)
        self.request_log.flush()


@asynccontextmanager
async def running_service(settings: ServiceSettings, *, make: bool = True) -> AsyncIterator[Service]:
    """A service from its start to its end. make: whether the ledger may be created."""
    async with AsyncExitStack() as at_end:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(READ_THREADS, "evenhand-read"))
        ledger = await asyncio.to_thread(open_ledger, settings.database_url, make=make)
        at_end.callback(log.info, "stopped")
        at_end.push_async_callback(asyncio.to_thread, ledger.close)
        await asyncio.to_thread(warm_up)
        service = Service(settings, ledger)
        at_end.push_async_callback(service.close)
        await asyncio.to_thread(service.authenticator.refresh)
        count_connections(service.connections)
        work = [service.desks.close_idle(), service.worker.watch(), service.connections.watch()]
        if are_shared():  # so there is a parent that starts another one
            work += [service.write_metrics(), end_if_stuck(LOOP_SECONDS)]
            work += [end_if_hung(service.desks.stuck_seconds, HANG_SECONDS)]
        tasks = [asyncio.create_task(each) for each in work]
        at_end.callback(lambda: [task.cancel() for task in tasks])
        log.info("started")
        yield service
