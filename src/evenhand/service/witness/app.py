"""The witness over HTTP: services send their heads to it, and everybody may ask what it has, and what it found."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response

from evenhand.errors import InvalidInput
from evenhand.service.connections import Connections, count_connections
from evenhand.service.middleware import LimitTime
from evenhand.service.problems import Problem
from evenhand.service.responses import json_response
from evenhand.service.settings import ServiceSettings
from evenhand.service.witness.witness import Contradiction, HeadRefused, NeedsProof, Submission, Witness

log = logging.getLogger(__name__)

MAX_BODY = 1_048_576
SENT = "sent"
"""The source of heads that services send."""


def witness_app(witness: Witness, limits: ServiceSettings | None = None) -> FastAPI:
    """The application: POST /heads, GET /heads, GET /status.

    limits: the times and the number of its connections, by default those of a service.
    """
    limits = limits or ServiceSettings()
    connections = Connections(limits)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.connections = connections
        count_connections(connections)
        watching = asyncio.create_task(connections.watch())
        yield
        watching.cancel()

    app = FastAPI(title="evenhand witness", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.add_middleware(LimitTime, body_seconds=limits.body_seconds, send_seconds=limits.send_seconds)

    @app.post("/heads")
    async def take_head(request: Request) -> Response:
        """Keep a head: 201, or 200 if it was known; 409 with the size of the one that is kept if a proof is needed."""
        try:
            submission = Submission.from_dict(await _body(request))
            is_new = await asyncio.to_thread(witness.accept, submission, SENT)
        except NeedsProof as needed:
            return Problem("conflict", str(needed), size=needed.size).response()
        except Contradiction as found:
            log.error("a service contradicts itself: %s", found)
            return Problem("invalid", str(found), contradiction=found.kind).response()
        except HeadRefused as refused:
            log.warning("a head was refused: %s", refused)
            return Problem("forbidden", str(refused)).response()
        except InvalidInput as error:
            return Problem("invalid", str(error)).response()
        except Problem as problem:
            return problem.response()
        return json_response({"size": submission.head.size}, 201 if is_new else 200)

    @app.get("/heads")
    async def list_heads() -> Response:
        """The newest head of each desk."""
        return json_response({"heads": [head.to_dict() for head in witness.latest()]})

    @app.get("/status")
    async def show_status() -> Response:
        """Whether a service contradicted itself, with the two heads that show it."""
        found = witness.contradictions
        return json_response({"status": "contradiction" if found else "consistent", "contradictions": found})

    return app


async def _body(request: Request) -> Any:
    chunks, length = [], 0
    async for chunk in request.stream():
        chunks.append(chunk)
        length += len(chunk)
        if length > MAX_BODY:
            raise Problem("too-large", f"the body must have at most {MAX_BODY} bytes")
    try:
        return orjson.loads(b"".join(chunks))
    except orjson.JSONDecodeError:
        raise Problem("malformed", "the body is not JSON") from None
