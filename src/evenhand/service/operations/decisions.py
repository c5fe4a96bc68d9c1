"""Decisions: make one, look at one, say what came of it or that somebody chose otherwise."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, Struct

from evenhand.desk.candidates import with_contexts
from evenhand.desk.commands import Decide, Override, RecordOutcome
from evenhand.service.answer import Answer, told
from evenhand.service.asked import Packed, Told
from evenhand.service.bodies import NewDecision
from evenhand.service.call import decoded
from evenhand.service.operations.own import decision_for
from evenhand.service.operations.recorded import recorded
from evenhand.service.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.ledger.event import Event
    from evenhand.service.call import Call
    from evenhand.service.settings import Settings


async def decide(call: Call) -> Answer:
    """Choose among candidates: the odds of each, in their order, and who was drawn."""
    counter = await call.service.desks.get(call.desk)
    return decided(await counter.record(wanted(call)))


def packing(settings: Settings) -> Callable[[bytes], Packed | None]:
    """Reads the body of a request for a decision at the door; None if it is to be read in the office after all."""
    decoder = msgspec.json.Decoder(NewDecision)

    def pack(body: bytes) -> Packed | None:
        given = decoded(decoder, body).candidates
        candidates = with_contexts(given) if len(given) <= settings.max_candidates else None
        return None if candidates is None else Packed.of(candidates)

    return pack


def wanted(call: Call) -> Decide:
    """What a request for a decision asks of the desk."""
    if call.packed is not None:
        return Decide(call.packed.candidates(), actor=call.caller.name, idempotency_key=call.key)
    candidates, most = call.body.candidates, call.service.settings.max_candidates
    if len(candidates) > most:
        raise Problem("invalid", f"there are {len(candidates)} candidates; allowed are up to {most}")
    return Decide(candidates, actor=call.caller.name, idempotency_key=call.key)


def decided(event: Event) -> Answer:
    """The answer to it, once the decision's line is durable."""
    return Answer(_cut_from(event.text), 201)


def answer_of(told: Told) -> Answer:
    """What the office told, as an answer."""
    body = _cut_from(told.body) if told.is_line else told.body
    return Answer(body, told.status, told.media_type, told.headers)


class _Body(Struct):
    number: Raw
    state: Raw
    candidates: Raw
    probabilities: Raw
    chosen: Raw


class _Line(Struct):
    id: Raw
    desk: Raw
    seq: Raw
    time: Raw
    body: _Body


_read_line = msgspec.json.Decoder(_Line).decode
_write = msgspec.json.Encoder().encode


def _cut_from(text: str | bytes) -> bytes:
    """What of a decision's line is answered, word for word as it stands in the ledger."""
    line = _read_line(text)
    body = line.body
    return _write(
        {
            "id": line.id,
            "desk": line.desk,
            "seq": line.seq,
            "time": line.time,
            "number": body.number,
            "state": body.state,
            "candidates": body.candidates,
            "probabilities": body.probabilities,
            "chosen": body.chosen,
        }
    )


async def show_decision(call: Call) -> Answer:
    """The record of a decision, what is known of it since, and its explanation: why these odds.

    A reviewer sees of the reviews her own, and not what the desk has learned about the pairs.
    """
    call.query(())
    desk = (await call.service.desks.get(call.desk)).desk
    name = call.path["decision"]

    def found() -> dict[str, Any]:
        record, explanation = desk.decision(name), desk.explain(name)
        return {"id": name, "record": record, "explanation": explanation.to_dict()}

    return told(decision_for(call.caller, await asyncio.to_thread(found), desk.settings))


async def record_outcomes(call: Call) -> Answer:
    """What came of chosen candidates: a reward for each, by candidate id."""
    command = RecordOutcome(call.path["decision"], call.body.rewards, actor=call.caller.name, idempotency_key=call.key)
    return await recorded(call, command)


async def record_override(call: Call) -> Answer:
    """Somebody chose otherwise than the lottery did: nobody, or as many as the decision's capacity allows.

    From then on outcomes are taken of those who were really chosen, and of nobody else. The last override stands.
    """
    command = Override(
        call.path["decision"], call.body.chosen, call.body.reason, actor=call.caller.name, idempotency_key=call.key
    )
    return await recorded(call, command)
