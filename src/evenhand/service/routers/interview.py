"""What the interview page requests: the next question, an answer, and people to ask about."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Response

from evenhand.errors import IdempotencyConflict
from evenhand.service.dependencies import NO_QUERY, DeskOfReviewer, JSONRoute
from evenhand.service.problems import Problem
from evenhand.service.request_models import PageAnswer, PeopleRequest
from evenhand.service.responses import json_response

router = APIRouter(prefix="/api/desks/{desk}/interview", include_in_schema=False, route_class=JSONRoute)


@router.get("/next", dependencies=NO_QUERY)
async def next_question(access: DeskOfReviewer) -> Response:
    """The question to show this reviewer now, and the meter; `item` is null when the interview is over."""
    sessions, reviewer = access.opened.interview_sessions, access.caller.name

    def read() -> dict[str, Any]:
        return {**sessions.next(reviewer), "last": sessions.last(reviewer)}

    return json_response(await asyncio.to_thread(read))


@router.post("/answers", status_code=201)
async def answer_interview(access: DeskOfReviewer, body: PageAnswer) -> Response:
    """Record an answer and return the next question. An unsure answer is recorded and not learned from."""
    sessions, reviewer = access.opened.interview_sessions, access.caller.name

    def prepare() -> tuple[dict[str, Any], Any]:
        content = sessions.decrypt(body.item, reviewer)
        return content, sessions.command(content, body.answer, body.remarks())

    content, command = await asyncio.to_thread(prepare)
    try:
        event = await access.opened.commits.submit(command)
    except IdempotencyConflict:
        raise Problem("conflict", "you have answered this question already, perhaps in another window") from None
    after = await asyncio.to_thread(sessions.answered, content, body.answer, event.id)
    return json_response({"review": event.id, "why": content["question"]["why"], "next": after}, 201)


@router.post("/people", status_code=201)
async def upload_people(access: DeskOfReviewer, body: PeopleRequest) -> Response:
    """People to ask about instead of those of earlier decisions. The interview starts again."""
    number = await asyncio.to_thread(access.opened.interview_sessions.upload_people, body.csv)
    return json_response({"people": number}, 201)
