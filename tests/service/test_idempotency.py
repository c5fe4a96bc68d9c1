"""The same key gives the same answer, however often and however quickly it is sent."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from evenhand.ledger.verify import verify
from tests.support.running_service import DECISIONS, MEMORY, Asking, asking, candidates
from tests.support.waiting import wait_for


def keyed(key: str) -> dict[str, str]:
    """The header."""
    return {"Idempotency-Key": key}


@pytest.fixture
def requests(ask: Asking) -> list[tuple[str, str, Any]]:
    """One request for every operation that changes something, each fit to be carried out once."""
    made = [ask.decide() for _ in range(4)]
    review: dict[str, Any] = {"kind": "complete", "unfair": [["c0", "c2"]]}
    reviewed = ask("POST", f"{DECISIONS}/{made[0]['id']}/reviews", review).json()
    return [
        ("POST", "/api/desks", {"name": "new", "n_features": 2}),
        ("POST", DECISIONS, candidates()),
        ("POST", f"{DECISIONS}/{made[1]['id']}/outcomes", {"rewards": {made[1]["chosen"][0]: 0.5}}),
        ("POST", f"{DECISIONS}/{made[2]['id']}/reviews", review),
        ("POST", f"{DECISIONS}/{made[3]['id']}/overrides", {"chosen": ["c1"]}),
        ("POST", "/api/desks/loans/answers", {"x": [1, 0], "y": [0, 1], "gap": 0.5, "unfair": True}),
        ("POST", "/api/desks/loans/settings", {"changes": {"capacity": 2}}),
        ("DELETE", f"/api/desks/loans/reviews/{reviewed['id']}", None),
    ]


def test_every_change_sent_twice_happens_once(ask: Asking, requests: list[tuple[str, str, Any]]) -> None:
    """The second answer is the first one, byte for byte, and the ledger has one event more, not two."""
    for number, (method, path, body) in enumerate(requests):
        before = ask("GET", "/api/desks/loans").json()["events"]
        first = ask(method, path, body, headers=keyed(f"k{number}"))
        again = ask(method, path, body, headers=keyed(f'"k{number}"'))
        assert first.status_code in (200, 201), first.text
        assert again.status_code == first.status_code
        assert again.content == first.content
        assert ask("GET", "/api/desks/loans").json()["events"] == before + (path != "/api/desks")


def test_every_change_sent_many_times_at_once_happens_once(ask: Asking, requests: list[tuple[str, str, Any]]) -> None:
    """Eight at the same moment get one and the same answer."""
    before = ask("GET", "/api/desks/loans").json()["events"]
    with ThreadPoolExecutor(8) as pool:
        for number, (method, path, body) in enumerate(requests):

            def send(_: int, request: tuple[str, str, Any, int] = (method, path, body, number)) -> tuple[int, bytes]:
                answer = ask(request[0], request[1], request[2], headers=keyed(f"k{request[3]}"))
                return answer.status_code, answer.content

            answers = set(pool.map(send, range(8)))
            assert len(answers) == 1, answers
            assert next(iter(answers))[0] in (200, 201)
    assert ask("GET", "/api/desks/loans").json()["events"] == before + len(requests) - 1


def test_a_key_used_for_something_else_is_refused(ask: Asking) -> None:
    """The same key with another body is a problem, and nothing happens; a key of another desk is another key."""
    ask.decide(headers=keyed("k"))
    other = ask("POST", DECISIONS, candidates(2), headers=keyed("k"))
    assert other.status_code == 422
    assert other.json()["type"] == "urn:evenhand:problem:key-reused"
    assert ask("GET", "/api/desks/loans").json()["decisions"] == 1
    assert ask("POST", "/api/desks/jobs/decisions", candidates(2), headers=keyed("k")).status_code == 201


def test_a_desk_opened_with_other_settings_under_the_same_key_is_refused(ask: Asking) -> None:
    """Opening again with the same key and the same settings gives the desk; with others, a problem."""
    body = {"name": "new", "n_features": 2}
    assert ask("POST", "/api/desks", body, headers=keyed("k")).status_code == 201
    assert ask("POST", "/api/desks", {**body, "n_features": 3}, headers=keyed("k")).status_code == 422
    assert ask("POST", "/api/desks", body, headers=keyed("other")).status_code == 409


@pytest.mark.parametrize("key", ["", '""', "a" * 201, "\u00e9", "a\tb"])
def test_a_key_that_cannot_be_kept_is_refused(ask: Asking, key: str) -> None:
    """Keys are 1 to 200 printable ASCII characters."""
    answer = ask("POST", DECISIONS, candidates(), headers={"Idempotency-Key": key.encode("latin-1")})
    assert answer.status_code == 422


def test_without_a_key_every_request_is_a_new_one(ask: Asking) -> None:
    """Two decisions without a key are two."""
    assert ask.decide()["id"] != ask.decide()["id"]


def test_a_refused_request_may_be_corrected_under_its_key(ask: Asking) -> None:
    """Nothing is kept of a request that was refused: its key is free."""
    assert ask("POST", DECISIONS, {"candidates": []}, headers=keyed("k")).status_code == 422
    assert ask("POST", DECISIONS, candidates(), headers=keyed("k")).status_code == 201


def test_a_key_belongs_to_whoever_used_it(ask: Asking) -> None:
    """A reviewer who sends the decider's key first blocks nothing, nor does one of two deciders the other."""
    made = ask.decide()
    review = {"kind": "partial", "unfair": [["c0", "c2"]]}
    taken = ask("POST", f"{DECISIONS}/{made['id']}/reviews", review, by="review", headers=keyed("day 1"))
    assert taken.status_code == 201
    first = ask("POST", DECISIONS, candidates(), by="decide", headers=keyed("day 1"))
    assert first.status_code == 201, first.text
    assert ask("POST", DECISIONS, candidates(), by="decide", headers=keyed("day 1")).content == first.content
    other = ask("POST", DECISIONS, candidates(), by="local admin", headers=keyed("day 1"))
    assert other.json()["id"] != first.json()["id"]
    again = ask("POST", f"{DECISIONS}/{made['id']}/reviews", review, by="review", headers=keyed("day 1"))
    assert again.content == taken.content
    verify(ask.service.ledger, "loans")


def test_a_desk_that_somebody_else_opened_with_the_same_key_is_taken(ask: Asking) -> None:
    """The key is another's: the request is as if it had none."""
    body = {"name": "new", "n_features": 2}
    ask.token("second admin", ["admin"])
    assert ask("POST", "/api/desks", body, headers=keyed("k")).status_code == 201
    assert ask("POST", "/api/desks", body, by="second admin", headers=keyed("k")).status_code == 409


def test_a_key_may_be_used_again_after_some_days() -> None:
    """Until then it stands for its request; afterwards for a new one, and the ledger verifies with both."""
    with asking(replace(MEMORY, idempotency_days=0.2 / 86_400)) as ask:
        first = ask.decide(headers=keyed("k"))
        wait_for(lambda: ask.decide(headers=keyed("k"))["id"] != first["id"], what="the end of the key", pause=0.05)
        wait_for(
            lambda: ask("POST", DECISIONS, candidates(2), headers=keyed("k")).status_code == 201,
            what="the end of the key for another request",
            pause=0.05,
        )
        verify(ask.service.ledger, "loans")
