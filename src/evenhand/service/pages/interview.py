"""The interview page's requests: the next question, an answer, and people to ask about."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from evenhand.desk.desk import Desk
from evenhand.errors import IdempotencyConflict
from evenhand.records.review_metadata import times
from evenhand.review.interview_sessions import InterviewSessions
from evenhand.service.answer import Answer, told
from evenhand.service.problems import Problem

if TYPE_CHECKING:
    from evenhand.service.call import Call

_interviewing: WeakKeyDictionary[Desk, InterviewSessions] = WeakKeyDictionary()


def interviewing_of(desk: Desk) -> InterviewSessions:
    """The interview page's side of a desk that is open in this process."""
    if desk not in _interviewing:
        _interviewing[desk] = InterviewSessions(desk)
    return _interviewing[desk]


async def next_question(call: Call) -> Answer:
    """The question to put before this reviewer now, and the meter; `item` is null when the interview is over."""
    call.query(())
    interviewing = interviewing_of((await call.service.desks.get(call.desk)).desk)

    def found() -> dict[str, Any]:
        return {**interviewing.next(call.caller.name), "last": interviewing.last(call.caller.name)}

    return told(await asyncio.to_thread(found))


async def answer_interview(call: Call) -> Answer:
    """What a reviewer says to a question, and the next one. An unsure answer is recorded and teaches nothing."""
    opened = await call.service.desks.get(call.desk)
    interviewing, said = interviewing_of(opened.desk), call.body
    remarks = {"reason": said.reason, "note": said.note, **times(said.started, said.ended)}

    def read() -> tuple[dict[str, Any], Any]:
        content = interviewing.decrypt(said.item, call.caller.name)
        return content, interviewing.command(content, said.answer, remarks)

    content, command = await asyncio.to_thread(read)
    try:
        line = (await opened.record(command)).id
    except IdempotencyConflict:
        raise Problem("conflict", "you have answered this question already, perhaps in another window") from None
    after = await asyncio.to_thread(interviewing.answered, content, said.answer, line)
    return told({"review": line, "why": content["question"]["why"], "next": after}, 201)


async def upload_people(call: Call) -> Answer:
    """People for the interview to ask about, in place of those of earlier decisions. The interview begins anew."""
    desk = (await call.service.desks.get(call.desk)).desk
    number = await asyncio.to_thread(interviewing_of(desk).take_people, call.body.csv)
    return told({"people": number}, 201)
