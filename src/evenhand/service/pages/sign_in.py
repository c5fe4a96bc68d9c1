"""Signing in and out: a token for a cookie, once. The door answers these by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.service.answer import Answer, told
from evenhand.service.pages.sessions import cookie_of, csrf_of, secret_in

if TYPE_CHECKING:
    from evenhand.service.asked import Caller
    from evenhand.service.call import Call


async def sign_in(call: Call) -> Answer:
    """Exchange a token for a cookie that scripts cannot read and other sites cannot send."""
    secret, caller = await call.service.sessions.begin(call.body.token, call.address)
    return told(_who(caller, secret), 201, _cookie(secret, call))


async def show_session(call: Call) -> Answer:
    """Who is signed in, and what a page must send back in the header X-CSRF-Token."""
    call.query(())
    return told(_who(call.caller, secret_in(call.headers)))


async def sign_out(call: Call) -> Answer:
    """End the session; the cookie opens nothing any more."""
    await call.service.sessions.end(call.headers)
    return told(_who(call.caller, None), 200, _cookie("", call))


def _who(caller: Caller, secret: str | None) -> dict[str, Any]:
    return {
        "name": caller.name,
        "roles": sorted(caller.roles),
        "desks": None if caller.desks is None else sorted(caller.desks),
        "csrf": None if secret is None else csrf_of(secret),
        "session": secret is not None,
    }


def _cookie(secret: str, call: Call) -> tuple[tuple[bytes, bytes], ...]:
    """Where the page was got by https, the cookie never goes out unencrypted. On loopback there is no https."""
    secure = call.headers.get(b"origin", b"").lower().startswith(b"https://")
    return ((b"set-cookie", cookie_of(secret, secure=secure)),)
