"""Reviews: give one, take one back, answer a question about two contexts, and see which pairs wait."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from evenhand.desk.commands import AnswerQuestion, GiveReview, Withdraw
from evenhand.records.review_metadata import joined
from evenhand.review.queue_pages import QueuePages
from evenhand.service.answer import Answer, told
from evenhand.service.operations.own import check_own, name_of, pair_for
from evenhand.service.operations.recorded import recorded
from evenhand.service.problems import Problem

if TYPE_CHECKING:
    from evenhand.service.call import Call

LONGEST_REASON = 2_000


async def give_review(call: Call) -> Answer:
    """What a reviewer says of a decision, in the token's own name; an admin may name the reviewer."""
    said = call.body
    reviewer = name_of(call.caller, said.reviewer)
    if said.supersedes is not None:
        await check_own(call, said.supersedes)
    command = GiveReview(
        call.path["decision"],
        said.kind,
        said.unfair,
        said.fair,
        said.any_unfair,
        reviewer,
        joined(said.circumstances, said.seen()),
        said.supersedes,
        actor=call.caller.name,
        idempotency_key=call.key,
    )
    return await recorded(call, command)


async def withdraw_review(call: Call) -> Answer:
    """Take a review of one's own back: an event is added, and all becomes as if it had never been given.

    An admin may take back any, and imported lines: with one all that it taught goes, outcomes and reviews.
    """
    reason = call.query(("reason",)).get("reason")
    if reason is not None and len(reason) > LONGEST_REASON:
        raise Problem("invalid", f"the reason has {len(reason)} characters; allowed are up to {LONGEST_REASON}")
    await check_own(call, call.path["review"])
    command = Withdraw(call.path["review"], reason, actor=call.caller.name, idempotency_key=call.key)
    return await recorded(call, command, 200)


async def answer_question(call: Call) -> Answer:
    """What a reviewer says of two contexts treated with a made-up gap, as in an interview; in the token's own name."""
    said = call.body
    command = AnswerQuestion(
        said.x,
        said.y,
        said.gap,
        said.unfair,
        name_of(call.caller, said.reviewer),
        said.circumstances,
        actor=call.caller.name,
        idempotency_key=call.key,
    )
    return await recorded(call, command)


async def show_queue(call: Call) -> Answer:
    """Pairs that wait for a review, the most telling first. Page on with after=<next>.

    Named, a reviewer gets them on lease, and nobody else does; that is one page, and comes again until answered. A
    token can name itself alone, an admin anybody. What the desk thinks of a pair is not told to reviewers.
    """
    query = call.query(("after", "limit", "reviewer"))
    limit, reviewer, after = call.page_size(query), query.get("reviewer"), query.get("after")
    if reviewer is not None and not 1 <= len(reviewer) <= 200:
        raise Problem("invalid", f"reviewer has {len(reviewer)} characters; allowed are 1 to 200")
    if reviewer is not None:
        reviewer = name_of(call.caller, reviewer)
    desk = (await call.service.desks.get(call.desk)).desk
    pages = QueuePages(desk.name, desk.settings.seed)
    start = None if after is None else pages.place(after)
    if reviewer is not None:
        pairs = await asyncio.to_thread(lambda: desk.queue(limit, reviewer=reviewer, after=start))
        return told({"pairs": [pair_for(call.caller, pair) for pair in pairs], "next": None})
    found = await asyncio.to_thread(lambda: desk.queue(limit + 1, after=start))
    page = [pair_for(call.caller, pair) for pair in found[:limit]]
    return told({"pairs": page, "next": pages.note(found[limit - 1].position) if len(found) > limit else None})
