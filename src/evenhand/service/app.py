"""create_app(settings): the application of one process. Nothing is opened before it starts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from evenhand.service.background.certificates import GRACE_SECONDS
from evenhand.service.middleware import (
    AnswerInTime,
    CheckRequests,
    ExplainStartup,
    LimitTime,
    ObserveRequests,
    TakeTurns,
)
from evenhand.service.problems import add_problem_handlers
from evenhand.service.routers import dashboard, decisions, desks, heads, health, pages, review_page, reviews, sessions
from evenhand.service.service import running_service
from evenhand.service.settings import ServiceSettings
from evenhand.service.shutdown import noticing_signals
from evenhand.version import __version__


def create_app(settings: ServiceSettings, *, make: bool = True) -> FastAPI:
    """The application. While it runs, `app.state.service` holds what requests share.

    make: whether the ledger may be created.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with running_service(settings, make=make) as service:
            app.state.service, app.state.connections = service, service.connections
            with noticing_signals():
                yield

    app = FastAPI(
        title="evenhand",
        version=__version__,
        description="Decisions that are as rewarding as similarity allows, with a ledger that proves what happened.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        generate_unique_id_function=lambda route: route.name,
    )
    for part in (decisions, reviews, desks, heads, health, sessions, review_page, dashboard, pages):
        app.include_router(part.router)
    # The last one added sees a request first.
    app.add_middleware(TakeTurns)
    app.add_middleware(AnswerInTime, seconds=max(settings.read_seconds, settings.certificate_seconds + GRACE_SECONDS))
    app.add_middleware(CheckRequests, max_body=settings.max_body)
    app.add_middleware(ObserveRequests)
    app.add_middleware(LimitTime, body_seconds=settings.body_seconds, send_seconds=settings.send_seconds)
    app.add_middleware(ExplainStartup)
    add_problem_handlers(app, pages.not_found_page)
    return app
