"""Who may do what: roles, desks, and what those without the right token learn."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from evenhand.service import authentication
from evenhand.service.tokens import Token
from tests.support.running_service import Asking, candidates
from tests.support.waiting import wait_for

PEOPLE = ("admin", "local admin", "decide", "review", "audit", "elsewhere", "metrics", "nobody", "somebody")
DESK = "/api/desks/loans"
EVERYBODY = ("admin", "local admin", "decide", "review")
AUDITORS = ("admin", "local admin", "decide", "audit")

ALLOWED: dict[tuple[str, str], tuple[str, ...]] = {
    ("POST", DESK + "/decisions"): ("admin", "local admin", "decide"),
    ("POST", DESK + "/decisions/x/outcomes"): ("admin", "local admin", "decide"),
    ("POST", DESK + "/decisions/x/overrides"): ("admin", "local admin", "decide"),
    ("POST", DESK + "/decisions/x/actions"): ("admin", "local admin", "decide"),
    ("POST", DESK + "/decisions/x/reviews"): ("admin", "local admin", "review"),
    ("DELETE", DESK + "/reviews/x"): ("admin", "local admin", "review"),
    ("POST", DESK + "/answers"): ("admin", "local admin", "review"),
    ("GET", DESK + "/queue"): ("admin", "local admin", "review"),
    ("GET", DESK + "/decisions/x"): EVERYBODY,
    ("GET", DESK + "/metric"): ("admin", "local admin", "decide"),
    ("GET", DESK): EVERYBODY,
    ("GET", DESK + "/events"): ("admin", "local admin"),
    ("POST", DESK + "/settings"): ("admin", "local admin"),
    ("POST", DESK + "/switches"): ("admin", "local admin"),
    ("GET", DESK + "/differences"): ("admin", "local admin", "decide"),
    ("POST", DESK + "/erasures"): ("admin", "local admin"),
    ("GET", DESK + "/heads"): AUDITORS,
    ("GET", DESK + "/heads/latest"): AUDITORS,
    ("GET", DESK + "/proofs/inclusion"): AUDITORS,
    ("GET", DESK + "/proofs/consistency"): AUDITORS,
    ("GET", "/api/heads"): (*AUDITORS, "elsewhere"),
    ("GET", "/api/keys"): (*AUDITORS, "elsewhere"),
    ("GET", "/metrics"): ("admin", "metrics", "local admin"),
}
"""Who may; all others get 403, those without a token 401. Bodies are empty: whoever may gets 4xx for that, not 403."""


@pytest.mark.parametrize(("method", "path"), list(ALLOWED))
def test_only_the_right_role_gets_in(ask: Asking, method: str, path: str) -> None:
    """Every operation lets in exactly those who may, whatever they send."""
    ask.secrets["somebody"] = "eh_a-token-that-was-never-made-at-all"
    ask.token("audit", ["audit"], ["loans"])
    for by in PEOPLE:
        answer = ask(method, path, {} if method == "POST" else None, by=by)
        wanted = 401 if by in ("nobody", "somebody") else 403
        if by in ALLOWED[method, path]:
            assert answer.status_code not in (401, 403), (by, answer.text)
        else:
            assert answer.status_code == wanted, (by, answer.text)


ROLES = {by: by for by in PEOPLE} | {"local admin": "admin", "elsewhere": "decide"}


def test_the_list_of_who_may_is_complete_and_documented(ask: Asking) -> None:
    """No operation on a desk is missing from the list above, and the OpenAPI document names the roles."""
    paths = ask("GET", "/openapi.json", by="nobody").json()["paths"]
    for path, methods in paths.items():
        for method, operation in methods.items():
            if "security" in operation and path != "/api/desks":
                filled = path.replace("{desk}", "loans").replace("{decision}", "x").replace("{review}", "x")
                ((scheme, roles),) = operation["security"][0].items()
                assert scheme == "token"
                assert {ROLES[by] for by in ALLOWED[method.upper(), filled]} == set(roles), path


def test_a_desk_that_is_not_theirs_looks_like_one_that_is_not_there(ask: Asking) -> None:
    """Somebody of another desk gets the very same answer for a desk that exists and for one that does not."""
    for method, path in ALLOWED:
        if path.startswith(DESK):
            there = ask(method, path, by="elsewhere")
            not_there = ask(method, path.replace("loans", "nothing"), by="elsewhere")
            assert there.status_code == not_there.status_code == 403
            assert there.content == not_there.content


def test_without_a_token_every_path_looks_the_same(ask: Asking) -> None:
    """Known and unknown paths and methods under /api give one and the same answer to those without a token."""
    answers = {
        ask(method, path, by="nobody").content
        for method in ("GET", "POST", "PUT", "DELETE", "PATCH")
        for path in ("/api/desks", DESK, "/api/desks/nothing", "/api/nothing", DESK + "/decisions", "/api")
    }
    assert len(answers) == 1
    assert ask("GET", "/api/nothing", by="nobody").status_code == 401


def test_the_list_of_desks_names_only_ones_own(ask: Asking) -> None:
    """A token for one desk sees that one in the list, an admin of all desks sees all."""
    assert ask("GET", "/api/desks", by="admin").json()["desks"] == ["jobs", "loans"]
    assert ask("GET", "/api/desks", by="decide").json()["desks"] == ["loans"]
    assert ask("GET", "/api/desks", by="elsewhere").json()["desks"] == ["jobs"]


def test_a_missing_desk_of_ones_own_does_not_betray_others(ask: Asking) -> None:
    """Where a token names a desk that is not there, the answer names no other desk."""
    ask.token("early", ["decide"], ["soon"])
    answer = ask("POST", "/api/desks/soon/decisions", candidates(), by="early")
    assert answer.status_code == 404
    assert "loans" not in answer.text
    assert "jobs" not in answer.text


def test_only_admins_open_desks_and_only_their_own(ask: Asking) -> None:
    """An admin of one desk cannot open another."""
    body = {"name": "new", "n_features": 1}
    for by, status in (("decide", 403), ("review", 403), ("local admin", 403), ("nobody", 401), ("admin", 201)):
        assert ask("POST", "/api/desks", body, by=by).status_code == status, by


def test_a_revoked_token_opens_nothing(ask: Asking) -> None:
    """Once tokens are read again, a revoked one is as good as none."""
    assert ask("GET", DESK, by="decide").status_code == 200
    tokens = ask.service.tokens
    tokens.revoke("decide", "2026-01-01T00:00:00+00:00")
    ask.service.authenticator.refresh()
    assert ask("GET", DESK, by="decide").status_code == 401


def test_tokens_older_than_a_second_are_read_again_before_a_request(ask: Asking) -> None:
    """No timer reads tokens: the first request after a pause does, and finds that its token was revoked."""
    assert ask("GET", DESK, by="decide").status_code == 200
    ask.service.tokens.revoke("decide", "2026-01-01T00:00:00+00:00")
    ask.service.authenticator._read_at -= authentication.MAX_AGE_SECONDS
    assert ask("GET", DESK, by="decide").status_code == 401


def test_a_new_token_works_at_once(ask: Asking) -> None:
    """A token nobody knows makes the service look again before it says no."""
    from evenhand.service.tokens import new_token

    token, ask.secrets["fresh"] = new_token("fresh", ["decide"], ["loans"])
    ask.service.tokens.add(token)
    ask.service.authenticator._read_at -= 0.3
    assert ask("GET", DESK, by="fresh").status_code == 200


def test_a_database_that_hangs_keeps_nobody_waiting_for_long(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens that cannot be read again are queried once, whoever comes meanwhile; every caller gets a Retry-After."""
    monkeypatch.setattr("evenhand.service.authentication.READ_SECONDS", 0.2)
    tokens, authenticator = ask.service.tokens, ask.service.authenticator
    reads, go = list[int](), threading.Event()

    def hang() -> list[Token]:
        reads.append(1)
        go.wait(60)
        return []

    everybody = tokens.all()
    monkeypatch.setattr(tokens, "all", hang)
    authenticator._read_at = float("-inf")
    try:
        with ThreadPoolExecutor(6) as many:
            answers = [*many.map(lambda _: ask("GET", DESK, by="decide"), range(6))]
        assert {answer.status_code for answer in answers} == {503}
        assert {answer.headers["retry-after"] for answer in answers} == {"1"}
        assert len(reads) == 1
        assert ask("GET", "/api/desks/loans").status_code == 200, "the token of the settings is not in the database"
    finally:
        monkeypatch.setattr(tokens, "all", lambda: everybody)
        go.set()
    wait_for(lambda: ask("GET", DESK, by="decide").status_code == 200, what="another read of the tokens", pause=0.05)


@pytest.mark.parametrize("header", ["", "Bearer", "Basic YTpi", "bearer\tx", "Token abc", "Bearer \xff\xfe"])
def test_no_header_but_a_right_one_opens(ask: Asking, header: str) -> None:
    """Whatever stands in the Authorization header, without a known secret it is 401 and a problem document."""
    answer = ask.http.get(DESK, headers={b"Authorization": header.encode("latin-1")})
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["www-authenticate"] == "Bearer"


def test_a_reviewer_does_not_see_decisions_of_other_desks(ask: Asking) -> None:
    """An id from one desk finds nothing at another."""
    made = ask.decide("jobs", by="elsewhere")
    for by in ("review", "admin"):
        assert ask("GET", f"{DESK}/decisions/{made['id']}", by=by).status_code == 404
    body: dict[str, Any] = {"kind": "complete", "unfair": []}
    assert ask("POST", f"{DESK}/decisions/{made['id']}/reviews", body, by="review").status_code == 404
