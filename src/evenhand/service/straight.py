"""The straight way of decisions: from the connection to the office and back, without a task for each request.

It does what `door` does for the busiest operation: token, rate, role, desk, body, then the office. What a request may
have to wait for on its way - tokens to be read again, a long body, a client that wants to be told to go on - it leaves
to the door, before anything has happened.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.service.answer import Answer
from evenhand.service.asked import Asked, Told
from evenhand.service.body import check_content_type
from evenhand.service.call import KEY
from evenhand.service.door import check_may, noted
from evenhand.service.office import answer_to
from evenhand.service.operations.decisions import answer_of, packing

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

    from evenhand.service.asked import Caller
    from evenhand.service.operation import Operation
    from evenhand.service.service import Service

log = logging.getLogger(__name__)

LONGEST_BODY = 65_536
"""From here on the server stops reading until somebody asks for more of the body, and nobody would."""


PARTS = (
    *("scope", "body", "more_body", "keep_alive", "waiting_for_100_continue", "default_headers", "disconnected"),
    *("response_started", "response_complete", "transport", "on_response", "receive", "send"),
)
"""What this file uses of uvicorn's request and response, none of which uvicorn promises to keep."""


class Request(NamedTuple):
    """A request whose head is there."""

    cycle: RequestResponseCycle
    headers: dict[bytes, bytes]
    path: dict[str, str]
    start: float


def is_known(cycle: object) -> bool:
    """Whether the server's requests have all that the straight way uses; those of another version go the usual way."""
    missing = [name for name in PARTS if not hasattr(cycle, name)]
    if not hasattr(getattr(cycle, "flow", None), "write_paused"):
        missing.append("flow.write_paused")
    if missing:
        log.warning("this version of uvicorn has no %s: decisions take the usual way", ", ".join(missing))
    return not missing


class Straight:
    """Takes requests for decisions as the server's protocol has them."""

    def __init__(self, operation: Operation, service: Service) -> None:
        self._operation, self._service = operation, service
        self._matches = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", operation.path)).fullmatch
        self._longest = min(service.settings.max_body, LONGEST_BODY)
        self._pack = packing(service.settings)
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_known: bool | None = None

    def taken(self, cycle: RequestResponseCycle) -> Request | None:
        """A request that can go this way, once its body is there; None for any other."""
        if self._is_known is None:
            self._is_known = is_known(cycle)
        if not self._is_known:
            return None
        scope = cycle.scope
        if scope["method"] != self._operation.method or scope.get("root_path") or cycle.waiting_for_100_continue:
            return None
        match = self._matches(scope["path"])
        if match is None:
            return None
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"")
        if not length.isdigit() or int(length) > self._longest or b"upgrade" in headers:
            return None
        return Request(cycle, headers, match.groupdict(), time.perf_counter())

    def begin(self, request: Request) -> bool:
        """Hand on a request that is whole; False, and nothing has happened, if it must wait for who is asking."""
        caller: Caller | None = None
        try:
            caller = self._service.access.at_hand(request.headers)
            if caller is None:
                return False
            self._ask(request, caller)
        except Exception as error:
            # Not at once: the next request on the connection begins when this one ends, and that one's error would
            # come to pass within this one's.
            answer = answer_to(error, self._operation.name)
            asyncio.get_running_loop().call_soon(self._end, request, caller, answer)
        return True

    def _ask(self, request: Request, caller: Caller) -> None:
        check_may(self._operation, caller, request.path)
        check_content_type(request.headers)
        scope, body = request.cycle.scope, bytes(request.cycle.body)
        packed, key = self._pack(body), request.headers.get(KEY)
        rest = body if packed is None else b""
        asked = Asked(self._operation.name, caller, request.path, key, scope["query_string"], rest, packed)
        if not self._service.office.decide(asked, partial(self._told, request, caller)):
            self._keep(self._carry_out(request, caller, asked))

    def _told(self, request: Request, caller: Caller, told: Told | Exception) -> None:
        if isinstance(told, Exception):
            self._end(request, caller, answer_to(told, self._operation.name))
        else:
            self._end(request, caller, answer_of(told))

    async def _carry_out(self, request: Request, caller: Caller, asked: Asked) -> None:
        try:
            told: Told | Exception = await self._service.office.carry_out(asked)
        except Exception as error:
            told = error
        self._told(request, caller, told)

    def _end(self, request: Request, caller: Caller | None, answer: Answer) -> None:
        cycle, flow = request.cycle, request.cycle.flow
        # Of requests that wait behind each other, only the newest is told that its client has gone.
        is_there = not cycle.disconnected and not cycle.transport.is_closing()
        if is_there and flow.write_paused:
            # The client does not read: the server's own way waits until it does.
            self._keep(answer(cycle.scope, cycle.receive, cycle.send))  # type: ignore[arg-type]
        elif is_there:
            cycle.transport.write(answer.whole(cycle.default_headers, keep_alive=cycle.keep_alive))
            cycle.response_started = cycle.response_complete = True
            if not cycle.keep_alive or (b"connection", b"close") in answer.headers:
                cycle.transport.close()
            cycle.on_response()
        seconds = time.perf_counter() - request.start
        noted(self._service, self._operation, caller, request.path, answer, seconds)

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
