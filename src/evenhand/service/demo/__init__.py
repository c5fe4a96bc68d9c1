"""`evenhand serve --demo`: a lending desk with a past and new applicants every second; nothing is kept.

A newcomer plays the reviewer: they answer on pairs, and watch what the desk learns.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from evenhand.errors import InvalidInput
from evenhand.service.app import create_app
from evenhand.service.demo.arrivals import Arrivals
from evenhand.service.demo.past import DESK, make_past
from evenhand.service.problems import Problem
from evenhand.service.routers.pages import METHODS, file_response, page_of
from evenhand.service.serve import AnnouncingServer, address_of, config_of, listen
from evenhand.service.sessions import cookie_of
from evenhand.service.settings import ServiceSettings, is_loopback
from evenhand.service.tokens import digest_of, new_token, open_tokens

DECISIONS = 240
"""Decisions that the desk has made when it opens."""
VISITOR = "you"
HOME = f"/desks/{DESK}"
HINT = b"The administrator of this service creates one with <code>evenhand token create</code>."
DEMO_HINT = b"It is in the terminal where you started this demo, below the link, which works once."
"""Where a token comes from, as the sign-in page says it, and in the demo."""

WELCOME = """
Open this link; it signs you in, once:

    {link}

To sign in again, or in another browser, use this token: {token}

You see the desk as its owner does. Every second five people apply for one loan. Press "Review pairs" to play the
reviewer: call pairs unfair or acceptable, then come back and see what the desk has learned. Stop with Ctrl-C; nothing
is kept.
"""


def serve_demo(
    *, host: str = "127.0.0.1", port: int = 8000, decisions: int = DECISIONS, say: Callable[[str], None] = print
) -> None:
    """Serve the demo until told to stop, and remove everything."""
    if not is_loopback(host):
        raise InvalidInput(f"host must be a loopback address for the demo, whose link signs anybody in, got {host!r}")

    def tell(text: str) -> None:
        say(text)
        sys.stdout.flush()

    with (
        listen(host, port) as listening,
        _exiting_on_sigterm(),
        tempfile.TemporaryDirectory(prefix=f"evenhand-demo-{os.getpid()}-", dir=_memory_folder()) as folder,
    ):
        tell("Preparing a lending desk with a past. This takes a few seconds, the first time half a minute.")
        url, base = f"sqlite:///{Path(folder) / 'ledger.db'}", address_of(listening, host)
        world = make_past(url, decisions=decisions)
        secrets = _create_tokens(url)
        app = create_app(ServiceSettings(database_url=url, log_requests=False))
        link = f"{base}/welcome/{add_welcome(app, secrets[VISITOR])}"
        welcome = WELCOME.format(link=link, token=secrets[VISITOR])
        server = AnnouncingServer(config_of(app), lambda: tell(welcome))
        # uvicorn raises the signal again after it has stopped.
        with suppress(KeyboardInterrupt), Arrivals(base, secrets["intake"], world):
            server.run(sockets=[listening])
    tell("The demo has ended; nothing was kept.")


def _memory_folder() -> str | None:
    """A folder in memory where there is one: what is not kept need not wait for a disk."""
    shared = Path("/dev/shm")
    return str(shared) if shared.is_dir() and os.access(shared, os.W_OK) else None


def _create_tokens(url: str) -> dict[str, str]:
    """A token for the visitor and one for the applicants."""
    secrets = {}
    with open_tokens(url) as store:
        for name, roles in ((VISITOR, ["decide", "review", "admin"]), ("intake", ["decide"])):
            token, secrets[name] = new_token(name, roles, [DESK])
            store.add(token)
    return secrets


def add_welcome(app: FastAPI, token: str) -> str:
    """Add a link that signs in with this token and works once; returns the code at its end.

    Opened again it leads visitors who are signed in to the desk, others to a page that says where the token is.
    """
    code, unused = token_urlsafe(16), [token]

    async def welcome(code_in_path: str, request: Request) -> Response:
        service = request.app.state.service
        if code_in_path != code or not unused:
            try:
                await service.authenticator.caller(request.scope)
            except Problem:
                return RedirectResponse(f"/sign-in?next={HOME}", 303)
            return RedirectResponse(HOME, 303)
        secret = await service.sessions.begin(digest_of(unused.pop()))
        headers = {"cache-control": "no-store", "referrer-policy": "no-referrer"}
        return RedirectResponse(HOME, 303, headers | {"set-cookie": cookie_of(secret, secure=False)})

    async def sign_in() -> Response:
        return file_response(page_of("sign-in").replace(HINT, DEMO_HINT), "html")

    app.add_api_route("/welcome/{code_in_path}", welcome, include_in_schema=False)
    app.add_api_route("/sign-in", sign_in, methods=METHODS, include_in_schema=False)
    app.router.routes.insert(0, app.router.routes.pop())  # before the sign-in page of the service
    return code


@contextmanager
def _exiting_on_sigterm() -> Iterator[None]:
    """End the process in an orderly way on SIGTERM, so that the folder is removed."""

    def leave(*_: Any) -> None:
        raise SystemExit(0)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
