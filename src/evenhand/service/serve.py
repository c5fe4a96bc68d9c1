"""Start a service: see that it may listen, make the first token, then serve with one process or several."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING

import uvicorn

from evenhand.errors import InvalidInput
from evenhand.ledger.ledger import open_ledger
from evenhand.service.app import create_app
from evenhand.service.listening import address_of, listen
from evenhand.service.logs import set_up_logs
from evenhand.service.protocol import DeskProtocol
from evenhand.service.settings import Settings, is_loopback
from evenhand.service.token_store import token_store_of
from evenhand.service.tokens import new_token
from evenhand.service.workers import Workers, end_with_parent

if TYPE_CHECKING:
    from fastapi import FastAPI

FIRST_TOKEN = "first admin"
STOP_SECONDS = 30
MEASURES = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the folder where several workers keep their numbers."""


def serve(
    settings: Settings,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    say: Callable[[str], None] = print,
) -> None:
    """Serve until told to stop (SIGINT, SIGTERM). `say` is given the address, and the first token if one was made."""
    check_may_listen(settings, host)
    if settings.database_url == "memory:" and workers > 1:
        raise InvalidInput("a ledger in memory belongs to one process; give a database, or one worker")
    check_opens(settings)
    with listen(host, port) as listening:  # before a token is made, which is shown once
        secret = first_token(settings, may_make=is_loopback(host))
        if secret is not None:
            say(f"the admin token, shown this once: {secret}")
        set_up_logs()
        _serve(config_of(settings, host, port, workers), listening, address_of(listening, host), say)


def _serve(config: uvicorn.Config, listening: socket.socket, address: str, say: Callable[[str], None]) -> None:
    def announce() -> None:
        say(f"evenhand serves {address}")
        sys.stdout.flush()

    if config.workers == 1:
        run(Announced(config, announce), listening)
    else:
        announce()
        try:
            Workers(config, sockets=[listening]).run()
        finally:
            shutil.rmtree(os.environ.pop(MEASURES), ignore_errors=True)


class Announced(uvicorn.Server):
    """A server that says so once it serves."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say so."""
        await super().startup(sockets)
        if self.started:
            self._announce()


def run(server: uvicorn.Server, listening: socket.socket) -> None:
    """Serve until told to stop; a server that cannot start has logged why, and ends the process with status 1."""
    try:
        server.run(sockets=[listening])
    except SystemExit:
        if server.started:
            raise
    finally:
        listening.close()
    if not server.started:
        raise SystemExit(1)


def check_opens(settings: Settings) -> None:
    """Open the ledger and close it: what is wrong with it is raised here, before any process is started."""
    if settings.database_url != "memory:":
        open_ledger(settings.database_url).close()


def check_may_listen(settings: Settings, host: str) -> None:
    """InvalidInput unless tokens are asked for wherever others can reach the service."""
    if not settings.tokens and not is_loopback(host):
        raise InvalidInput(f"without tokens a service listens on loopback only, not on {host}; leave tokens on")


def first_token(settings: Settings, *, may_make: bool) -> str | None:
    """The secret of an admin token that was made now, because there was none; None if there was one.

    A ledger in memory has no token before and none after: it needs the admin token in the settings.
    """
    if not settings.tokens or settings.admin_token is not None:
        return None
    if settings.database_url == "memory:":
        raise InvalidInput("a ledger in memory keeps no tokens; set EVENHAND_ADMIN_TOKEN, or serve without tokens")
    ledger = open_ledger(settings.database_url)
    try:
        store = token_store_of(ledger)
        if any("admin" in token.roles and token.revoked is None for token in store.all()):
            return None
        if not may_make:
            raise InvalidInput(
                "there is no admin token yet, and the service is to be reached from elsewhere; "
                "set EVENHAND_ADMIN_TOKEN, or make one with: evenhand token create NAME --role admin"
            )
        taken = {token.name for token in store.all()}
        names = (f"{FIRST_TOKEN} {number}" if number else FIRST_TOKEN for number in range(len(taken) + 1))
        token, secret = new_token(next(name for name in names if name not in taken), ["admin"])
        store.add(token)
        return secret
    finally:
        ledger.close()


def config_of(settings: Settings, host: str, port: int, workers: int) -> uvicorn.Config:
    """How uvicorn is to serve. Workers learn their settings from the environment."""
    app: FastAPI | str = "evenhand.service.serve:worker"
    if workers == 1:
        app = create_app(settings)
    else:
        os.environ.update(settings.to_environment())
        os.environ[MEASURES] = tempfile.mkdtemp(prefix="evenhand-measures-")
    return uvicorn.Config(
        app,
        factory=workers > 1,
        host=host,
        port=port,
        workers=workers,
        loop="uvloop",
        http=DeskProtocol,
        ws="none",
        lifespan="on",
        # Its own log lines carry addresses and paths; ours do not.
        access_log=False,
        log_config=None,
        # A header that anybody can send is not believed.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=STOP_SECONDS,
    )


def worker() -> FastAPI:
    """The application of one of several processes. The ledger is there: whoever starts them has opened it."""
    set_up_logs()
    end_with_parent()
    return create_app(Settings.from_environment(), make=False)
