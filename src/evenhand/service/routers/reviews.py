"""Reviews: give one, withdraw one, answer a question about two contexts, and list the pairs that wait."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from evenhand.desk.commands import AnswerQuestion, GiveReview, Withdraw
from evenhand.ledger.event import LONGEST
from evenhand.records.review_metadata import LONGEST_TEXT, joined
from evenhand.review.encryption import LONGEST_CURSOR, QueueCursors
from evenhand.service.dependencies import (
    UNIQUE_QUERY,
    DeskOfReviewer,
    IdempotencyKey,
    JSONRoute,
    PageQuery,
    QueryModel,
    RecordId,
)
from evenhand.service.problems import AT_DESK, WRITE
from evenhand.service.request_models import AnswerRequest, ReviewRequest
from evenhand.service.responses import QueuePage, Recorded, event_response, json_response
from evenhand.service.visibility import check_own, check_sees_all_attributes, visible_pair

MOST_RESERVED = 100
"""Pairs that are reserved for one reviewer at a time: nobody can keep the whole queue from others."""

router = APIRouter(prefix="/api/desks/{desk}", tags=["desk"], route_class=JSONRoute)


class WithdrawQuery(QueryModel):
    """Why a review is withdrawn."""

    reason: Annotated[
        str | None, Field(max_length=LONGEST_TEXT, description="Stays in the ledger for good: name nobody.")
    ] = None


class QueueQuery(PageQuery):
    """A page of the queue."""

    after: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=LONGEST_CURSOR,
            description="The `next` of the page before; not together with a reviewer.",
            json_schema_extra={"pattern": "^[A-Za-z0-9_-]+$"},
        ),
    ] = None
    reviewer: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=LONGEST,
            description="Who will answer: printable characters.",
            json_schema_extra={"pattern": r"^[^\u0000-\u001f\u007f-\u009f]+$"},
        ),
    ] = None


@router.post("/decisions/{decision}/reviews", status_code=201, response_model=Recorded, responses=WRITE)
async def give_review(
    access: DeskOfReviewer, decision: RecordId, body: ReviewRequest, key: IdempotencyKey = None
) -> Response:
    """Review a decision, in the token's own name; an admin may name the reviewer."""
    reviewer = access.caller.reviewer_name(body.reviewer)
    if body.supersedes is not None:
        await check_own(access.caller, access.opened.desk, body.supersedes)
    review = (body.kind, body.unfair, body.fair, body.any_unfair, reviewer)
    metadata = joined(body.circumstances, body.metadata())
    command = (decision, *review, metadata, body.supersedes)
    return event_response(await access.record(GiveReview, *command, key=key, subject=body.subject, **body.answers()))


@router.delete("/reviews/{review}", response_model=Recorded, responses=WRITE, dependencies=UNIQUE_QUERY)
async def withdraw_review(
    access: DeskOfReviewer, review: RecordId, query: Annotated[WithdrawQuery, Query()], key: IdempotencyKey = None
) -> Response:
    """Withdraw a review of one's own: an event is added, and the desk learns as if the review had never been given.

    An admin may withdraw any review, and imported events: with one all it taught goes, outcomes and reviews.
    """
    await check_own(access.caller, access.opened.desk, review)
    return event_response(await access.record(Withdraw, review, query.reason, key=key), 200)


@router.post("/answers", status_code=201, response_model=Recorded, responses=WRITE)
async def answer_question(access: DeskOfReviewer, body: AnswerRequest, key: IdempotencyKey = None) -> Response:
    """Answer a question about two contexts with a hypothetical gap, as in an interview; in the token's own name.

    Contexts have all attributes: not for reviewers of a desk that hides some of them.
    """
    check_sees_all_attributes(access.caller, access.opened.desk.settings)
    reviewer = access.caller.reviewer_name(body.reviewer)
    answer = (body.x, body.y, body.gap, body.unfair, reviewer, body.circumstances)
    return event_response(await access.record(AnswerQuestion, *answer, key=key, people=body.people))


@router.get("/queue", response_model=QueuePage, responses=AT_DESK, dependencies=UNIQUE_QUERY)
async def show_queue(access: DeskOfReviewer, query: Annotated[QueueQuery, Query()]) -> Response:
    """Pairs that wait for a review, the most informative first. Get the next page with after=<next>.

    With a reviewer the pairs are reserved for them, as one page that stays the same until answered. A token can name
    itself only, an admin anybody. Reviewers do not see what the desk has learned about a pair.
    """
    limit, caller, desk = query.size(access.service), access.caller, access.opened.desk
    reviewer = None if query.reviewer is None else caller.reviewer_name(query.reviewer)
    if reviewer is not None:
        limit = min(limit, MOST_RESERVED)
    cursors = QueueCursors(desk.ledger, desk.name, access.service.settings.service_keys)

    def read() -> dict[str, object]:
        after = None if query.after is None else cursors.place(query.after)
        found = desk.queue(limit + (reviewer is None), reviewer=reviewer, after=after)
        page = [visible_pair(caller, pair) for pair in found[:limit]]
        rules = desk.settings.reviewing
        asked = {"ask": rules.ask, "scale": list(rules.scale), "tolerance": rules.tolerance}
        following = cursors.cursor(found[limit - 1].position) if len(found) > limit else None
        return {"pairs": page, "next": following, **asked}

    return json_response(await asyncio.to_thread(read))
