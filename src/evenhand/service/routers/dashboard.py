"""What the dashboard requests: overviews, lists, decisions, proofs, the live stream and downloads.

These routes belong to the pages and are not in the public document: they change with the pages.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from evenhand.certificates import Certificate
from evenhand.ledger.event import LONGEST
from evenhand.ledger.verify import to_jsonl
from evenhand.service.connections import while_connected
from evenhand.service.dashboard.decision_list import decision_list, decisions_csv, desk_summary
from evenhand.service.dashboard.decision_page import decision_page, proofs_page
from evenhand.service.dependencies import (
    NO_QUERY,
    UNIQUE_QUERY,
    AnyCaller,
    DeskOfAdmin,
    DeskOfAny,
    DeskOfDecider,
    QueryModel,
    RecordId,
    RunningService,
)
from evenhand.service.problems import Problem
from evenhand.service.responses import PRIVATE, attachment, json_response
from evenhand.service.visibility import only_reviews, visible_lines, visible_overview

MAX_LISTED = 200
"""Desks in the list."""
LINES = 500
"""Lines of a ledger that are sent together."""

router = APIRouter(prefix="/api", include_in_schema=False)


class SinceQuery(QueryModel):
    """What the page knows already."""

    since: Annotated[str | None, Field(max_length=LONGEST)] = None


class ListQuery(QueryModel):
    """A page of the list of decisions."""

    before: Annotated[int | None, Field(ge=0, le=10**15)] = None
    show: Literal["all", "unfair"] = "all"


@router.get("/window", dependencies=NO_QUERY)
async def show_desks(service: RunningService, caller: AnyCaller) -> Response:
    """The desks the token is for, each with the length of its ledger and the time of its last event."""
    names = [name for name in await service.desks.names() if caller.sees(name)]
    lines = await asyncio.to_thread(lambda: [desk_summary(service.ledger, name) for name in names[:MAX_LISTED]])
    return json_response({"desks": lines, "more": max(0, len(names) - MAX_LISTED)})


@router.get("/desks/{desk}/window", dependencies=UNIQUE_QUERY)
async def show_window(access: DeskOfAny, query: Annotated[SinceQuery, Query()]) -> Response:
    """What the dashboard shows of a desk: all of it, or what changed since a version."""
    overview = await asyncio.to_thread(access.opened.overview.since, query.since)
    return json_response(visible_overview(overview, to_reviewers=only_reviews(access.caller)))


@router.get("/desks/{desk}/window/decisions", dependencies=UNIQUE_QUERY)
async def show_decisions(access: DeskOfAny, query: Annotated[ListQuery, Query()]) -> Response:
    """A page of decisions: of all, or, unless the caller only reviews, of those that were flagged."""
    flagged = query.show == "unfair"
    if flagged and only_reviews(access.caller):
        raise Problem("forbidden", "reviewers do not see which decisions others called unfair")
    page = await asyncio.to_thread(decision_list, access.opened.desk, before=query.before, flagged=flagged)
    return json_response({**page, "lines": visible_lines(access.caller, page["lines"])})


class GroupsQuery(QueryModel):
    """By which attribute candidates are grouped."""

    by: str | None = None


# Not for reviewers: these show probabilities beyond a pair, learned distances, and the answers of others.


@router.get("/desks/{desk}/window/groups", dependencies=UNIQUE_QUERY)
async def show_groups(access: DeskOfDecider, query: Annotated[GroupsQuery, Query()]) -> Response:
    """Chance and outcome by group of the newest candidates."""
    return json_response(await asyncio.to_thread(access.opened.groups.by, query.by))


@router.get("/desks/{desk}/decisions/{decision}/window", dependencies=NO_QUERY)
async def show_decision_page(access: DeskOfDecider, decision: RecordId) -> Response:
    """A decision, the events that followed, its explanation, its candidates, and the budget of its certificate."""
    page = await asyncio.to_thread(decision_page, access.opened.desk, decision)
    return json_response({**page, "certificate_seconds": access.service.settings.certificate_seconds})


@router.get("/desks/{desk}/decisions/{decision}/proofs", dependencies=NO_QUERY)
async def show_proofs(access: DeskOfDecider, decision: RecordId, request: Request) -> Response:
    """What is proved about each pair of a decision, and by which reviews."""
    desk = access.opened.desk
    event = await asyncio.to_thread(desk.decision_event, decision)
    made = await while_connected(request, access.service.certificates.of(desk, event))

    def read() -> dict[str, Any]:
        return proofs_page(desk, event, Certificate.from_dict(orjson.loads(made)))

    return json_response(await asyncio.to_thread(read))


@router.get("/desks/{desk}/decisions/{decision}/certificate", dependencies=NO_QUERY)
async def download_certificate(access: DeskOfDecider, decision: RecordId, request: Request) -> Response:
    """The certificate of a decision, for anybody to check."""
    desk = access.opened.desk
    event = await asyncio.to_thread(desk.decision_event, decision)
    made = await while_connected(request, access.service.certificates.of(desk, event))
    name = f"{desk.name}-certificate-{event.body['number']}.json"
    return Response(made, 200, PRIVATE | attachment(name), "application/json")


@router.get("/desks/{desk}/stream")
async def stream(access: DeskOfAny, request: Request) -> StreamingResponse:
    """What the dashboard shows, live, as server-sent events."""
    known = request.headers.get("last-event-id") or None
    view = access.service.live_views.view(access.opened.desk.name, to_reviewers=only_reviews(access.caller))

    async def check() -> None:
        await access.service.authenticator.caller(request.scope)

    caller = access.caller
    async with AsyncExitStack() as opened:
        opened.enter_context(access.service.live_views.stream_of(caller.token or caller.name))
        pieces = view.watch(known, check)
        opened.push_async_callback(pieces.aclose)
        first = await anext(pieces)  # while it can still fail with a problem document
        at_end = opened.pop_all()

    async def body() -> AsyncIterator[bytes]:
        async with at_end:
            yield first
            async for piece in pieces:
                yield piece

    headers = {"content-type": "text/event-stream", "x-accel-buffering": "no"}
    return StreamingResponse(body(), 200, PRIVATE | headers)


@router.get("/desks/{desk}/ledger.jsonl")
async def download_ledger(access: DeskOfAdmin) -> StreamingResponse:
    """The whole ledger as JSON lines; its hashes can be verified as it is."""
    name = access.opened.desk.name
    lines = (f"{line}\n" for line in to_jsonl(access.service.ledger, name))
    return _download(lines, LINES, "application/jsonl", f"{name}-ledger.jsonl")


@router.get("/desks/{desk}/decisions.csv")
async def download_decisions(access: DeskOfDecider) -> StreamingResponse:
    """All decisions as a table."""
    desk = access.opened.desk
    rows = decisions_csv(access.service.ledger, desk.name, desk.settings)
    return _download(rows, 1, "text/csv; charset=utf-8", f"{desk.name}-decisions.csv")


def _download(texts: Iterator[str], together: int, media_type: str, name: str) -> StreamingResponse:
    """Texts as a file, several to a chunk; each chunk is read in a thread."""

    def some() -> bytes:
        return "".join(text for _, text in zip(range(together), texts, strict=False)).encode()

    async def pieces() -> AsyncIterator[bytes]:
        while piece := await asyncio.to_thread(some):
            yield piece

    return StreamingResponse(pieces(), 200, PRIVATE | attachment(name), media_type)
