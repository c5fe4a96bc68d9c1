"""A route that FastAPI finds and documents, and that is handled by an ASGI application of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.routing import APIRoute
from starlette.requests import Request

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from evenhand.service.operation import Operation


class StraightRoute(APIRoute):
    """The route of an operation."""

    def __init__(self, operation: Operation, application: ASGIApp, **documented: Any) -> None:
        async def never_called(request: Request) -> None:
            raise NotImplementedError

        super().__init__(
            operation.path,
            never_called,
            methods=[operation.method],
            name=operation.name,
            operation_id=operation.name,
            description=operation.words,
            tags=[operation.tag],
            status_code=operation.status,
            response_model=None,
            **documented,
        )
        self.app = application
