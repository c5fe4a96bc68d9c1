"""The window at the door: the live stream and the downloads, which go out piece by piece, and the way to the rest."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson

from evenhand.desk.settings import DeskSettings
from evenhand.ledger.export import to_jsonl
from evenhand.service.answer import Answer
from evenhand.service.asked import Asked, Caller
from evenhand.service.door import admitted, door_of
from evenhand.service.office import answer_to
from evenhand.service.operation import ADMIN, ANYONE, Operation
from evenhand.service.operations.own import only_reviews
from evenhand.service.problems import Problem
from evenhand.service.route import StraightRoute
from evenhand.service.window.attachment import attachment
from evenhand.service.window.operations import DECIDE, DESK, WINDOW_OPERATIONS, show_window
from evenhand.service.window.stream import Hub
from evenhand.service.window.streaming import Streamed
from evenhand.service.window.table import decisions_csv

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp, Receive, Scope, Send

    from evenhand.ledger.ledger import Ledger
    from evenhand.service.service import Service

MAY_STILL = 5.0
"""Seconds after which it is asked again whether somebody who looks may look."""
LINES = 500
"""Lines of a ledger that go out together."""

Make = Callable[[str, dict[bytes, bytes], Caller], Awaitable[Answer]]
"""The answer for a desk, given the headers and who asks."""
WINDOW = {False: Caller("window", ()), True: Caller("window", ("review",))}
"""In whose name a stream asks the office: for those who see all, and for those who see what reviewers do."""


class Refused(Exception):
    """The office refused what the stream asked for."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def add_window(app: FastAPI, service: Service) -> None:
    """Add the window's requests to an application. They are the pages' own: the public document leaves them out."""
    for operation in WINDOW_OPERATIONS:
        app.router.routes.append(StraightRoute(operation, door_of(operation, service), include_in_schema=False))
    streams = Streams(service)
    for path, run, roles in (
        ("/stream", streams.stream, ANYONE),
        ("/ledger.jsonl", streams.ledger, ADMIN),
        ("/decisions.csv", streams.decisions, DECIDE),
    ):
        operation = Operation("GET", DESK + path, run, None, roles)  # type: ignore[arg-type]  # it has no call
        app.router.routes.append(
            StraightRoute(operation, _application(operation, service, run), include_in_schema=False)
        )


def _application(operation: Operation, service: Service, make: Make) -> ASGIApp:
    async def handle(scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        start = time.perf_counter()

        async def may() -> Caller:
            return await admitted(operation, service, headers, scope)

        try:
            caller = await may()
            answer = await make(scope["path_params"]["desk"], headers, caller)
            if isinstance(answer, Streamed):
                answer.pieces = _while(may, answer.pieces)
        except Refused as refused:
            answer = refused.answer
        except Exception as error:
            answer = answer_to(error, operation.name)
        await answer(scope, receive, send)
        service.measures.request(operation.name, answer.status, time.perf_counter() - start)

    return handle


async def _while(may: Callable[[], Awaitable[Any]], pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Pieces, for as long as somebody may have them: a token can be revoked while a stream runs."""
    asked_at = time.monotonic()
    try:
        async for piece in pieces:
            if time.monotonic() - asked_at > MAY_STILL:
                asked_at = time.monotonic()
                await may()
            yield piece
    except Problem:
        return
    finally:
        await pieces.aclose()  # type: ignore[attr-defined]  # it is a generator


class Streams:
    """What goes out piece by piece, of all desks of a service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._hubs: dict[tuple[str, bool], Hub] = {}

    async def stream(self, desk: str, headers: dict[bytes, bytes], caller: Caller) -> Answer:
        """What the window shows, live, as far as the caller may see it."""
        known = headers.get(b"last-event-id", b"").decode("latin-1") or None
        key = (desk, only_reviews(caller))
        hub = self._hubs.setdefault(key, Hub(lambda version: self._ask(*key, version)))
        pieces = hub.watch(known)
        try:
            first = await anext(pieces)
        except BaseException:
            self._forget(key, hub)
            raise
        return Streamed(self._watched(key, hub, first, pieces), b"text/event-stream", ((b"x-accel-buffering", b"no"),))

    async def _watched(
        self, key: tuple[str, bool], hub: Hub, first: bytes, rest: AsyncIterator[bytes]
    ) -> AsyncIterator[bytes]:
        try:
            yield first
            async for piece in rest:
                yield piece
        finally:
            await rest.aclose()  # type: ignore[attr-defined]  # it is a generator
            self._forget(key, hub)

    def _forget(self, key: tuple[str, bool], hub: Hub) -> None:
        if hub.viewers == 0 and self._hubs.get(key) is hub:
            del self._hubs[key]

    async def _ask(self, desk: str, limited: bool, version: str | None) -> dict[str, Any]:
        query = b"" if version is None else f"since={quote(version)}".encode()
        asked = Asked(show_window.__name__, WINDOW[limited], {"desk": desk}, None, query, b"")
        told = await self._service.office.carry_out(asked)
        if told.status != 200:
            raise Refused(Answer(told.body, told.status, told.media_type, told.headers))
        content: dict[str, Any] = orjson.loads(told.body)
        return content

    async def ledger(self, desk: str, headers: dict[bytes, bytes], caller: Caller) -> Answer:
        """The whole ledger as JSON lines; its hashes can be checked as it stands."""
        ledger, _ = await self._found(desk)
        lines = (f"{line}\n" for line in to_jsonl(ledger, desk))
        return _attached(_in_threads(lines, LINES), b"application/jsonl", f"{desk}-ledger.jsonl")

    async def decisions(self, desk: str, headers: dict[bytes, bytes], caller: Caller) -> Answer:
        """All decisions as a table."""
        ledger, settings = await self._found(desk)
        return _attached(
            _in_threads(decisions_csv(ledger, desk, settings), 1), b"text/csv; charset=utf-8", f"{desk}-decisions.csv"
        )

    async def _found(self, desk: str) -> tuple[Ledger, DeskSettings]:
        """The ledger, and the settings of a desk in it; a Problem if there is no such desk."""
        ledger = self._service.ledger

        def read() -> DeskSettings | None:
            if desk not in ledger.names():
                return None
            with ledger.reading(desk) as view:
                row = view.last(("opened", "settings"), view.head.settings)
            return None if row is None else DeskSettings.from_dict(row.event.body["settings"])

        settings = await asyncio.to_thread(read)
        if settings is None:
            raise Problem("not-found", f"there is no desk {desk!r}")
        return ledger, settings


def _attached(pieces: AsyncIterator[bytes], media_type: bytes, name: str) -> Streamed:
    """A download with a name."""
    return Streamed(pieces, media_type, (attachment(name),))


async def _in_threads(texts: Iterator[str], together: int) -> AsyncIterator[bytes]:
    """Texts as bytes, so many together, each made in a thread: reading a ledger must not hold up others."""

    def some() -> bytes:
        return "".join(text for _, text in zip(range(together), texts, strict=False)).encode()

    while piece := await asyncio.to_thread(some):
        yield piece
