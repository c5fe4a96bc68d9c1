"""Desks: open one, list them, look at one, at its metric and at its ledger."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from evenhand.desk.commands import ChangeSettings, Erase, Switch
from evenhand.desk.differences import DIFFERENCES, MOST_DIFFERENCES
from evenhand.desk.reward_settings import RewardSettings
from evenhand.ledger.event import LONGEST
from evenhand.service.dependencies import (
    NO_QUERY,
    UNIQUE_QUERY,
    Admin,
    AnyCaller,
    DeskOfAdmin,
    DeskOfAny,
    DeskOfDecider,
    IdempotencyKey,
    JSONRoute,
    PageQuery,
    QueryModel,
    RunningService,
)
from evenhand.service.problems import AT_DESK, LISTED, WRITE, Problem
from evenhand.service.request_models import DeskRequest, ErasureRequest, SettingsRequest, SwitchRequest
from evenhand.service.responses import (
    DeskPage,
    DeskStatus,
    DifferencesReport,
    EventPage,
    LearnedMetric,
    OpenedDesk,
    Recorded,
    event_response,
    json_response,
)
from evenhand.service.visibility import visible_head, visible_settings

router = APIRouter(prefix="/api/desks", tags=["desk"], route_class=JSONRoute)


class DeskQuery(PageQuery):
    """A page of the list of desks."""

    after: Annotated[str, Field(max_length=LONGEST, description="The `next` of the page before.")] = ""


class EventQuery(PageQuery):
    """A page of a ledger."""

    after: Annotated[int, Field(ge=0, le=2**53, description="The `next` of the page before.")] = 0


class DifferencesQuery(QueryModel):
    """How many decisions are compared."""

    last: Annotated[
        int, Field(ge=1, le=MOST_DIFFERENCES, description="The newest decisions in shadow mode: this many at most.")
    ] = DIFFERENCES


def _public(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings without the seed, from which draws of earlier versions can be foreseen, and the file of a model."""
    shown = RewardSettings.create(settings["reward"]).shown()
    return {name: value for name, value in settings.items() if name != "seed"} | {"reward": shown}


@router.post("", status_code=201, response_model=OpenedDesk, responses=WRITE)
async def open_desk(service: RunningService, caller: Admin, body: DeskRequest, key: IdempotencyKey = None) -> Response:
    """Open a new desk. Sent again with the same idempotency key, the response is the same."""
    if not caller.sees(body.name):
        raise Problem("forbidden", "this token is not for this desk")
    first = await service.desks.create(body.name, body.settings(), key, caller.name)
    content = {"name": first.desk, "settings": _public(first.body["settings"]), "opened": first.time}
    return json_response(content, 201, {"location": f"/api/desks/{first.desk}"})


@router.get("", response_model=DeskPage, responses=LISTED, dependencies=UNIQUE_QUERY)
async def list_desks(service: RunningService, caller: AnyCaller, query: Annotated[DeskQuery, Query()]) -> Response:
    """The names of the desks the token is for, in order. Get the next page with after=<next>."""
    limit = query.size(service)
    names = [name for name in await service.desks.names() if name > query.after and caller.sees(name)]
    return json_response({"desks": names[:limit], "next": names[limit - 1] if len(names) > limit else None})


@router.get("/{desk}", response_model=DeskStatus, responses=AT_DESK, dependencies=NO_QUERY)
async def show_desk(access: DeskOfAny) -> Response:
    """A desk: its settings in force, the length of its ledger, and the last event that decisions are based on.

    `flags_left`: a proved number of decisions that can still be flagged at most, and `promise` says under which
    conditions; null where the metric learner promises none. Both are withdrawn if `no_metric_fits`: the reviewers'
    answers follow no metric.
    `ledger` is the result of verifying the whole ledger after the start: checked, being checked, or damaged at event N.
    `head` is the hash of the last event; null for reviewers, to whom settings say nothing of hidden attributes either.
    """
    desk = access.opened.desk
    head, projection = await asyncio.to_thread(lambda: desk.head), desk.projection
    return json_response(
        {
            "name": desk.name,
            "settings": visible_settings(access.caller, desk.settings),
            "events": head.seq,
            "decisions": head.decisions,
            "head": visible_head(access.caller, head.hash),
            "state": projection.seq,
            "flags_left": projection.bandit.flags_left,
            "promise": projection.bandit.promise,
            "no_metric_fits": projection.bandit.fit_check.speaks_up,
            "ledger": access.service.verification.result(desk.name),
        }
    )


@router.get("/{desk}/metric", response_model=LearnedMetric, responses=AT_DESK, dependencies=NO_QUERY)
async def show_metric(access: DeskOfDecider) -> Response:
    """What the desk has learned about similarity: the matrix, its uncertainty, and words where features have names.

    Not for reviewers, whose answers must be their own.
    """
    metric = await asyncio.to_thread(access.opened.desk.metric)
    return json_response({"desk": access.opened.desk.name, **metric.to_dict()})


@router.get("/{desk}/events", response_model=EventPage, responses=AT_DESK, dependencies=UNIQUE_QUERY)
async def list_events(access: DeskOfAdmin, query: Annotated[EventQuery, Query()]) -> Response:
    """The ledger itself, with its hashes, in order. Get the next page with after=<next>."""
    limit, desk = query.size(access.service), access.opened.desk
    found = await asyncio.to_thread(lambda: desk.events(after=query.after, limit=limit + 1))
    page = [event.to_dict() for event in found[:limit]]
    return json_response({"events": page, "next": page[-1]["seq"] if len(found) > limit else None})


@router.post("/{desk}/settings", status_code=201, response_model=Recorded, responses=WRITE)
async def change_settings(access: DeskOfAdmin, body: SettingsRequest, key: IdempotencyKey = None) -> Response:
    """Change settings while the desk runs: capacity, the target, max_unfair_rounds, and those of the queue."""
    return event_response(await access.record(ChangeSettings, body.changes, key=key))


@router.post("/{desk}/switches", status_code=201, response_model=Recorded, responses=WRITE)
async def switch(access: DeskOfAdmin, body: SwitchRequest, key: IdempotencyKey = None) -> Response:
    """Make a desk live, or put it into shadow mode, from the next decision on."""
    return event_response(await access.record(Switch, body.to, body.reason, key=key))


@router.get("/{desk}/differences", response_model=DifferencesReport, responses=AT_DESK, dependencies=UNIQUE_QUERY)
async def show_differences(access: DeskOfDecider, query: Annotated[DifferencesQuery, Query()]) -> Response:
    """Where the desk in shadow mode and the system in force differ: choices, estimated rewards, unfair pairs, reviews.

    Estimates are those of the reward model and the metric as they are now. Not for reviewers.
    """
    desk = access.opened.desk
    found = await asyncio.to_thread(access.opened.differences, query.last)
    return json_response({"desk_name": desk.name, **found.to_dict(), "sentences": list(found.sentences)})


@router.post("/{desk}/erasures", status_code=201, response_model=Recorded, responses=WRITE)
async def erase(access: DeskOfAdmin, body: ErasureRequest, key: IdempotencyKey = None) -> Response:
    """Erase what the ledger says about a candidate: features, contexts, estimates and free text.

    Ids, probabilities, who was chosen, rewards and verdicts stay. The desk learns as if it had never learned from them.
    """
    event = await access.record(Erase, body.candidate, body.reason, key=key)
    await asyncio.to_thread(access.opened.desk.finish_erasure, event)
    return event_response(event)
