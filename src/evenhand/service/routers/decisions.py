"""Decisions: make one, look at one, record its outcomes or an override."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Response

from evenhand.desk.commands import Decide, Override, RecordAction, RecordOutcome
from evenhand.service.dependencies import NO_QUERY, DeskOfAny, DeskOfDecider, IdempotencyKey, JSONRoute, RecordId
from evenhand.service.problems import AT_DESK, WRITE, Problem
from evenhand.service.request_models import ActionRequest, DecisionRequest, OutcomesRequest, OverrideRequest
from evenhand.service.responses import DecisionRecord, MadeDecision, Recorded, event_response, json_response
from evenhand.service.visibility import visible_decision

router = APIRouter(prefix="/api/desks/{desk}/decisions", tags=["desk"], route_class=JSONRoute)


@router.post("", status_code=201, response_model=MadeDecision, responses=WRITE)
async def decide(access: DeskOfDecider, body: DecisionRequest, key: IdempotencyKey = None) -> Response:
    """Choose among candidates: the probability of each, in their order, and which of them were drawn.

    Candidates who do not fit the desk's features are refused with the whole request, unless on_invalid is skip or clip:
    then they are left out, and the response names them and the reasons. Floors and ceilings that no fair probabilities
    keep to are refused as colliding-bounds: the problem names the pairs that collide, and what each way out costs.

    A desk in shadow mode chooses nobody: `chosen` is empty, `would_choose` has the draw. What was really done may come
    with the request, in `action`, or later.
    """
    most = access.service.settings.max_candidates
    if len(body.candidates) > most:
        raise Problem("invalid", f"candidates must be at most {most}, got {len(body.candidates)}")
    action = None if body.action is None else body.action.fields()
    later = {"lower": body.lower, "upper": body.upper, "action": action}
    event = await access.record(Decide, body.candidates, body.mode, key=key, **later)
    return event_response(event, model=MadeDecision)


@router.get("/{decision}", response_model=DecisionRecord, responses=AT_DESK, dependencies=NO_QUERY)
async def show_decision(access: DeskOfAny, decision: RecordId) -> Response:
    """The record of a decision, the events that followed, and its explanation.

    Reviewers see their own reviews only, and not what the desk has learned about pairs.
    """
    desk = access.opened.desk

    def read() -> dict[str, Any]:
        record, explanation = desk.decision(decision), desk.explain(decision)
        return {"id": decision, "record": record, "explanation": explanation.to_dict()}

    return json_response(visible_decision(access.caller, await asyncio.to_thread(read), desk.settings))


@router.post("/{decision}/outcomes", status_code=201, response_model=Recorded, responses=WRITE)
async def record_outcomes(
    access: DeskOfDecider, decision: RecordId, body: OutcomesRequest, key: IdempotencyKey = None
) -> Response:
    """Record the outcomes of chosen candidates: a reward for each, by candidate id."""
    return event_response(await access.record(RecordOutcome, decision, body.rewards, key=key))


@router.post("/{decision}/overrides", status_code=201, response_model=Recorded, responses=WRITE)
async def record_override(
    access: DeskOfDecider, decision: RecordId, body: OverrideRequest, key: IdempotencyKey = None
) -> Response:
    """Record that somebody chose otherwise than the lottery: nobody, or as many as the decision's capacity allows.

    From then on outcomes are accepted for those candidates only. The last override counts.
    """
    return event_response(await access.record(Override, decision, body.chosen, body.reason, key=key))


@router.post("/{decision}/actions", status_code=201, response_model=Recorded, responses=WRITE)
async def record_action(
    access: DeskOfDecider, decision: RecordId, body: ActionRequest, key: IdempotencyKey = None
) -> Response:
    """Record what the system in force really did, once, where the desk decided in shadow mode.

    From then on outcomes are accepted for those who were chosen, and reviewers are asked about both treatments.
    """
    return event_response(await access.record(RecordAction, decision, **body.fields(), key=key))
