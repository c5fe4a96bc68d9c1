"""Certificates of decisions, made in the worker process, one at a time, and kept until something is learned."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from evenhand.desk.event_records import decision_of
from evenhand.desk.projection.projection import Projection, QuietBandit
from evenhand.desk.remaining import erased_in
from evenhand.errors import Erased
from evenhand.service.problems import unavailable

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk
    from evenhand.ledger.event import Event
    from evenhand.records.decision import Decision
    from evenhand.service.background.worker import Worker

GRACE_SECONDS = 20.0
"""What may come on top of the search for proofs: waiting for another one, starting the process, writing the result."""
MAX_WAITING = 16
"""Requests for certificates that wait for each other; more are refused with 503."""
MAX_KEPT = 32 * 1024 * 1024
"""Bytes of certificates that are kept."""

Key = tuple[str, int]
"""A desk, and its last event after which the metric may differ."""


class Certificates:
    """Makes certificates for all desks of a service."""

    def __init__(self, worker: Worker, seconds: float) -> None:
        self._worker, self._seconds = worker, seconds
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._kept: OrderedDict[tuple[Key, str], bytes] = OrderedDict()

    async def of(self, desk: Desk, event: Event) -> bytes:
        """The certificate of a decision as JSON: what can be proved about each pair now, within the time there is.

        A Problem with Retry-After if it cannot be made now. Cancelled, the work ends.
        """
        if self._waiting >= MAX_WAITING:
            raise unavailable(f"{MAX_WAITING} certificates are being made already", 5)
        self._waiting += 1
        try:
            async with asyncio.timeout(self._seconds + GRACE_SECONDS), self._turn:
                return await self._of(desk, event)
        except TimeoutError:
            raise unavailable("certificates take too long now; try again later", 5) from None
        finally:
            self._waiting -= 1

    async def _of(self, desk: Desk, event: Event) -> bytes:
        body, erased = event.body, erased_in(event.body)
        if erased.issuperset(body["candidates"]):
            raise Erased("a certificate needs the candidates' contexts; all of them were erased")
        decision = decision_of(body)
        projection = await asyncio.to_thread(projection_with, desk, decision)
        decision = projection.bandit.own(decision)
        gone = frozenset(place for place, name in enumerate(body["candidates"]) if name in erased)
        key = (desk.name, projection.history.news)
        made = self._kept.pop((key, decision.id), None)
        if made is None:
            state = await asyncio.to_thread(projection.bandit.state)
            deadline = self._seconds + GRACE_SECONDS
            made = await self._worker.run(make_certificate, key, state, decision, gone, self._seconds, seconds=deadline)
        self._kept[key, decision.id] = made
        while sum(map(len, self._kept.values())) > MAX_KEPT and len(self._kept) > 1:
            self._kept.popitem(last=False)
        return made


def projection_with(desk: Desk, decision: Decision) -> Projection:
    """The projection of a desk now, or the one of its whole ledger if that has not reached the decision yet."""
    if decision.round < desk.projection.bandit.rounds:
        return desk.projection
    return desk.projector.at(desk.head.seq)  # another process decided, and keeps its next snapshot later


_last: tuple[Key, QuietBandit] | None = None
"""In the worker process: the bandit of the last certificate, with the evidence that was computed for it."""


def make_certificate(
    key: Key, state: dict[str, Any], decision: Decision, gone: frozenset[int], seconds: float
) -> bytes:
    """The certificate of a decision by the bandit with this state, as JSON. Runs in the worker process.

    gone: the places of candidates who were erased; nothing is said about their pairs.
    """
    global _last
    bandit = QuietBandit.from_state(state)
    if _last is not None and _last[0] == key:
        bandit.safeguards.log = _last[1].safeguards.log
    _last = (key, bandit)
    made = bandit.certify(decision, seconds=seconds)
    return orjson.dumps(replace(made, pairs=tuple(one for one in made.pairs if gone.isdisjoint(one.pair))).to_dict())
