"""The review page's requests: the next pair, an answer, and what all reviewers have done."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from evenhand.desk.desk import Desk
from evenhand.desk.review_book import Given
from evenhand.errors import AlreadyRecorded, IdempotencyConflict
from evenhand.records.review_metadata import DECLINED, times
from evenhand.review.agreement import consistency
from evenhand.review.item import WHY
from evenhand.review.reviewing import Reviewing
from evenhand.service.answer import Answer, told
from evenhand.service.problems import Problem
from evenhand.service.window.reviewers import reviewers_told

if TYPE_CHECKING:
    from evenhand.service.call import Call

_reviewing: WeakKeyDictionary[Desk, Reviewing] = WeakKeyDictionary()


def reviewing_of(desk: Desk) -> Reviewing:
    """The review page's side of a desk that is open in this process."""
    if desk not in _reviewing:
        _reviewing[desk] = Reviewing(desk)
    return _reviewing[desk]


async def next_item(call: Call) -> Answer:
    """The pair to put before this reviewer now; the same until it is answered. `item` is null when nothing waits."""
    call.query(())
    desk = (await call.service.desks.get(call.desk)).desk

    def found() -> dict[str, Any]:
        reviewing = reviewing_of(desk)
        return {**_next(reviewing, call.caller.name), "last": _last(reviewing, call.caller.name)}

    return told(await asyncio.to_thread(found))


async def items_ahead(call: Call) -> Answer:
    """Pairs that a page keeps at hand, to go on with when the service cannot be reached; and how many wait."""
    call.query(())
    desk = (await call.service.desks.get(call.desk)).desk
    reviewing = reviewing_of(desk)

    def found() -> dict[str, Any]:
        ahead = [reviewing.shown(item) for item in reviewing.ahead(call.caller.name)]
        waiting = reviewing.waiting()
        if waiting < len(ahead):  # counted before these came
            waiting = reviewing.waiting(now=True)
        return {"ahead": ahead, "waiting": waiting}

    return told(await asyncio.to_thread(found))


def _next(reviewing: Reviewing, reviewer: str) -> dict[str, Any]:
    item = reviewing.next(reviewer)
    progress = progress_of(reviewing, reviewer, over=item is None)
    if item is None:
        return {"item": None, "progress": progress}
    return {**reviewing.shown(item), "again_of": item.again_of, "progress": progress}


def _last(reviewing: Reviewing, reviewer: str) -> dict[str, Any] | None:
    """This reviewer's last answer of today on the page, with what was remarked: a page opened anew can take it back."""
    given = next((one for one in reversed(reviewing.today(reviewer)) if one.item is not None), None)
    if given is None:
        return None
    told = reviewing.desk.event(given.review).body["circumstances"]
    return {"review": given.review, "answer": given.answer, "reason": told.get("reason"), "note": told.get("note")}


def progress_of(reviewing: Reviewing, reviewer: str, *, over: bool) -> dict[str, Any]:
    """How far a reviewer has come today, and how steady they were; `pause` proposes an end."""
    given, goal = reviewing.today(reviewer), reviewing.book.rules.session
    today = len(given)
    pause = today > 0 and today % goal == 0
    steady = consistency(reviewing.book.compared(reviewer)).to_dict() if pause else None
    return {
        "today": today,
        "goal": goal,
        "session": _counted(given[(today - 1) // goal * goal :] if today else []),
        "day": _counted(given),
        "waiting": reviewing.waiting(now=over),
        "lease": reviewing.book.rules.lease,
        "pause": pause,
        "consistency": steady,
    }


def _counted(given: Sequence[Given]) -> dict[str, int]:
    """How many were answered, and on how many somebody else is asked."""
    passed = sum(one.answer in DECLINED for one in given)
    return {"answered": len(given) - passed, "passed": passed}


async def answer_item(call: Call) -> Answer:
    """What a reviewer says of the pair before them, and the next pair. Sent again, an item is not answered again."""
    opened = await call.service.desks.get(call.desk)
    reviewing, said = reviewing_of(opened.desk), call.body
    remarks = {"reason": said.reason, "note": said.note, **times(said.started, said.ended)}

    item = reviewing.opened(said.item, call.caller.name)
    try:
        event = await opened.record(await asyncio.to_thread(reviewing.command, item, said.answer, remarks))
    except (AlreadyRecorded, IdempotencyConflict):
        # The pair must not come again and again to somebody whose answer cannot be taken.
        await asyncio.to_thread(reviewing.settle, item, said.answer)
        raise Problem("conflict", "you have answered on this pair already, perhaps in another window") from None

    def then() -> dict[str, Any]:
        reviewing.settle(item, said.answer)
        return _next(reviewing, call.caller.name)

    return told({"review": event.id, "why": WHY[item.why], "next": await asyncio.to_thread(then)}, 201)


async def show_reviewers(call: Call) -> Answer:
    """What reviewers have done, how often each answered a repeat as before, and how far they agree."""
    call.query(())
    desk = (await call.service.desks.get(call.desk)).desk
    return told(await asyncio.to_thread(_reviewers, reviewing_of(desk)))


def _reviewers(reviewing: Reviewing) -> dict[str, Any]:
    told = reviewers_told(reviewing.book, reviewing.desk.projection, reviewing.desk.settings)
    return {"reviewers": told["people"], "agreement": told["agreement"], "consistency": told["consistency"]}
