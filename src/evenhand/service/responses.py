"""Responses with the headers that every JSON response of the service has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson
from starlette.responses import Response

if TYPE_CHECKING:
    from evenhand.ledger.event import Event

PRIVATE = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
"""Responses are about people: no cache keeps them and no browser guesses their type."""


def json_response(
    content: Any, status: int = 200, headers: Mapping[str, str] | None = None, media_type: str = "application/json"
) -> Response:
    """Plain data as JSON; floats keep every bit."""
    return Response(orjson.dumps(content), status, PRIVATE | dict(headers or {}), media_type)


def event_response(event: Event, status: int = 201) -> Response:
    """The response to a command: depends on its event alone, so a repeated request gets the same one."""
    content = event.content
    summary = {name: content[name] for name in ("id", "desk", "seq", "time", "kind")}
    if "decision" in content["body"]:
        summary["decision"] = content["body"]["decision"]
    return json_response(summary, status)


def attachment(name: str) -> dict[str, str]:
    """The header that makes a browser save the response under a name.

    >>> attachment('loans "2"-decisions.csv')
    {'content-disposition': 'attachment; filename="loans__2_-decisions.csv"'}
    """
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)
    return {"content-disposition": f'attachment; filename="{safe}"'}
