"""Actors of events are compared with the tokens that were recorded: who could not have done something did not do it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from evenhand.desk import Desk, open_ledger
from evenhand.errors import DamagedLedger
from evenhand.ledger.event import FIRST, PREFIXES, Event, Row
from evenhand.ledger.ledger import SERVICE, Ledger
from evenhand.ledger.verification.actors import LATE, ROLES_NEEDED, Actors, TokenTerm, terms_of
from evenhand.ledger.verification.verify_history import verify_history
from evenhand.service.tokens import TokenStore, new_token
from tests.support.desk_play import QUICK, people

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
ALL = frozenset({"decide", "review"})


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    """A service's ledger in memory, with an admin's token."""
    ledger = open_ledger("memory:")
    TokenStore(ledger).add(new_token("owner", ["admin"])[0])
    yield ledger
    ledger.close()


def decide(desk: Desk, actor: str) -> str:
    """One decision in somebody's name; its id."""
    return desk.decide(people(np.random.default_rng(0)), actor=actor).event.id


def event_at(time: datetime, actor: str = "kim", kind: str = "review") -> Event:
    """An event, as of a time."""
    row = Row.make("loans", 7, FIRST, actor, kind, {})
    return Event(row.text.replace(row.event.time, time.isoformat(timespec="microseconds")), FIRST, row.hash)


def test_everybody_with_a_token_may_do_what_it_is_for(ledger: Ledger) -> None:
    """Deciders decide, reviewers review, admins do both; actors without a token are counted by name."""
    store = TokenStore(ledger)
    store.add(new_token("intake", ["decide"], ["loans"])[0])
    store.add(new_token("kim", ["review"])[0])
    with Desk.open(ledger, "loans", **QUICK) as desk:
        made = decide(desk, "intake")
        desk.review(made, "complete", actor="kim")
        decide(desk, "owner")
        decide(desk, "admin")
        decide(desk, "somebody")
        assert verify_history(ledger, "loans").without_token == {"desk": 1, "somebody": 1}
        assert verify_history(ledger, SERVICE).without_token == {}


@pytest.mark.parametrize(
    ("roles", "desks", "revoked", "message"),
    [
        (["review"], None, None, "does not have the role decide"),
        (["decide"], ["jobs"], None, "is not for this desk"),
        (["decide"], None, "2026-01-01T00:00:00+00:00", "was not valid then"),
    ],
)
def test_an_event_in_the_name_of_somebody_who_could_not(
    ledger: Ledger, roles: list[str], desks: list[str] | None, revoked: str | None, message: str
) -> None:
    """Whoever writes to the database gets the hashes right, and names an actor whose token did not allow it."""
    store = TokenStore(ledger)
    store.add(new_token("intake", roles, desks)[0])
    with Desk.open(ledger, "loans", **QUICK) as desk:
        verify_history(ledger, "loans")
        if revoked is not None:
            store.revoke("intake", revoked)
        decide(desk, "intake")
        with pytest.raises(DamagedLedger, match=f"event 2 of desk 'loans' was planted.*'intake'.*{message}"):
            verify_history(ledger, "loans")


def test_a_ledger_of_a_program_has_no_tokens() -> None:
    """Without a service any actor will do; what was recorded before the service began is not compared."""
    with Desk.open("memory:", "loans", **QUICK) as desk:
        decide(desk, "kim")
        assert isinstance(desk.ledger, Ledger)
        assert verify_history(desk.ledger, "loans").without_token == {}
        TokenStore(desk.ledger).add(new_token("kim", ["review"], ["jobs"])[0])
        assert verify_history(desk.ledger, "loans").without_token == {}
        decide(desk, "kim")
        with pytest.raises(DamagedLedger, match="event 3"):
            verify_history(desk.ledger, "loans")


@pytest.mark.parametrize(
    ("offset", "is_valid"),
    [(-2 * HOUR, False), (-HOUR, True), (timedelta(), True), (HOUR, True), (HOUR + LATE, True), (2 * HOUR, False)],
)
def test_a_token_is_good_from_its_creation_to_its_end(offset: timedelta, is_valid: bool) -> None:
    """But for the clocks of two machines, and requests that were let in before."""
    term = TokenTerm(NOW - HOUR, NOW + HOUR, ALL, None)
    actors = Actors("loans", {"kim": [term]}, NOW - 10 * HOUR)
    if is_valid:
        actors.add(event_at(NOW + offset))
    else:
        with pytest.raises(DamagedLedger, match="was not valid then"):
            actors.add(event_at(NOW + offset))


def test_every_kind_of_event_needs_a_role() -> None:
    """But those that no route makes: past decisions, and the service's own."""
    assert set(PREFIXES) - set(ROLES_NEEDED) == {"imported", "token", "key"}


def test_terms_follow_what_was_recorded(ledger: Ledger) -> None:
    """A token that expired and was rotated later has two terms, with nothing between them; a revoked one has ended."""
    store = TokenStore(ledger)
    soon = (datetime.now(UTC) + timedelta(days=1)).isoformat(timespec="microseconds")
    late = (datetime.now(UTC) + timedelta(days=9)).isoformat(timespec="microseconds")
    store.add(new_token("kim", ["review"], ["loans"], soon)[0])
    store.rotate("kim", soon, late)
    store.add(new_token("lee", ["decide"])[0])
    store.revoke("lee", soon)
    terms = terms_of(row.event for row in ledger.rows(SERVICE, kinds=("opened", "token")))
    first, second = terms["kim"]
    assert first.until == second.since <= datetime.now(UTC)
    assert second.until == datetime.fromisoformat(late)
    assert (first.roles, first.desks) == (frozenset({"review"}), frozenset({"loans"}))
    assert terms["lee"][-1].until == datetime.fromisoformat(soon)
