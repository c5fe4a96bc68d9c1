"""Wrong tokens are answered so often, then refused; a right one opens whatever else comes from its address."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from evenhand.service import authentication
from evenhand.service.authentication import WrongTokens
from tests.support.running_service import ADMIN, MEMORY, Asking, asking, candidates

FEW = 5


@pytest.fixture
def strict() -> Iterator[Asking]:
    """A service that answers few wrong tokens."""
    with asking(replace(MEMORY, wrong_tokens=FEW)) as ask:
        yield ask


def wrong(ask: Asking, number: int, path: str = "/api/desks/loans") -> httpx.Response:
    """One request with a token that nobody has."""
    return ask("GET", path, by="nobody", headers={"Authorization": f"Bearer eh_wrong-{number}"})


def check_refused(answer: httpx.Response) -> None:
    """A problem document that says when to come again."""
    assert answer.status_code == 429
    assert answer.headers["content-type"] == "application/problem+json"
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert "wrong token" in answer.json()["detail"]


def test_wrong_tokens_are_refused_and_right_ones_are_not(strict: Asking) -> None:
    """After five, all wrong ones get 429, on whichever path; right tokens get in before, between and after."""
    assert [wrong(strict, number).status_code for number in range(FEW)] == [401] * FEW
    for path in ("/api/desks/loans", "/api/desks", "/api/nothing", "/metrics"):
        check_refused(wrong(strict, 0, path))
        assert strict("GET", "/api/desks/loans", by="review").status_code == 200
    check_refused(
        strict("POST", "/api/desks/loans/decisions", candidates(), by="x", headers={"Authorization": "Bearer eh_x"})
    )
    assert strict.decide(by="decide")["chosen"] is not None
    fresh = "somebody new"
    strict.token(fresh, ["decide"], ["loans"])
    assert strict.decide(by=fresh)["chosen"] is not None


def test_signing_in_counts_and_opens_alike(strict: Asking) -> None:
    """The page's sign-in is one more place to try; with a right token it works all the same."""
    for _ in range(FEW):
        assert strict("POST", "/session", {"token": "eh_wrong"}, by="nobody").status_code == 401
    check_refused(strict("POST", "/session", {"token": "eh_wrong"}, by="nobody"))
    check_refused(wrong(strict, 0))
    assert strict("POST", "/session", {"token": ADMIN}, by="nobody").status_code == 201


def test_random_cookies_count_like_wrong_tokens(strict: Asking) -> None:
    """A cookie of no session is a guess at one; whoever is signed in goes on from the same address."""
    begun = strict("POST", "/session", {"token": ADMIN}, by="nobody").headers["set-cookie"].partition(";")[0]
    strict.http.cookies.clear()
    guesses = [{"Cookie": f"evenhand_session=guess-{number}"} for number in range(2 * FEW)]
    answers = [strict("GET", "/api/desks", by="nobody", headers=headers) for headers in guesses]
    assert [answer.status_code for answer in answers] == [401] * FEW + [429] * FEW
    check_refused(answers[-1])
    check_refused(wrong(strict, 0))
    check_refused(strict("GET", "/session", by="nobody", headers=guesses[0]))
    assert strict("GET", "/api/desks", by="nobody", headers={"Cookie": begun}).status_code == 200


def test_what_is_no_try_is_not_counted(strict: Asking) -> None:
    """No token at all, another scheme, a cookie that has run out: 401, as often as it is sent."""
    begun = strict("POST", "/session", {"token": ADMIN}, by="nobody").headers["set-cookie"].partition(";")[0]
    with strict.service.ledger.transaction(writes=True) as connection:
        connection.exec_driver_sql("UPDATE sessions SET expires = 1")
    for headers in ({}, {"Authorization": "Basic YTpi"}, {"Cookie": begun}):
        answers = {strict("GET", "/api/desks", by="nobody", headers=headers).status_code for _ in range(3 * FEW)}
        assert answers == {401}
    assert wrong(strict, 0).status_code == 401


def test_addresses_are_counted_apart_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its own account, which fills up again; of more addresses than are kept the oldest is forgotten."""
    monkeypatch.setattr(authentication, "MAX_ADDRESSES", 3)
    counted = WrongTokens(per_minute=2)
    assert [counted.wait("192.0.2.1", 1.0) > 0 for _ in range(3)] == [False, False, True]
    assert counted.wait("192.0.2.2", 1.0) == counted.wait(None, 1.0) == 0
    assert counted.wait("192.0.2.1", 1.0) > 0
    assert counted.wait("192.0.2.1", 31.5) == 0
    for number in range(1000):
        counted.wait(f"198.51.100.{number % 250}", 32.0)
    assert len(counted._buckets) == 3


def test_whoever_has_a_network_has_one_account() -> None:
    """An IPv6 address is one of billions that its owner may send from; a mapped IPv4 address is that address."""
    counted = WrongTokens(per_minute=2)
    waits = [counted.wait(f"2001:db8:1:2::{number:x}", 1.0) for number in range(3)]
    assert waits == [0.0, 0.0, 30.0]
    assert counted.wait("2001:db8:1:3::1", 1.0) == 0
    assert [counted.wait(one, 1.0) for one in ("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1")] == [0.0, 0.0, 30.0]
