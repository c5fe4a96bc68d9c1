"""Start a service: check where it may listen, create the first token, and serve with one process or several."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess
from uvicorn.supervisors.multiprocess import Process

from evenhand.bandit.warm_up import warm_up
from evenhand.errors import CannotListen, InvalidInput
from evenhand.ledger.event import now
from evenhand.ledger.ledger import open_ledger
from evenhand.service.app import create_app
from evenhand.service.connections import TimedProtocol
from evenhand.service.logs import set_up_logs
from evenhand.service.metrics import FOLDER
from evenhand.service.process_settings import limit_arenas, limit_blas
from evenhand.service.settings import ServiceSettings, is_loopback
from evenhand.service.shutdown import end_with_parent
from evenhand.service.tokens import new_token, open_tokens

FIRST_TOKEN = "first admin"
STOP_SECONDS = 10
"""How long responses may take to end when the service stops."""
HANG_SECONDS = 10
"""A worker of several that does not answer its parent for this long is ended, and another one started."""
START_SECONDS = 120.0
"""How long a new worker may take to answer its parent for the first time."""
POLL_SECONDS = 0.2
"""How soon the parent notices a signal meanwhile."""
BACKLOG = 2048
MAX_HEAD = 65_536
"""Bytes of a request's line and headers."""
SWITCH_SECONDS = 0.002
"""How long a thread may keep the interpreter from others: a desk that computes in Python must not hold up requests.

`benchmarks/busy_desk.py` measures it."""
GC_THRESHOLD = 10_000
"""Allocations between two collections of young objects; a busy service makes thousands per batch."""


def serve(
    settings: ServiceSettings,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    supervised: bool = False,
    say: Callable[[str], None] = print,
) -> None:
    """Serve until SIGINT or SIGTERM. `say` gets the address, and the first token if one was created.

    supervised: whether a single worker gets a parent, too, which replaces it when it dies or hangs.
    """
    check_may_listen(settings, host)
    if settings.is_in_memory and workers > 1:
        raise InvalidInput(f"workers must be 1 for a ledger in memory, got {workers}")
    if settings.is_in_memory and supervised:
        raise InvalidInput("a ledger in memory ends with its process and cannot be supervised; name a database")
    if not settings.is_in_memory:
        open_ledger(settings.database_url).close()  # raises now what would fail in every worker
    with listen(host, port) as listening:  # before a token is created, which is shown once
        secret = first_token(settings, may_create=is_loopback(host))
        if secret is not None:
            say(f"admin token, shown once: {secret}")
        set_up_logs()

        def announce() -> None:
            say(f"evenhand serves {address_of(listening, host)}")
            sys.stdout.flush()

        if workers == 1 and not supervised:
            prepare_process()
            run(AnnouncingServer(config_of(create_app(settings)), announce), listening)
            return
        os.environ.update(settings.to_environment())
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="evenhand-metrics-")
        announce()
        try:
            config = config_of("evenhand.service.serve:worker", factory=True, workers=workers)
            Supervisor(config, sockets=[listening]).run()
        finally:
            shutil.rmtree(os.environ.pop(FOLDER), ignore_errors=True)


class Supervisor(Multiprocess):
    """uvicorn's supervisor, which gives a new worker more time to answer for the first time.

    A worker imports its modules before it can answer. On a busy machine that takes longer than `HANG_SECONDS`: it was
    ended and started again, for ever.
    """

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        super().__init__(config, sockets)
        self._answered: set[int | None] = set()
        """The processes that have answered."""

    def keep_subprocess_alive(self) -> None:
        """Replace workers that have ended or do not answer."""
        for process in self.processes:
            if process.pid not in self._answered:
                self._wait_for(process)
        self._answered &= {process.pid for process in self.processes}
        super().keep_subprocess_alive()

    def _wait_for(self, process: Process) -> None:
        """Wait until a new worker answers, ends, has had its time, or there is a signal."""
        until = time.monotonic() + START_SECONDS
        with contextlib.suppress(OSError, EOFError):
            process.parent_conn.send(b"ping")
            while time.monotonic() < until and process.process.is_alive() and not self.signal_queue:
                if process.parent_conn.poll(POLL_SECONDS):
                    process.parent_conn.recv()
                    self._answered.add(process.pid)
                    return


