"""create_app(settings): the application. Nothing is built or opened at import, and no ledger before it starts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.routing import Match

from evenhand.service.answer import Answer, told
from evenhand.service.application import Application
from evenhand.service.document import document_of, documented
from evenhand.service.door import door_of
from evenhand.service.office import answer_to
from evenhand.service.operation import Operation
from evenhand.service.operations.table import BUSIEST, OPERATIONS
from evenhand.service.pages.files import add_pages, not_found
from evenhand.service.problems import Problem, problem_of_status
from evenhand.service.replies import Standing
from evenhand.service.route import StraightRoute
from evenhand.service.service import Service
from evenhand.service.starting import say_why_it_fails
from evenhand.service.straight import Straight
from evenhand.service.window.door import add_window
from evenhand.version import __version__

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Scope

    from evenhand.service.call import Call
    from evenhand.service.settings import Settings

DESCRIPTION = "Decisions that are as rewarding as similarity allows, with a ledger that proves what happened."


def create_app(settings: Settings, *, make: bool = True) -> FastAPI:
    """The application of one process. Its `state.service` is what operations share; pages may be mounted on it.

    make: False if the ledger has to be there when it starts.
    """
    service = Service(settings, make=make)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await service.start()
        try:
            yield
        finally:
            await service.stop()

    app = Application(
        title="evenhand",
        version=__version__,
        description=DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.service = service
    say_why_it_fails(app)
    for operation in OPERATIONS:
        _add(app, operation, service)
    app.shorten(BUSIEST.method, BUSIEST.path, door_of(BUSIEST, service))
    app.straight = Straight(BUSIEST, service)
    add_window(app, service)
    add_pages(app, service)
    _add_document(app, service)
    _add_problems(app, service)
    return app


def _add(app: FastAPI, operation: Operation, service: Service, *, in_document: bool = True) -> None:
    told = {"openapi_extra": documented(operation), "include_in_schema": in_document}
    app.router.routes.append(StraightRoute(operation, door_of(operation, service), **told))


def _add_document(app: FastAPI, service: Service) -> None:
    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = document_of(app, OPERATIONS)
        return app.openapi_schema

    async def show_document(call: Call) -> Answer:
        """This document."""
        return told(app.openapi())

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way to a document of one's own
    _add(app, Operation("GET", "/openapi.json", show_document, Standing, None), service, in_document=False)


def _add_problems(app: FastAPI, service: Service) -> None:
    """Problem documents also for what no operation handles: unknown paths and methods, errors of mounted pages."""

    async def refused(request: Request, error: Exception) -> Any:
        problem = problem_of_status(error.status_code) if isinstance(error, HTTPException) else error
        if isinstance(problem, Problem) and problem.status == 405:
            problem.headers["Allow"] = _allowed(app, request.scope)
        try:
            # Which paths there are is told to those with a token.
            if request.url.path.startswith("/api"):
                await service.caller(dict(request.scope["headers"]), request.scope)
        except Problem as not_known:
            problem = not_known
        page = not_found(request) if isinstance(problem, Problem) and problem.status == 404 else None
        answer = page or answer_to(problem, "an unknown path")
        service.measures.request("unknown", answer.status, 0.0)
        return answer

    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(Exception, refused)


def _allowed(app: FastAPI, scope: Scope) -> str:
    """The methods that a path knows."""
    matching = (route for route in app.router.routes if route.matches(scope)[0] != Match.NONE)
    return ", ".join(sorted({method for route in matching for method in getattr(route, "methods", None) or ()}))
