"""Serve the demo: a link that signs in once, the story of the desk, and applicants who arrive by themselves."""

from __future__ import annotations

import logging
import os
import signal
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from evenhand._internal.checks import check_one_of
from evenhand.client import DeskClient
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.service.app import create_app
from evenhand.service.demo.past import DESK, DemoWorld, make_past
from evenhand.service.demo.sizes import SIZES
from evenhand.service.problems import Problem
from evenhand.service.responses import json_response
from evenhand.service.routers.pages import METHODS, file_response, page_of
from evenhand.service.serve import AnnouncingServer, address_of, config_of, listen
from evenhand.service.sessions import cookie_of
from evenhand.service.settings import ServiceSettings, is_loopback
from evenhand.service.tokens import digest_of, new_token, open_tokens

log = logging.getLogger(__name__)

DELAY = 3
"""Decisions until the outcome of one is known."""
VISITOR = "you"
STORY = "/story"
"""Where the link leads: what has happened so far, in a minute."""
HINT = b"The administrator of this service creates one with <code>evenhand token create</code>."
DEMO_HINT = b"It is in the terminal where you started this demo, below the link, which works once."
"""Where a token comes from, as the sign-in page says it, and in the demo."""

WELCOME = """
Open this link; it signs you in, once:

    {link}

To sign in again, or in another browser, use this token: {token}

It begins with the story of this desk, which takes a minute. You see everything as the desk's owner does. {arrival}
Press "Review pairs" to play the reviewer: call pairs unfair or acceptable, then see what the desk has learned. Stop
with Ctrl-C; nothing is kept.
"""


def serve_demo(
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    size: str = "small",
    decisions: int | None = None,
) -> None:
    """Serve the demo until told to stop, and remove everything.

    size: "small", five people for one loan; or "large", fifty for ten, with 24 features each.
    """
    check_one_of("size", size, tuple(SIZES))
    chosen = SIZES[size]
    if not is_loopback(host):
        raise InvalidInput(f"host must be a loopback address for the demo, whose link signs anybody in, got {host!r}")

    with (
        listen(host, port) as listening,
        _exiting_on_sigterm(),
        tempfile.TemporaryDirectory(prefix=f"evenhand-demo-{os.getpid()}-", dir=_memory_folder()) as folder,
    ):
        _say(f"Preparing a lending desk with a past. This takes {chosen.preparation}.")
        url, base = f"sqlite:///{Path(folder) / 'ledger.db'}", address_of(listening, host)
        world = make_past(url, chosen, decisions=chosen.decisions if decisions is None else decisions)
        secrets = _create_tokens(url)
        app = create_app(ServiceSettings(database_url=url, log_requests=False))
        link = f"{base}/welcome/{add_welcome(app, secrets[VISITOR])}"
        add_story(app, world.story.to_dict(chosen))
        welcome = WELCOME.format(link=link, token=secrets[VISITOR], arrival=chosen.arrival)
        server = AnnouncingServer(config_of(app), lambda: _say(welcome))
        # uvicorn raises the signal again after it has stopped.
        with suppress(KeyboardInterrupt), arrivals(base, secrets["intake"], world):
            server.run(sockets=[listening])
    _say("The demo has ended; nothing was kept.")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


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
                return RedirectResponse(f"/sign-in?next={STORY}", 303)
            return RedirectResponse(STORY, 303)
        secret = await service.sessions.begin(digest_of(unused.pop()))
        headers = {"cache-control": "no-store", "referrer-policy": "no-referrer"}
        return RedirectResponse(STORY, 303, headers | {"set-cookie": cookie_of(secret, secure=False)})

    async def sign_in() -> Response:
        return file_response(page_of("sign-in").replace(HINT, DEMO_HINT), "html")

    app.add_api_route("/welcome/{code_in_path}", welcome, include_in_schema=False)
    app.add_api_route("/sign-in", sign_in, methods=METHODS, include_in_schema=False)
    app.router.routes.insert(0, app.router.routes.pop())  # before the sign-in page of the service
    return code


def add_story(app: FastAPI, content: dict[str, Any]) -> None:
    """Add the page that tells what has happened so far, and its numbers. They are made up, and nobody's secret."""

    async def page() -> Response:
        return file_response(page_of("story"), "html")

    async def numbers() -> Response:
        return json_response({"desk": DESK, **content})

    app.add_api_route(STORY, page, methods=METHODS, include_in_schema=False)
    app.add_api_route(f"{STORY}/numbers", numbers, include_in_schema=False)


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


@contextmanager
def arrivals(base: str, token: str, world: DemoWorld) -> Iterator[None]:
    """While the block lasts, applicants arrive over HTTP, in a thread; their outcomes follow some decisions later."""
    stopped, waiting = threading.Event(), deque[tuple[str, dict[str, float]]]()

    def arrive(client: DeskClient) -> None:
        candidates = world.candidates()
        decision = client.decide(DESK, candidates)
        rewards = {one["id"]: world.reward(one) for one in candidates if one["id"] in decision["chosen"]}
        if rewards:
            waiting.append((decision["id"], rewards))
        if len(waiting) > DELAY:
            client.outcome(DESK, *waiting.popleft())

    def run() -> None:
        with DeskClient(base, token, retries=0) as client:
            while not stopped.wait(world.size.pause):
                try:
                    arrive(client)
                except EvenhandError as error:  # the service is starting, or stopping
                    log.debug("a request failed: %s", type(error).__name__)

    thread = threading.Thread(target=run, name="evenhand-arrivals", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join(10)
