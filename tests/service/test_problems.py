"""Every error is a problem document, limits hold, and logs reveal nothing about people."""

from __future__ import annotations

import io
import json
import logging
import sys
from dataclasses import replace
from typing import Any

import pytest

from evenhand.service.logs import JsonLines
from tests.support.running_service import DECISIONS, MEMORY, Asking, asking, candidates, is_problem

SECRET_PERSON = "Erika Mustermann 1964-08-12"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"[" * 100_000, 400),
        (b"[]", 422),
        (b"{}", 422),
        (b'{"candidates": []}', 422),
        (b'{"candidates": [{"id": ""}]}', 422),
        (b'{"candidates": [{"id": "a"}]}', 422),
        (b'{"candidates": [{"id": "a", "context": []}]}', 422),
        (b'{"candidates": [{"id": "a", "context": [1]}]}', 422),
        (b'{"candidates": [{"id": "a", "context": [9, 9]}]}', 422),
        (b'{"candidates": [{"id": "a", "context": [0, NaN]}]}', 400),
        (b'{"candidates": [{"id": "a", "context": [0, 1e999]}]}', 400),
        (b'{"candidates": [{"id": "a", "context": [0, "1"]}]}', 422),
        (b'{"candidates": [{"id": "a", "context": [0, 0]}, {"id": "a", "context": [0, 0]}]}', 422),
        (b'{"candidates": [{"id": "a", "context": [0, 0]}], "more": 1}', 422),
        (b'{"candidates": [{"id": "\\u0000", "context": [0, 0]}]}', 422),
        (b'{"candidates": [{"id": "\\ud800", "context": [0, 0]}]}', 400),
        (b'{"candidates": [{"id": "a", "features": {"x": 1}}]}', 422),
    ],
)
def test_a_body_that_does_not_fit_is_refused_and_nothing_happens(ask: Asking, body: bytes, status: int) -> None:
    """Whatever is sent, the answer is a problem document and the ledger is as it was."""
    answer = ask("POST", DECISIONS, content=body, headers={"Content-Type": "application/json"})
    is_problem(answer, status)
    assert ask("GET", "/api/desks/loans").json()["events"] == 1


@pytest.mark.parametrize("depth", [200, 500, 100_000])
def test_what_is_nested_too_deep_is_refused(ask: Asking, depth: int) -> None:
    """A body that no ledger could hold is refused, and the service lives on."""
    made = ask.decide()
    nested = b'{"kind": "complete", "circumstances": {"a": ' + b"[" * depth + b"]" * depth + b"}}"
    path = f"{DECISIONS}/{made['id']}/reviews"
    answer = ask("POST", path, content=nested, headers={"Content-Type": "application/json"})
    assert answer.status_code in ((201,) if depth == 200 else (400, 422)), answer.text
    ask.decide()


def test_a_detail_does_not_repeat_all_of_a_long_request(ask: Asking) -> None:
    """A header line of half a million empty names is refused in a sentence that is cut."""
    opened = {"name": "named", "features": ["income", "debt"]}
    assert ask("POST", "/api/desks", opened).status_code == 201
    refused = ask("POST", "/api/desks/named/interview/people", {"csv": "," * 500_000})
    assert len(is_problem(refused, 422, "invalid")["detail"]) < 11_000


@pytest.mark.parametrize("since", ["9" * 5_000, "1.2." + "9" * 5_000])
def test_a_version_that_is_too_long_is_refused(ask: Asking, since: str) -> None:
    """Python reads no number of so many digits; the dashboard answered with 500."""
    is_problem(ask("GET", f"/api/desks/loans/window?since={since}", by="review"), 422, "invalid")


def test_unknown_things_are_problems_too(ask: Asking) -> None:
    """Paths, methods, desks, decisions and reviews that are not there, and queries that do not fit."""
    review = {"kind": "complete", "unfair": []}
    is_problem(ask("GET", "/nothing"), 404, "not-found")
    is_problem(ask("GET", "/api/nothing"), 404, "not-found")
    is_problem(ask("GET", "/api/desks/"), 404, "not-found")
    is_problem(ask("GET", "/api/desks/nothing"), 404, "not-found")
    is_problem(ask("GET", DECISIONS + "/dec_nothing"), 404, "not-found")
    is_problem(ask("POST", DECISIONS + "/dec_nothing/reviews", review), 404, "not-found")
    is_problem(ask("DELETE", "/api/desks/loans/reviews/rev_nothing"), 404, "not-found")
    refused = ask("PUT", "/api/desks")
    is_problem(refused, 405, "method-not-allowed")
    assert refused.headers["allow"] == "GET, POST"
    for query in ("limit=0", "limit=1001", "limit=x", "limit=1&limit=2", "more=1", "after=-1", "limit=%ff"):
        assert is_problem(ask("GET", f"/api/desks/loans/events?{query}"), 400 if "%ff" in query else 422)


def test_what_contradicts_the_ledger_is_refused(ask: Asking) -> None:
    """An outcome of somebody not chosen, the same outcome twice, a review withdrawn twice, a desk opened twice."""
    made = ask.decide()
    chosen = made["chosen"][0]
    other = next(name for name in made["candidates"] if name != chosen)
    outcomes = f"{DECISIONS}/{made['id']}/outcomes"
    is_problem(ask("POST", outcomes, {"rewards": {other: 1.0}}), 422, "invalid")
    assert ask("POST", outcomes, {"rewards": {chosen: 1.0}}).status_code == 201
    is_problem(ask("POST", outcomes, {"rewards": {chosen: 1.0}}), 409, "conflict")
    both = {"kind": "partial", "unfair": [["c0", "c1"]], "fair": [["c1", "c0"]]}
    is_problem(ask("POST", f"{DECISIONS}/{made['id']}/reviews", both), 422, "invalid")
    review = ask("POST", f"{DECISIONS}/{made['id']}/reviews", {"kind": "complete", "unfair": []}).json()
    assert ask("DELETE", f"/api/desks/loans/reviews/{review['id']}").status_code == 200
    is_problem(ask("DELETE", f"/api/desks/loans/reviews/{review['id']}"), 409, "conflict")
    is_problem(ask("POST", "/api/desks", {"name": "loans", "n_features": 2}), 409, "conflict")


