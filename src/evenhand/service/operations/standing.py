"""How the service stands: alive, ready, measured. The door answers these by itself."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from evenhand.service.answer import Answer, told
from evenhand.service.measures import are_shared
from evenhand.service.problems import Problem
from evenhand.version import __version__

if TYPE_CHECKING:
    from evenhand.service.call import Call

READY_SECONDS = 5.0
MEDIA_TYPE = b"text/plain; version=0.0.4; charset=utf-8"


async def health(call: Call) -> Answer:
    """Whether the process answers at all."""
    return told({"status": "alive", "version": __version__})


async def ready(call: Call) -> Answer:
    """Whether decisions can be made now: the ledger answers, and takes what is written.

    Once a write has failed, as on a full disk, this tries to write until that succeeds.
    """
    try:
        why_not = await asyncio.wait_for(call.service.office.why_not_ready(), READY_SECONDS)
    except (Problem, TimeoutError):
        why_not = "the ledger does not answer"
    if why_not is not None:
        raise Problem("unavailable", why_not, headers={"Retry-After": "1"})
    return told({"status": "ready", "version": __version__})


async def metrics(call: Call) -> Answer:
    """Numbers for Prometheus: of this process, or of all processes of the service; of desks, those the token is for."""
    desks = call.caller.desks
    of_desks = b"" if are_shared() else await call.service.office.measured(desks)
    return Answer(call.service.measures.told(desks) + of_desks, 200, MEDIA_TYPE)
