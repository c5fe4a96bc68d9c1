"""The office: where requests that may come in are carried out. It has the desks; in a process of its own or not."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec

from evenhand.errors import EvenhandError
from evenhand.service.answer import JSON, Answer
from evenhand.service.asked import Asked, Told
from evenhand.service.call import KEY, Call, decoded
from evenhand.service.checking import Checking
from evenhand.service.desks import Desks
from evenhand.service.logs import places
from evenhand.service.measures import DeskMeasures
from evenhand.service.operations.decisions import wanted
from evenhand.service.operations.table import BUSIEST, OPERATIONS
from evenhand.service.pages.table import PAGE_OPERATIONS
from evenhand.service.problems import Problem
from evenhand.service.translate import problem_of
from evenhand.service.window.operations import WINDOW_OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.ledger.event import Event
    from evenhand.ledger.ledger import Ledger
    from evenhand.service.settings import Settings

log = logging.getLogger(__name__)

MEASURE_SECONDS = 1.0


class Office:
    """Carries out operations on the desks of one ledger."""

    def __init__(self, settings: Settings, ledger: Ledger) -> None:
        self.settings = settings
        self.measures = DeskMeasures()
        self.desks = Desks(ledger, settings, self.measures)
        self.checking = Checking(ledger)
        everything = (*OPERATIONS, *WINDOW_OPERATIONS, *PAGE_OPERATIONS)
        operations = [operation for operation in everything if operation.is_of_office]
        self._run = {operation.name: operation.run for operation in operations}
        self._decoders: dict[str, msgspec.json.Decoder[Any]] = {
            operation.name: msgspec.json.Decoder(operation.body)
            for operation in operations
            if operation.body is not None
        }
        self._measuring = asyncio.create_task(self._measure())

    async def carry_out(self, asked: Asked) -> Told:
        """The answer to a request, a problem document if it cannot be carried out."""
        try:
            answer = await self._run[asked.operation](self._call(asked))
        except Exception as error:
            answer = answer_to(error, asked.operation)
        return Told(answer.body, answer.status, answer.media_type, answer.headers)

    def _call(self, asked: Asked) -> Call:
        decoder = self._decoders.get(asked.operation)
        body = decoded(decoder, asked.body) if decoder is not None and asked.packed is None else None
        headers = {KEY: asked.key} if asked.key is not None else {}
        return Call(self, asked.caller, asked.path, headers, asked.query, body, asked.packed)

    def decide(self, asked: Asked, tell: Callable[[Told], None]) -> bool:
        """The same for a decision, without a task of its own: `tell` gets the answer. False if it needs a task.

        Decisions are most of what comes in; a task for each would be work that nothing needs.
        """
        counter = self.desks.at_hand(asked.path["desk"]) if asked.operation == BUSIEST.name else None
        if counter is None:
            return False

        def made(event: Event | Exception) -> None:
            if isinstance(event, Exception):
                answer = answer_to(event, asked.operation)
                tell(Told(answer.body, answer.status, answer.media_type, answer.headers))
            else:
                tell(Told(event.text.encode(), 201, JSON, is_line=True))

        try:
            counter.gatherer.hand_in(wanted(self._call(asked)), made)
        except Exception as error:
            # Not at once: whoever is told may ask for the next decision there and then, and so on within each other.
            asyncio.get_running_loop().call_soon(made, error)
        return True

    async def why_not_ready(self) -> str | None:
        """None if decisions can be made now, or else why not."""
        try:
            await self.desks.names()
        except Exception:
            return "the ledger does not answer"
        return None if await self.desks.writable.now() else "the ledger cannot be written now; the log says why"

    async def measured(self, desks: tuple[str, ...] | None) -> bytes:
        """Numbers about these desks, or all, for Prometheus."""
        self.measures.standing(self.desks.standing())
        return self.measures.told(desks)

    async def _measure(self) -> None:
        while True:
            self.measures.standing(self.desks.standing())
            await asyncio.sleep(MEASURE_SECONDS)

    async def close(self) -> None:
        """Write what waits; the ledger stays open."""
        self._measuring.cancel()
        await asyncio.to_thread(self.checking.stop)
        await self.desks.close()


def answer_to(error: Exception, where: str) -> Answer:
    """The problem document of an error. Of one that nobody expected, only the place is logged: its words may quote."""
    problem = error if isinstance(error, Problem) else None
    if problem is None and isinstance(error, EvenhandError):
        problem = problem_of(error)
    if problem is None:
        instance = f"urn:uuid:{uuid4()}"
        log.error("%s failed", where, extra={"error": type(error).__name__, "at": places(error), "instance": instance})
        problem = Problem("internal", "the service failed; the log says where, under this instance", instance=instance)
    return problem.answer()
