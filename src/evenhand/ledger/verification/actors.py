"""Actors: whether whoever an event names could have done it, with a token that was valid then and allowed it.

Tokens are recorded in the service's own stream. Programs that use a ledger without a service name any actor they like,
so actors without a token are counted and not refused; neither is anything from before that stream began.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import orjson

from evenhand.errors import DamagedLedger
from evenhand.ledger.event import Event
from evenhand.ledger.ledger import SERVICE, Ledger
from evenhand.ledger.signed_head import CLOCKS

ROLES_NEEDED = {
    "opened": "admin",
    "settings": "admin",
    "switch": "admin",
    "erasure": "admin",
    "decision": "decide",
    "outcome": "decide",
    "override": "decide",
    "action": "decide",
    "review": "review",
    "answer": "review",
    "withdrawal": "review",
}
"""The role that the service asks for, by the kind of an event; admins may do everything."""

WITHOUT_TOKEN = frozenset({"admin", "local"})
"""Actors of a service that have no token in the database; no token can have these names."""

LATE = CLOCKS + timedelta(minutes=1)
"""How long after a token ended an event may come: a request that was let in before may have waited."""

BEGINNING, END = (moment.replace(tzinfo=UTC) for moment in (datetime.min, datetime.max))


class TokenTerm(NamedTuple):
    """What a token was good for from one change of it to the next."""

    since: datetime
    until: datetime
    roles: frozenset[str]
    desks: frozenset[str] | None
    """None for all."""


class Actors:
    """Checks the actors of a desk's events, in any order.

    terms: those of each token, by its name. since: earlier events are not checked; None to check none.
    """

    def __init__(self, desk: str, terms: Mapping[str, Sequence[TokenTerm]], since: datetime | None) -> None:
        self._desk, self._terms, self._since = desk, terms, since
        self.without_token: Counter[str] = Counter()
        """Events of each actor that no token was recorded for."""

    @classmethod
    def recorded(cls, ledger: Ledger, desk: str) -> Actors:
        """With the tokens that a ledger has recorded until now."""
        end = ledger.heads([SERVICE]).get(SERVICE, 0) if desk != SERVICE else 0
        rows = [row.event for row in ledger.rows(SERVICE, until=end, kinds=("opened", "token"))] if end else []
        try:
            return cls(desk, terms_of(rows), _moment(rows[0].time) if rows else None)
        except (KeyError, TypeError, ValueError):
            raise DamagedLedger("the record of tokens cannot be read: an event of it was changed") from None

    def add(self, event: Event) -> None:
        """Check one event, whose hash was checked; DamagedLedger if its actor could not have done it."""
        if self._since is None:
            return
        actor, time = str(event.content.get("actor")), _moment(event.time)
        if time < self._since or actor in WITHOUT_TOKEN:
            return
        if actor not in self._terms:
            self.without_token[actor] += 1
            return
        problem = self._problem(self._terms[actor], time, event.kind)
        if problem is not None:
            raise DamagedLedger(
                f"event {event.seq} of desk {self._desk!r} was planted, or a program used a name that is not its own: "
                f"it says that {actor!r} did it at {event.time}, but the token of that name {problem}"
            )

    def _problem(self, terms: Sequence[TokenTerm], time: datetime, kind: str) -> str | None:
        valid = [term for term in terms if _earlier(term.since, CLOCKS) <= time <= _later(term.until, LATE)]
        if not valid:
            return "was not valid then"
        if not any(term.desks is None or self._desk in term.desks for term in valid):
            return "is not for this desk"
        role = ROLES_NEEDED.get(kind)
        if role is not None and not any(term.roles & {role, "admin"} for term in valid):
            return f"does not have the role {role}"
        return None


def terms_of(events: Iterable[Event]) -> dict[str, list[TokenTerm]]:
    """The terms of all tokens by name, from the events of the service's stream that record them."""
    terms: dict[str, list[TokenTerm]] = {}
    for event in events:
        time = _moment(event.time)
        for row in event.body["tokens"] if event.kind == "opened" else [event.body["row"]]:
            before = terms.setdefault(row["name"], [])
            term = _term(row, time if before else min(time, _moment(row["created"])))
            if before:
                before[-1] = before[-1]._replace(until=min(before[-1].until, time, term.until))
            before.append(term)
    return terms


def _term(row: Mapping[str, Any], since: datetime) -> TokenTerm:
    ends = [_moment(row[name]) for name in ("revoked", "expires") if row.get(name) is not None]
    desks = None if row["desks"] is None else frozenset(orjson.loads(row["desks"]))
    return TokenTerm(since, min(ends, default=END), frozenset(orjson.loads(row["roles"])), desks)


def _moment(time: str) -> datetime:
    return datetime.fromisoformat(time).astimezone(UTC)


def _earlier(moment: datetime, by: timedelta) -> datetime:
    return moment - by if moment - BEGINNING > by else BEGINNING


def _later(moment: datetime, by: timedelta) -> datetime:
    return moment + by if END - moment > by else END
