"""What the review and interview pages request: the next pair or question, an answer, and the work of all reviewers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Response

from evenhand.desk.event_records import ReviewAnswer
from evenhand.errors import AlreadyRecorded, IdempotencyConflict
from evenhand.records.review_metadata import DECLINED
from evenhand.review.agreement import consistency
from evenhand.review.item import WHY
from evenhand.review.review_sessions import ReviewSessions
from evenhand.service.dashboard.overview import reviewers_part
from evenhand.service.dependencies import NO_QUERY, DeskOfAdmin, DeskOfReviewer, JSONRoute
from evenhand.service.problems import Problem
from evenhand.service.request_models import PageAnswer, PeopleRequest
from evenhand.service.responses import json_response
from evenhand.service.visibility import check_sees_all_attributes

router = APIRouter(prefix="/api/desks/{desk}", include_in_schema=False, route_class=JSONRoute)


@router.get("/review/next", dependencies=NO_QUERY)
async def next_item(access: DeskOfReviewer) -> Response:
    """The pair to show this reviewer now; the same until it is answered. `item` is null when nothing waits."""
    view = access.opened.review_sessions, access.caller.name
    return json_response(await asyncio.to_thread(lambda: {**_next(*view), "last": _last(*view)}))


@router.get("/review/ahead", dependencies=NO_QUERY)
async def items_ahead(access: DeskOfReviewer) -> Response:
    """Pairs that a page keeps in case the service cannot be reached; and how many wait."""
    sessions, reviewer = access.opened.review_sessions, access.caller.name

    def read() -> dict[str, Any]:
        ahead = [sessions.display(item) for item in sessions.ahead(reviewer)]
        waiting = sessions.waiting()
        if waiting < len(ahead):  # counted before these came
            waiting = sessions.waiting(now=True)
        return {"ahead": ahead, "waiting": waiting}

    return json_response(await asyncio.to_thread(read))


@router.post("/review/answers", status_code=201)
async def answer_item(access: DeskOfReviewer, body: PageAnswer) -> Response:
    """Record an answer on the pair that the page shows, and return the next pair. An item is answered once."""
    sessions, reviewer = access.opened.review_sessions, access.caller.name

    def prepare() -> tuple[Any, Any]:
        item = sessions.decrypt(body.item, reviewer)
        return item, sessions.command(item, body.answer, body.remarks(), body.ratings)

    item, command = await asyncio.to_thread(prepare)
    try:
        event = await access.opened.commits.submit(command)
    except (AlreadyRecorded, IdempotencyConflict):
        # A pair whose answer cannot be recorded must not come again and again.
        await asyncio.to_thread(sessions.settle, item, body.answer)
        raise Problem("conflict", "you have answered this pair already, perhaps in another window") from None

    def settle() -> dict[str, Any]:
        sessions.settle(item, body.answer)
        return _next(sessions, reviewer)

    return json_response({"review": event.id, "why": WHY[item.why], "next": await asyncio.to_thread(settle)}, 201)


@router.get("/reviewers", dependencies=NO_QUERY)
async def show_reviewers(access: DeskOfAdmin) -> Response:
    """The work of all reviewers, their consistency, and their agreement."""
    sessions, desk = access.opened.review_sessions, access.opened.desk
    part = await asyncio.to_thread(lambda: reviewers_part(sessions.book, desk.projection, desk.settings))
    return json_response({"reviewers": part["people"], **{name: part[name] for name in ("agreement", "consistency")}})


def _next(sessions: ReviewSessions, reviewer: str) -> dict[str, Any]:
    item = sessions.next(reviewer)
    progress = _progress(sessions, reviewer, over=item is None)
    if item is None:
        return {"item": None, "progress": progress}
    return {**sessions.display(item), "again_of": item.again_of, "progress": progress}


def _last(sessions: ReviewSessions, reviewer: str) -> dict[str, Any] | None:
    """The reviewer's last answer of today on the page, with its remarks: a page that was reloaded can withdraw it."""
    last = next((answer for answer in reversed(sessions.today(reviewer)) if answer.item is not None), None)
    if last is None:
        return None
    body = sessions.desk.event(last.review).body
    metadata = body["circumstances"]
    remarks = {name: metadata.get(name) for name in ("answer", "reason", "note")}
    ratings = [body["ratings"][metadata["sides"][side]] for side in ("left", "right")] if "ratings" in body else None
    return {"review": last.review, **remarks, "ratings": ratings}


def _progress(sessions: ReviewSessions, reviewer: str, *, over: bool) -> dict[str, Any]:
    """The reviewer's progress of today and consistency; `pause` proposes a break."""
    answers, goal = sessions.today(reviewer), sessions.book.rules.session
    today = len(answers)
    pause = today > 0 and today % goal == 0
    return {
        "today": today,
        "goal": goal,
        "session": _counts(answers[(today - 1) // goal * goal :] if today else []),
        "day": _counts(answers),
        "waiting": sessions.waiting(now=over),
        "lease": sessions.book.rules.lease,
        "pause": pause,
        "consistency": asdict(consistency(sessions.book.compared(reviewer))) if pause else None,
    }


def _counts(answers: Sequence[ReviewAnswer]) -> dict[str, int]:
    """How many pairs were answered, and how many were left to somebody else."""
    passed = sum(answer.answer in DECLINED for answer in answers)
    return {"answered": len(answers) - passed, "passed": passed}


# The interview page.


@router.get("/interview/next", dependencies=NO_QUERY)
async def next_question(access: DeskOfReviewer) -> Response:
    """The question to show this reviewer now, and the meter; `item` is null when the interview is over."""
    sessions, reviewer = access.opened.interview_sessions, access.caller.name
    question = await asyncio.to_thread(lambda: {**sessions.next(reviewer), "last": sessions.last(reviewer)})
    return json_response(question)


@router.post("/interview/answers", status_code=201)
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


@router.post("/interview/people", status_code=201)
async def upload_people(access: DeskOfReviewer, body: PeopleRequest) -> Response:
    """People to ask about instead of those of earlier decisions. The interview starts again."""
    check_sees_all_attributes(access.caller, access.opened.desk.settings)
    number = await asyncio.to_thread(access.opened.interview_sessions.upload_people, body.csv)
    return json_response({"people": number}, 201)