def worker() -> FastAPI:
    """The application of one of several processes. The parent has created the ledger."""
    set_up_logs()
    end_with_parent()
    prepare_process()
    return create_app(ServiceSettings.from_environment(), make=False)


def prepare_process() -> None:
    """Compile or load the numerical kernels, and keep what lives as long as the process out of garbage collection.

    A full collection would go through a million objects of imported libraries and stop all requests for 0.1 s.
    """
    limit_arenas()
    limit_blas()
    warm_up()
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)
    sys.setswitchinterval(SWITCH_SECONDS)


def config_of(app: FastAPI | str, *, factory: bool = False, workers: int = 1) -> uvicorn.Config:
    """The configuration of uvicorn.

    The parser is h11: it limits the head of a request, keeps trailers apart from headers, and reads the body of a
    request that proposes another protocol. httptools does none of these. `TimedProtocol` limits how long a head takes.
    """
    return uvicorn.Config(
        app,
        factory=factory,
        workers=workers,
        http=TimedProtocol,
        h11_max_incomplete_event_size=MAX_HEAD,
        ws="none",
        lifespan="on",
        # uvicorn's log lines have addresses and paths; ours do not.
        access_log=False,
        log_config=None,
        # Anybody can send these headers.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=STOP_SECONDS,
        timeout_worker_healthcheck=HANG_SECONDS,
    )


class AnnouncingServer(uvicorn.Server):
    """A server that calls a function once it serves."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then announce."""
        await super().startup(sockets)
        if self.started:
            self._announce()


def run(server: uvicorn.Server, listening: socket.socket) -> None:
    """Serve until told to stop; a server that cannot start has logged why, and the process ends with status 1."""
    try:
        server.run(sockets=[listening])
    except SystemExit:
        if server.started:
            raise
    if not server.started:
        raise SystemExit(1)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there. Clients that connect wait until the service has started."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            hint = "choose another one with --port, or 0 for any"
            raise CannotListen(f"port {port} of {host} is taken by another program; {hint}") from None
        raise CannotListen(f"cannot listen on port {port} of {host}: {error.strerror or error}") from None
    listening.set_inheritable(True)
    return listening


def address_of(listening: socket.socket, host: str) -> str:
    """The URL of a service that listens there."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"


def check_may_listen(settings: ServiceSettings, host: str) -> None:
    """InvalidInput for a service without tokens that others could reach."""
    if not settings.tokens and not is_loopback(host):
        raise InvalidInput(f"host must be a loopback address for a service without tokens, got {host!r}")


def first_token(settings: ServiceSettings, *, may_create: bool) -> str | None:
    """The secret of an admin token that was created now, because there was none; None if there was one."""
    if not settings.tokens or settings.admin_token is not None:
        return None
    if settings.is_in_memory:
        raise InvalidInput("a ledger in memory keeps no tokens; set EVENHAND_ADMIN_TOKEN, or serve without tokens")
    with open_tokens(settings.database_url) as store:
        tokens = store.all()
        if any("admin" in token.roles and token.is_valid(now()) for token in tokens):
            return None
        if not may_create:
            raise InvalidInput(
                "a service that others can reach needs an admin token; "
                "set EVENHAND_ADMIN_TOKEN, or create one with: evenhand token create NAME --role admin"
            )
        taken = {token.name for token in tokens}
        names = (f"{FIRST_TOKEN} {number}" if number else FIRST_TOKEN for number in range(len(taken) + 1))
        token, secret = new_token(next(name for name in names if name not in taken), ["admin"])
        store.add(token)
        return secret
