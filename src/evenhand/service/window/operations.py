"""What the window asks the office for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from evenhand.errors import UnknownRecord
from evenhand.service.answer import Answer, told
from evenhand.service.operation import ANYONE, Operation
from evenhand.service.operations.own import check_may_ask_for_flagged, lines_for, window_for
from evenhand.service.problems import Problem
from evenhand.service.window.attachment import attachment
from evenhand.service.window.decision import decision_told
from evenhand.service.window.latest import page_of
from evenhand.service.window.overview import overview_of
from evenhand.service.window.proofs import proofs_told, prover_of

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk
    from evenhand.ledger.event import Event
    from evenhand.service.call import Call

DESK = "/api/desks/{desk}"
DECISION = DESK + "/decisions/{decision}"
DECIDE = frozenset({"decide", "admin"})
MOST_LISTED = 200
MOST_DECISIONS = 10**15
CALLED_UNFAIR = "unfair"
SHOWS = ("all", CALLED_UNFAIR)


async def show_window(call: Call) -> Answer:
    """What the window shows of a desk: all of it, or what is new since a version told before."""
    known = call.query(("since",)).get("since")
    desk = (await call.service.desks.get(call.desk)).desk
    return told(window_for(call.caller, await asyncio.to_thread(overview_of(desk).since, known)))


async def show_decisions(call: Call) -> Answer:
    """A page of decisions: of all, or, unless the caller only reviews, of those that were called unfair."""
    given = call.query(("before", "show"))
    show = given.get("show", "all")
    if show not in SHOWS:
        raise Problem("invalid", f"show is {show[:40]!r}; allowed are {' and '.join(SHOWS)}")
    if show == CALLED_UNFAIR:
        check_may_ask_for_flagged(call.caller)
    before = call.whole_number(given, "before", -1, 0, MOST_DECISIONS)
    desk = (await call.service.desks.get(call.desk)).desk
    found = await asyncio.to_thread(page_of, desk, before=None if before < 0 else before, flagged=show == CALLED_UNFAIR)
    return told({**found, "lines": lines_for(call.caller, found["lines"])})


async def show_desks(call: Call) -> Answer:
    """The desks the token is for, each with how long its ledger is and when it was last written to."""
    call.query(())
    seen = [name for name in await call.service.desks.names() if call.caller.sees(name)]
    ledger = call.service.desks.ledger

    def found() -> list[dict[str, Any]]:
        return [_entry(ledger, name) for name in seen[:MOST_LISTED]]

    return told({"desks": await asyncio.to_thread(found), "more": max(0, len(seen) - MOST_LISTED)})


def _entry(ledger: Any, name: str) -> dict[str, Any]:
    with ledger.reading(name) as view:
        head = view.head
        first, last = view.after(0, 1)[0].event, view.after(head.seq - 1, 1)[0].event
    return {"name": name, "decisions": head.decisions, "lines": head.seq, "opened": first.time, "last": last.time}


async def show_decision_page(call: Call) -> Answer:
    """A decision, what followed it, why it had these odds, and who its candidates are."""
    call.query(())
    desk = (await call.service.desks.get(call.desk)).desk
    return told(await asyncio.to_thread(decision_told, desk, call.path["decision"]))


async def show_proofs(call: Call) -> Answer:
    """What is proved of each pair of a decision, and by which reviews."""
    call.query(())
    desk = (await call.service.desks.get(call.desk)).desk

    def found() -> dict[str, Any]:
        event = decision_event(desk, call.path["decision"])
        return proofs_told(desk, event, prover_of(desk).certificate(event))

    return told(await asyncio.to_thread(found))


async def download_certificate(call: Call) -> Answer:
    """The certificate of a decision, for anybody to check."""
    call.query(())
    desk = (await call.service.desks.get(call.desk)).desk

    def found() -> tuple[int, dict[str, Any]]:
        event = decision_event(desk, call.path["decision"])
        return event.body["number"], prover_of(desk).certificate(event).to_dict()

    number, certificate = await asyncio.to_thread(found)
    return told(certificate, headers=(attachment(f"{call.desk}-certificate-{number}.json"),))


def decision_event(desk: Desk, name: str) -> Event:
    """The line of a decision; UnknownRecord if it is none."""
    event = desk.event(name)
    if event.kind != "decision":
        raise UnknownRecord(f"this desk made no decision {name!r}")
    return event


WINDOW_OPERATIONS: tuple[Operation, ...] = (
    Operation("GET", DESK + "/window", show_window, None, ANYONE),
    Operation("GET", DESK + "/window/decisions", show_decisions, None, ANYONE),
    Operation("GET", "/api/window", show_desks, None, ANYONE),
    # Not for reviewers: they show odds beyond a pair, learned distances, and quote what others said.
    Operation("GET", DECISION + "/window", show_decision_page, None, DECIDE),
    Operation("GET", DECISION + "/proofs", show_proofs, None, DECIDE),
    Operation("GET", DECISION + "/certificate", download_certificate, None, DECIDE),
)
"""Behind the pages, and not in the public document: what they tell may change with the pages."""