def test_only_json_is_taken(ask: Asking) -> None:
    """A form, which a page elsewhere could make a browser send, is refused."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "", "application/jsonp"):
        answer = ask("POST", DECISIONS, content=b"{}", headers={"Content-Type": kind})
        is_problem(answer, 415, "media-type")


def test_a_body_has_a_limit_with_and_without_a_length() -> None:
    """A body that is too long is refused before it is read, also when it comes in pieces of unknown number."""
    with asking(replace(MEMORY, max_body=2_000)) as ask:
        json_kind = {"Content-Type": "application/json"}
        is_problem(ask("POST", DECISIONS, content=b" " * 2_001, headers=json_kind), 413, "too-large")
        pieces = (b" " * 100 for _ in range(1000))
        is_problem(ask("POST", DECISIONS, content=pieces, headers=json_kind), 413, "too-large")
        assert ask("POST", DECISIONS, candidates()).status_code == 201


def test_an_admin_opens_a_desk_with_a_larger_body() -> None:
    """The file of a model may be longer than other bodies; nobody else may send as much, nor an admin elsewhere."""
    with asking(replace(MEMORY, max_body=2_000)) as ask:
        body = {"name": "wide", "n_features": 2, "reward": {"kind": "Predictor", "model": "A" * 3_000}}
        assert "skops" in is_problem(ask("POST", "/api/desks", body), 422)["detail"]
        for by, path in (("decide", "/api/desks"), ("admin", DECISIONS)):
            is_problem(ask("POST", path, body, by=by), 413, "too-large")


def test_candidates_have_a_limit() -> None:
    """One candidate more than allowed is refused."""
    with asking(replace(MEMORY, max_candidates=4)) as ask:
        assert ask("POST", DECISIONS, candidates(4)).status_code == 201
        is_problem(ask("POST", DECISIONS, candidates(5)), 422, "invalid")


def test_a_token_has_a_rate_of_its_own() -> None:
    """Whoever sends too much learns when to come back; others are not held up."""
    with asking(replace(MEMORY, rate=0.01, burst=8.0)) as ask:
        answers = [ask("GET", "/api/desks/loans", by="decide") for _ in range(9)]
        assert [answer.status_code for answer in answers[:8]] == [200] * 8
        is_problem(answers[8], 429, "rate")
        assert int(answers[8].headers["retry-after"]) >= 1
        assert ask("GET", "/api/desks/loans", by="review").status_code == 200


def test_an_unexpected_failure_reveals_no_details(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexpected error gives 500 with an instance; neither the answer nor the log quotes it, the log says where."""
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("evenhand.service")
    logger.addHandler(handler)

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError(SECRET_PERSON)

    monkeypatch.setattr("evenhand.desk.desk.Desk.metric", fail)
    try:
        answer = ask("GET", "/api/desks/loans/metric")
    finally:
        logger.removeHandler(handler)
    problem = is_problem(answer, 500, "internal")
    assert SECRET_PERSON not in answer.text
    assert SECRET_PERSON not in lines.getvalue()
    line = json.loads(lines.getvalue())
    assert line["instance"] == problem["instance"]
    assert line["error"] == "RuntimeError"
    assert any("test_problems.py" in place for place in line["at"])


def test_logs_of_requests_hold_nothing_about_people(monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates, reviewers, contexts, reasons, ids and addresses appear in no line, whether it went well or not."""
    lines = io.StringIO()
    monkeypatch.setattr(sys, "stderr", lines)
    with asking(replace(MEMORY, log_requests=True)) as ask:
        people = {"candidates": [{"id": SECRET_PERSON, "context": [0.123456, 0.2]}]}
        made = ask("POST", DECISIONS, people).json()
        body = {"kind": "complete", "reviewer": SECRET_PERSON, "circumstances": {"note": SECRET_PERSON}}
        review = ask("POST", f"{DECISIONS}/{made['id']}/reviews", body).json()
        ask("DELETE", f"/api/desks/loans/reviews/{review['id']}", params={"reason": SECRET_PERSON})
        ask("POST", DECISIONS, {"candidates": [{"id": SECRET_PERSON}]})
        for who in ("nobody", "admin", "decide"):
            ask("GET", f"/api/desks/{SECRET_PERSON}", by=who)
            ask("POST", f"/api/desks/{SECRET_PERSON.replace(' ', '-')}/decisions", {"candidates": []}, by=who)
            for page in ("desks", "review", "interview"):  # a page is served under any name
                assert ask("GET", f"/{page}/{SECRET_PERSON}", by=who).status_code == 200
        ask.token(SECRET_PERSON, ["review"], ["loans"])
        ask("POST", f"{DECISIONS}/{made['id']}/reviews", {"kind": "partial"}, by=SECRET_PERSON)
        token = ask.service.tokens.all()[-1].id
    text = lines.getvalue()
    assert f'"caller":"{token}"' in text
    assert '"operation":"decide"' in text
    for word in ("Mustermann", "0.123456", made["id"], review["id"], "127.0.0.1"):
        assert word not in text
    for line in text.splitlines():
        json.loads(line)
