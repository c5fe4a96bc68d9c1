"""Reviews: give one, take one back, answer a question about two contexts, and see which pairs wait."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from evenhand.desk.commands import AnswerQuestion, GiveReview, Withdraw
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
        said.circumstances,
        said.supersedes,
        actor=call.caller.name,
        idempotency_key=call.key,
    )
    return await recorded(call, command)


async def withdraw_review(call: Call) -> Answer:
    """Take a review of one's own back: an event is added, and all becomes as if it had never been given.

    An admin may take back any.
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
    """Pairs that wait for a review, the most telling first. Named, a reviewer gets them on lease: nobody else does.

    A token can name itself alone, an admin anybody. What the desk thinks of a pair is not told to reviewers.
    """
    query = call.query(("limit", "reviewer"))
    limit, reviewer = call.page_size(query), query.get("reviewer")
    if reviewer is not None and not 1 <= len(reviewer) <= 200:
        raise Problem("invalid", f"reviewer has {len(reviewer)} characters; allowed are 1 to 200")
    if reviewer is not None:
        reviewer = name_of(call.caller, reviewer)
    desk = (await call.service.desks.get(call.desk)).desk
    pairs = await asyncio.to_thread(lambda: desk.queue(limit, reviewer=reviewer))
    return told({"pairs": [pair_for(call.caller, pair) for pair in pairs]})
