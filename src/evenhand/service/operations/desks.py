"""Desks: open one, list them, look at one, at its metric and at its ledger."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from evenhand.desk.commands import ChangeSettings
from evenhand.service.answer import Answer, told
from evenhand.service.operations.recorded import recorded
from evenhand.service.problems import Problem

if TYPE_CHECKING:
    from evenhand.service.call import Call

LONGEST_NAME = 200


def public(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings without the seed: whoever knows it can foresee the draws."""
    return {name: value for name, value in settings.items() if name != "seed"}


async def open_desk(call: Call) -> Answer:
    """Open a new desk. Sent again with the same idempotency key, the answer is the same."""
    if not call.caller.sees(call.body.name):
        raise Problem("forbidden", "this token is not for this desk")
    first = await call.service.desks.create(call.body.name, call.body.settings(), call.key, call.caller.name)
    content = {"name": first.desk, "settings": public(first.body["settings"]), "opened": first.time}
    return told(content, 201, ((b"location", f"/api/desks/{first.desk}".encode()),))


async def list_desks(call: Call) -> Answer:
    """The names of the desks the token is for, in order. Page on with after=<next>."""
    query = call.query(("after", "limit"))
    limit, after = call.page_size(query), query.get("after", "")
    if len(after) > LONGEST_NAME:
        raise Problem("invalid", f"after has {len(after)} characters; no desk's name has more than {LONGEST_NAME}")
    seen = [name for name in await call.service.desks.names() if name > after and call.caller.sees(name)]
    return told({"desks": seen[:limit], "next": seen[limit - 1] if len(seen) > limit else None})


async def show_desk(call: Call) -> Answer:
    """A desk: its settings in force, how long its ledger is, how far the state it decides from has come.

    `ledger` says what came of going through the whole ledger when the service started: checked, being checked, or
    damaged at event N.
    """
    call.query(())
    desk = (await call.service.desks.get(call.desk)).desk
    return told({**await asyncio.to_thread(_state_of, desk), "ledger": call.service.checking.standing(desk.name)})


def _state_of(desk: Any) -> dict[str, Any]:
    head = desk.head
    return {
        "name": desk.name,
        "settings": public(desk.settings.to_dict()),
        "events": head.seq,
        "decisions": head.decisions,
        "head": head.hash,
        "state": desk.projection.seq,
    }


async def show_metric(call: Call) -> Answer:
    """What the desk has learned about who is alike: the matrix, how sure it is, and words where features have names."""
    call.query(())
    desk = (await call.service.desks.get(call.desk)).desk
    metric = await asyncio.to_thread(desk.metric)
    return told({"desk": desk.name, **metric.to_dict()})


async def list_events(call: Call) -> Answer:
    """The ledger itself, with its hashes, in order. Page on with after=<next>."""
    query = call.query(("after", "limit"))
    limit, after = call.page_size(query), call.whole_number(query, "after", 0, 0, 2**53)
    desk = (await call.service.desks.get(call.desk)).desk
    found = await asyncio.to_thread(lambda: list(desk.events(after=after, limit=limit + 1)))
    page = [event.to_dict() for event in found[:limit]]
    return told({"events": page, "next": page[-1]["seq"] if len(found) > limit else None})


async def change_settings(call: Call) -> Answer:
    """Change settings while the desk runs: capacity, target_unfair_share, max_unfair_rounds, and those of the queue."""
    return await recorded(call, ChangeSettings(call.body.changes, actor=call.caller.name, idempotency_key=call.key))
