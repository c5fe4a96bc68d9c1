"""Health, readiness and metrics of the service."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Response

from evenhand.errors import EvenhandError
from evenhand.service.dependencies import MetricsReader, RunningService
from evenhand.service.problems import WITH_TOKEN, problem_responses, unavailable
from evenhand.service.responses import PRIVATE, Health, json_response
from evenhand.version import __version__

READY_SECONDS = 5.0
STUCK_SECONDS = 30.0
"""A batch of commands that has been under way for longer is stuck: other services should get the requests."""
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

router = APIRouter(tags=["service"])


@router.get("/health", response_model=Health, responses=problem_responses())
async def health() -> Response:
    """Whether the process answers at all."""
    return json_response({"status": "alive", "version": __version__})


@router.get("/ready", response_model=Health, responses=problem_responses())
async def ready(service: RunningService) -> Response:
    """Whether decisions can be made now: the ledger can be read and written, and no desk is stuck.

    After a failed write, as on a full disk, every request tries to write until that succeeds.
    """
    try:
        async with asyncio.timeout(READY_SECONDS):
            await service.desks.names()
            is_writable = await service.desks.is_writable()
    except (EvenhandError, TimeoutError):
        raise unavailable("the ledger does not answer") from None
    if not is_writable:
        raise unavailable("the ledger cannot be written now; see the log")
    if service.desks.stuck_seconds() > STUCK_SECONDS:
        raise unavailable(f"a desk has been writing for more than {STUCK_SECONDS:g} s; see the metrics")
    return json_response({"status": "ready", "version": __version__})


@router.get(
    "/metrics",
    response_class=Response,
    responses=WITH_TOKEN | {200: {"description": "Done.", "content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(service: RunningService, caller: MetricsReader) -> Response:
    """Metrics for Prometheus, of all processes of the service; of desks, those the token is for."""
    return Response(service.metrics_text(caller.desks), 200, PRIVATE, METRICS_TYPE)
