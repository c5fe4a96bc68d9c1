"""Signing in and out on the pages: a token exchanged for a cookie."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from evenhand.service.authentication import Caller
from evenhand.service.dependencies import NO_QUERY, AnyCaller, JSONRoute, RunningService
from evenhand.service.problems import Problem
from evenhand.service.request_models import SignInRequest
from evenhand.service.responses import json_response
from evenhand.service.sessions import cookie_of, csrf_of, secret_in
from evenhand.service.tokens import digest_of

router = APIRouter(prefix="/session", include_in_schema=False, route_class=JSONRoute)


@router.post("", status_code=201)
async def sign_in(service: RunningService, request: Request, body: SignInRequest) -> Response:
    """Exchange a token for a cookie that scripts cannot read and other sites cannot send.

    A session of somebody else in this browser is ended only if the request says so: a link must not swap it unnoticed.
    """
    digest = digest_of(body.token.strip())
    caller = await service.authenticator.holder(digest, request.scope)
    before = await service.authenticator.signed_in(request.scope)
    if before is not None and before.name != caller.name:
        if not body.replace:
            detail = f"{before.name} is signed in; to sign in as {caller.name} instead, send replace: true"
            raise Problem("signed-in", detail, name=before.name, other=caller.name)
        await service.sessions.end(_secret(request) or "")
    secret = await service.sessions.begin(digest)
    return json_response(_summary(caller, secret), 201, _cookie(secret, request))


@router.get("", dependencies=NO_QUERY)
async def show_session(caller: AnyCaller, request: Request) -> Response:
    """Who is signed in, and what a page must send in the header X-CSRF-Token."""
    return json_response(_summary(caller, _secret(request)))


@router.delete("")
async def sign_out(service: RunningService, caller: AnyCaller, request: Request) -> Response:
    """End the session."""
    secret = _secret(request)
    if secret is not None:
        await service.sessions.end(secret)
    return json_response(_summary(caller, None), 200, _cookie("", request))


def _secret(request: Request) -> str | None:
    return secret_in(dict(request.scope["headers"]))


def _summary(caller: Caller, secret: str | None) -> dict[str, Any]:
    return {
        "name": caller.name,
        "roles": sorted(caller.roles),
        "desks": None if caller.desks is None else sorted(caller.desks),
        "csrf": None if secret is None else csrf_of(secret),
        "session": secret is not None,
    }


def _cookie(secret: str, request: Request) -> dict[str, str]:
    """A cookie of a page that was loaded by https is never sent unencrypted. On loopback there is no https."""
    secure = request.headers.get("origin", "").lower().startswith("https://")
    return {"set-cookie": cookie_of(secret, secure=secure)}
