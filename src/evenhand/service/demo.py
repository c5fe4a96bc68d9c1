"""`evenhand serve --demo`: a lending desk in a temporary folder, with applicants who arrive by themselves.

A newcomer plays the reviewer: they answer on pairs, and watch what the desk has learned respond.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evenhand.errors import InvalidInput
from evenhand.ledger.ledger import open_ledger
from evenhand.service.demo_arrivals import Arrivals
from evenhand.service.demo_past import DESK, make_past
from evenhand.service.listening import address_of, listen
from evenhand.service.pages.file import File
from evenhand.service.pages.files import page_of
from evenhand.service.pages.sessions import cookie_of
from evenhand.service.problems import Problem
from evenhand.service.serve import config_of
from evenhand.service.settings import Settings, is_loopback
from evenhand.service.token_store import token_store_of
from evenhand.service.tokens import new_token

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request

DECISIONS = 240
"""So many decisions lie behind the desk when it opens."""
VISITOR = "you"
HOME = f"/desks/{DESK}"
HOW = b"Whoever runs this service makes one for you with <code>evenhand token create</code>."
HERE = b"It is in the terminal where you started this demonstration, below the link, which works once."
"""Where a token comes from, as the page for signing in says it, and as it is here."""


def serve_demo(
    *, host: str = "127.0.0.1", port: int = 8000, decisions: int = DECISIONS, say: Callable[[str], None] = print
) -> None:
    """Serve the demonstration until told to stop; nothing of it stays."""
    if not is_loopback(host):
        raise InvalidInput(f"the demonstration listens on loopback only, not on {host}: its link lets anybody in")
    with (
        listen(host, port) as listening,
        _leaving_on_sigterm(),
        tempfile.TemporaryDirectory(prefix=f"evenhand-demo-{os.getpid()}-", dir=_quick()) as folder,
    ):
        _say(
            say, "A lending desk is being made up, with a past. This takes a few seconds, the first time half a minute."
        )
        url = f"sqlite:///{Path(folder) / 'ledger.db'}"
        made = make_past(url, decisions=decisions)
        secrets = _tokens(url)
        config = config_of(Settings(database_url=url, log_requests=False), host, port, 1)
        base = address_of(listening, host)
        code = add_welcome(config.app, secrets[VISITOR])
        server = _Server(
            config, lambda: _say(say, WELCOME.format(link=f"{base}/welcome/{code}", token=secrets[VISITOR]))
        )
        # uvicorn has ended in order by then, and says again that it was interrupted.
        with suppress(KeyboardInterrupt), Arrivals(base, secrets["intake"], made):
            server.run(sockets=[listening])
    _say(say, "The demonstration has ended; nothing of it is left.")


class _Server(uvicorn.Server):
    """Says that it is there when it is."""

    def __init__(self, config: uvicorn.Config, there: Callable[[], None]) -> None:
        super().__init__(config)
        self._there = there

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            self._there()


WELCOME = """
Open this link; it signs you in, once:

    {link}

To come in again, or from another browser, sign in with this token: {token}

You see the desk as its owner does. Every second five people apply for one loan. Press "Review pairs" to play the
reviewer: call pairs unfair or acceptable, then come back and see what the desk made of it. Stop with Ctrl-C; nothing
stays.
"""


def _quick() -> str | None:
    """A place in memory where there is one: what does not stay need not wait for a disk."""
    shared = Path("/dev/shm")
    return str(shared) if shared.is_dir() and os.access(shared, os.W_OK) else None


def _say(say: Callable[[str], None], words: str) -> None:
    say(words)
    sys.stdout.flush()


def _tokens(url: str) -> dict[str, str]:
    """A token for whoever looks, and one for the applicants."""
    ledger = open_ledger(url)
    try:
        store, secrets = token_store_of(ledger), {}
        for name, roles in ((VISITOR, ["decide", "review", "admin"]), ("intake", ["decide"])):
            token, secrets[name] = new_token(name, roles, [DESK])
            store.add(token)
        return secrets
    finally:
        ledger.close()


def add_welcome(app: Any, token: str) -> str:
    """Add a link that signs in with this token, and works once; gives the code at its end.

    Opened again it leads whoever has signed in to the desk, others to a page that says where the token is.
    """
    code, unused = token_urlsafe(16), [token]

    async def welcome(request: Request) -> Response:
        if request.path_params["code"] != code or not unused:
            return RedirectResponse(HOME if await _is_in(request) else f"/sign-in?next={HOME}", 303)
        application: FastAPI = request.app
        secret, _ = await application.state.service.sessions.begin(unused.pop())
        answer = RedirectResponse(HOME, 303, {"cache-control": "no-store", "referrer-policy": "no-referrer"})
        answer.headers["set-cookie"] = cookie_of(secret, secure=False).decode()
        return answer

    def sign_in(request: Request) -> File:
        return File(page_of("sign-in").replace(HOW, HERE), "html", "no-cache")

    app.router.routes.append(Route("/welcome/{code}", welcome, methods=["GET"], include_in_schema=False))
    app.router.routes.insert(0, Route("/sign-in", sign_in, methods=["GET", "HEAD"], include_in_schema=False))
    return code


async def _is_in(request: Request) -> bool:
    """Whether whoever opens the link has signed in already."""
    try:
        await request.app.state.service.sessions.caller(dict(request.scope["headers"]), "GET")
    except Problem:
        return False
    return True


@contextmanager
def _leaving_on_sigterm() -> Iterator[None]:
    """While this lasts a SIGTERM ends the process in an orderly way, so that the folder is removed."""

    def leave(*_: Any) -> None:
        raise SystemExit(0)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
