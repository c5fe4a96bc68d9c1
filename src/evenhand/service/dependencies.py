"""What routes depend on: a caller with a role, an open desk, an idempotency key, and pages of lists."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import parse_qsl

import orjson
from fastapi import Depends, Header, Path, Request, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.requests import HTTPConnection

from evenhand._internal.client_requests import MAX_KEY
from evenhand.ledger.event import DESK_NAME, LONGEST
from evenhand.service.authentication import Caller
from evenhand.service.open_desks import DeskAccess
from evenhand.service.problems import Problem
from evenhand.service.service import Service


class JSONRequest(Request):
    """A request whose body is parsed strictly: no NaN, no broken Unicode, limited depth."""

    async def json(self) -> Any:
        """The body."""
        return orjson.loads(await self.body())


class JSONRoute(APIRoute):
    """A route whose body is parsed strictly."""

    def get_route_handler(self) -> Any:
        """FastAPI's handler, with another request class."""
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def handle_strictly(request: Request) -> Any:
            return await handle(JSONRequest(request.scope, request.receive))

        return handle_strictly


async def service_of(request: HTTPConnection) -> Service:
    """The running service."""
    service: Service = request.app.state.service
    return service


DeskName = Annotated[str, Path(description="The desk.", json_schema_extra={"pattern": DESK_NAME})]
RecordId = Annotated[
    str,
    Path(
        description="The id that it got when it was recorded.",
        json_schema_extra={"minLength": 1, "maxLength": LONGEST, "pattern": "^[^/]+$"},
    ),
]


class RequireRole(HTTPBearer):
    """The caller, if one of these roles allows the request and the token is for the desk in the path."""

    def __init__(self, *roles: str) -> None:
        super().__init__(scheme_name="token", auto_error=False)
        self._roles = roles

    async def __call__(self, request: HTTPConnection) -> Any:
        """The caller; a Problem if the request is not allowed."""
        caller: Caller | None = request.scope.get("caller")
        if caller is None:
            caller = request.scope["caller"] = await request.app.state.service.authenticator.caller(request.scope)
        if not caller.has_role(*self._roles):
            raise Problem("forbidden", f"this needs a token with the role {' or '.join(sorted(self._roles))}")
        desk = request.path_params.get("desk")
        if desk is not None and not caller.sees(desk):
            raise Problem("forbidden", "this token is not for this desk")
        return caller


class RequireDesk(RequireRole):
    """The desk in the path, opened, for a caller with one of these roles."""

    async def __call__(self, request: Request, desk: DeskName) -> Any:  # type: ignore[override]
        """The desk; a Problem if the request is not allowed, or there is no such desk."""
        caller = await super().__call__(request)
        service: Service = request.app.state.service
        return DeskAccess(service, caller, await service.desks.get(desk), request)


def _with_roles(requirement: type[RequireRole], *roles: str) -> Any:
    """A dependency whose roles stand in the OpenAPI document as the scopes of the token."""
    return Security(requirement(*roles), scopes=sorted(roles))


ANY = ("admin", "decide", "review")
AnyCaller = Annotated[Caller, _with_roles(RequireRole, *ANY)]
Admin = Annotated[Caller, _with_roles(RequireRole, "admin")]
AuditingCaller = Annotated[Caller, _with_roles(RequireRole, "admin", "audit", "decide")]
MetricsReader = Annotated[Caller, _with_roles(RequireRole, "admin", "metrics")]
DeskOfAny = Annotated[DeskAccess, _with_roles(RequireDesk, *ANY)]
DeskOfAdmin = Annotated[DeskAccess, _with_roles(RequireDesk, "admin")]
DeskOfDecider = Annotated[DeskAccess, _with_roles(RequireDesk, "admin", "decide")]
DeskOfReviewer = Annotated[DeskAccess, _with_roles(RequireDesk, "admin", "review")]


RunningService = Annotated[Service, Depends(service_of)]


def _check_key(key: str | None) -> str | None:
    """An idempotency key without the quotes of a structured header field."""
    if key is None:
        return None
    key = key.strip()
    if len(key) >= 2 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if not 1 <= len(key) <= MAX_KEY or not key.isascii() or not key.isprintable():
        raise ValueError(f"must be 1 to {MAX_KEY} printable ASCII characters")
    return key


IdempotencyKey = Annotated[
    str | None,
    AfterValidator(_check_key),
    Header(
        alias="Idempotency-Key",
        description="The same key with the same request gets the same response, however often and wherever it is "
        "sent, for some days. Keys belong to the token's name and the desk.",
        json_schema_extra={"minLength": 1, "maxLength": MAX_KEY, "pattern": "^[!-~]([ -~]*[!-~])?$"},
    ),
]


class QueryModel(BaseModel):
    """Parameters of a query; unknown ones are refused."""

    model_config = ConfigDict(extra="forbid")


class PageQuery(QueryModel):
    """A page of a list."""

    limit: Annotated[int | None, Field(ge=1, le=1_000, description="Maximum entries of the page.")] = None

    def size(self, service: Service) -> int:
        """How many entries the page has."""
        settings = service.settings
        if self.limit is None:
            return min(settings.page, settings.max_page)
        if self.limit > settings.max_page:
            raise Problem("invalid", f"limit must be <= {settings.max_page}, got {self.limit}")
        return self.limit


async def no_query(request: Request) -> None:
    """Refuse a query."""
    if request.scope["query_string"]:
        raise Problem("invalid", "the query must be empty")


async def unique_query(request: Request) -> None:
    """Refuse a query that is not UTF-8 or names a parameter twice; unknown names are up to the query model."""
    try:
        parameters = parse_qsl(request.scope["query_string"].decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError:
        raise Problem("malformed", "the query must be percent-encoded UTF-8") from None
    if len(dict(parameters)) < len(parameters):
        raise Problem("invalid", "every parameter of the query must be unique")


NO_QUERY = [Depends(no_query)]
UNIQUE_QUERY = [Depends(unique_query)]
