"""`evenhand serve --demo`: a lending desk with a past and new applicants every second; nothing is kept.

A newcomer plays the reviewer: they answer on pairs, and watch what the desk learns.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

import numpy as np
from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from evenhand.client import DeskClient
from evenhand.desk.commands import Decide, RecordOutcome
from evenhand.desk.desk import Desk
from evenhand.desk.event_records import DeskDecision
from evenhand.environments.lending import PAY_OFF, SCHEMA, Applicants, reviewer_metric
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.ledger.event import Event
from evenhand.review.review_sessions import ReviewSessions
from evenhand.service.app import create_app
from evenhand.service.problems import Problem
from evenhand.service.routers.pages import METHODS, file_response, page_of
from evenhand.service.serve import AnnouncingServer, address_of, config_of, listen
from evenhand.service.sessions import cookie_of
from evenhand.service.settings import ServiceSettings, is_loopback
from evenhand.service.tokens import digest_of, new_token, open_tokens

log = logging.getLogger(__name__)

DESK = "loans"
CANDIDATES = 5
NOISE = 0.2
REVIEWERS = {"Ana": 0.03, "Ben": 0.12}
"""Error rates."""
ROUND = 10
"""Decisions between two answers."""
SETTINGS: dict[str, Any] = {
    "capacity": 1,
    "reviewer_error": None,
    "target_unfair_share": 0.05,
    "overlap": 0.3,
    "reviewing": {"repeats": 0.1, "repeat_after": 6, "controls": 0.05, "session": 10},
}
PAUSE = 1.0
"""Seconds between two decisions."""
DELAY = 3
"""Decisions until the outcome of one is known."""
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

    def announce(text: str) -> None:
        say(text)
        sys.stdout.flush()

    with (
        listen(host, port) as listening,
        _exiting_on_sigterm(),
        tempfile.TemporaryDirectory(prefix=f"evenhand-demo-{os.getpid()}-", dir=_memory_folder()) as folder,
    ):
        announce("Preparing a lending desk with a past. This takes a few seconds, the first time half a minute.")
        url, base = f"sqlite:///{Path(folder) / 'ledger.db'}", address_of(listening, host)
        world = make_past(url, decisions=decisions)
        secrets = _create_tokens(url)
        app = create_app(ServiceSettings(database_url=url, log_requests=False))
        link = f"{base}/welcome/{add_welcome(app, secrets[VISITOR])}"
        welcome = WELCOME.format(link=link, token=secrets[VISITOR])
        server = AnnouncingServer(config_of(app), lambda: announce(welcome))
        # uvicorn raises the signal again after it has stopped.
        with suppress(KeyboardInterrupt), arrivals(base, secrets["intake"], world):
            server.run(sockets=[listening])
    announce("The demo has ended; nothing was kept.")


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


# The world: applicants, their outcomes, and the answers of two reviewers, as on the review page.


@dataclass
class World:
    """Generates applicants and their outcomes."""

    rng: np.random.Generator
    applicants: int = 0

    def candidates(self, k: int = CANDIDATES) -> list[dict[str, Any]]:
        """The next k applicants, under pseudonyms."""
        rows = Applicants().rows(k, self.rng)
        self.applicants += k
        first = self.applicants - k + 1
        return [{"id": f"applicant {first + i}", "features": row} for i, row in enumerate(rows)]

    def reward(self, candidate: dict[str, Any]) -> float:
        """The outcome of a loan to this applicant."""
        (context,) = SCHEMA.encode([candidate["features"]])
        expected = context @ [PAY_OFF[name] for name in SCHEMA.coordinates]
        return round(float(np.clip(expected + NOISE * self.rng.normal(), -1, 1)), 3)


def make_past(url: str, *, decisions: int, seed: int = 11) -> World:
    """Create a desk with a past; returns the world, which goes on."""
    world = World(np.random.default_rng(seed))
    with Desk.open(url, DESK, schema=SCHEMA, seed=seed, **SETTINGS) as desk:
        sessions = ReviewSessions(desk)
        for turn in range(decisions // ROUND):
            _decide(desk, world)
            _answer(desk, sessions, world, list(REVIEWERS)[turn % len(REVIEWERS)])
        desk.catch_up(wait=True)
    return world


def _decide(desk: Desk, world: World) -> None:
    """Some decisions, with their outcomes."""
    rounds = [world.candidates() for _ in range(ROUND)]
    results = desk.execute([Decide(candidates, actor="intake") for candidates in rounds])
    decisions = [DeskDecision(event) for event in results if isinstance(event, Event)]
    outcomes = []
    for candidates, decision in zip(rounds, decisions, strict=True):
        rewards = {one["id"]: world.reward(one) for one in candidates if one["id"] in decision.chosen}
        if rewards:
            outcomes.append(RecordOutcome(decision.id, rewards, actor="intake"))
    desk.execute(outcomes)
    desk.catch_up()


def _answer(desk: Desk, sessions: ReviewSessions, world: World, reviewer: str) -> None:
    """One answer of a reviewer who knows the true metric and errs now and then."""
    item = sessions.next(reviewer)
    if item is None:
        return
    body = desk.event(item.decision).body
    i, j = (body["candidates"].index(name) for name in (item.left, item.right))
    difference = reviewer_metric() @ (np.array(body["contexts"][i]) - np.array(body["contexts"][j]))
    unfair = abs(body["probabilities"][i] - body["probabilities"][j]) > np.linalg.norm(difference)
    errs = world.rng.random() < REVIEWERS[reviewer]
    answer = "unfair" if unfair != errs else "acceptable"
    seconds = round(3.0 + float(world.rng.gamma(2.0, 3.0)), 1)
    ended = datetime.now(UTC)
    started = (ended - timedelta(seconds=seconds)).isoformat()
    remarks = {"reason": None, "note": None, "started": started, "ended": ended.isoformat(), "seconds": seconds}
    desk.execute([sessions.command(item, answer, remarks)])
    sessions.settle(item, answer)
    desk.catch_up()


@contextmanager
def arrivals(base: str, token: str, world: World) -> Iterator[None]:
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
            while not stopped.wait(PAUSE):
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
