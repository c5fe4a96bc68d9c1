"""The door: every request comes in here and is treated alike - token, rate, role, desk, body, then the office.

Whoever has not the right token learns nothing else. Nothing stands between the server and this: a stack of middleware
would cost more than all that is done here.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from evenhand.service.answer import Answer
from evenhand.service.asked import Asked
from evenhand.service.bodies import NewDecision
from evenhand.service.body import ClientGone, read_body
from evenhand.service.call import KEY, Call, address_of, decoded
from evenhand.service.logs import RequestLine, moment
from evenhand.service.office import answer_to
from evenhand.service.operations.decisions import answer_of, packing
from evenhand.service.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from evenhand.service.asked import Caller
    from evenhand.service.operation import Operation
    from evenhand.service.service import Service

    Headers = dict[bytes, bytes]
    CarryOut = Callable[[Caller, Headers, Scope, bytes], Awaitable[Answer]]


def door_of(operation: Operation, service: Service) -> ASGIApp:
    """The ASGI application that handles an operation's requests."""
    settings, takes_body = service.settings, operation.body is not None
    carry_out = _in_office(operation, service) if operation.is_of_office else _here(operation, service)

    async def handle(scope: Scope, receive: Receive, send: Send) -> None:
        start = time.perf_counter()
        caller: Caller | None = None
        try:
            headers = dict(scope["headers"])
            caller = await admitted(operation, service, headers, scope)
            body = await read_body(headers, receive, settings.max_body) if takes_body else b""
            answer = await carry_out(caller, headers, scope, body)
        except ClientGone:
            return
        except Exception as error:
            answer = answer_to(error, operation.name)
        await answer(scope, receive, send)
        noted(service, operation, caller, scope.get("path_params", {}), answer, time.perf_counter() - start)

    return handle


def _in_office(operation: Operation, service: Service) -> CarryOut:
    name, is_write = operation.name, operation.is_write
    pack = packing(service.settings) if operation.body is NewDecision else None

    async def carry_out(caller: Caller, headers: Headers, scope: Scope, body: bytes) -> Answer:
        key = headers.get(KEY) if is_write else None
        packed = pack(body) if pack is not None else None
        rest = body if packed is None else b""
        told = await service.office.carry_out(
            Asked(name, caller, scope.get("path_params", {}), key, scope["query_string"], rest, packed)
        )
        return answer_of(told)

    return carry_out


def _here(operation: Operation, service: Service) -> CarryOut:
    decoder = msgspec.json.Decoder(operation.body) if operation.body is not None else None

    async def carry_out(caller: Caller, headers: Headers, scope: Scope, body: bytes) -> Answer:
        said = decoded(decoder, body) if decoder is not None else None
        asked = (service, caller, scope.get("path_params", {}), headers, scope["query_string"], said)
        return await operation.run(Call(*asked, address=address_of(scope)))

    return carry_out


async def admitted(operation: Operation, service: Service, headers: Headers, scope: Scope) -> Caller:
    """Whoever asks, if their token, rate, role and desk allow it."""
    if operation.roles is None:
        return service.nobody
    caller = await service.caller(headers, scope)
    check_may(operation, caller, scope.get("path_params", {}))
    return caller


def check_may(operation: Operation, caller: Caller, path: dict[str, str]) -> None:
    """A Problem unless their role and their desks allow it."""
    if operation.roles is not None and not caller.may(operation.roles):
        raise Problem("forbidden", f"this needs a token of the role {' or '.join(sorted(operation.roles))}")
    desk = path.get("desk")
    if desk is not None and not caller.sees(desk):
        raise Problem("forbidden", "this token is not for this desk")


def noted(
    service: Service, operation: Operation, caller: Caller | None, path: dict[str, str], answer: Answer, seconds: float
) -> None:
    """A request was answered: count it, and log it if that is wanted."""
    service.measures.request(operation.name, answer.status, seconds)
    if service.settings.log_requests:
        who, desk = None if caller is None else caller.token, service.requests.known(path.get("desk"), answer.status)
        service.requests.add(
            RequestLine(moment(), operation.name, answer.status, round(seconds * 1e6), len(answer.body), who, desk)
        )
