"""Erasing over HTTP: admins only; every page about an erased candidate answers, and says so."""

from __future__ import annotations

from evenhand.client import DeskClient
from tests.support.running_service import ADMIN, Asking, is_problem

DESK = "/api/desks/loans"
ERASURES = f"{DESK}/erasures"


def test_only_admins_erase(ask: Asking) -> None:
    """Others are refused, and nothing changes; the same request with the same key gets the same response."""
    ask.decide()
    for by in ("decide", "review", "elsewhere"):
        is_problem(ask("POST", ERASURES, {"candidate": "c1"}, by=by), 403, "forbidden")
    key = {"Idempotency-Key": "erase c1"}
    first = ask("POST", ERASURES, {"candidate": "c1", "reason": "asked"}, headers=key)
    assert first.status_code == 201
    assert first.json()["kind"] == "erasure"
    assert ask("POST", ERASURES, {"candidate": "c1", "reason": "asked"}, headers=key).json() == first.json()
    is_problem(ask("POST", ERASURES, {"candidate": "c1"}), 404, "not-found")
    is_problem(ask("POST", ERASURES, {"candidate": "nobody"}), 404, "not-found")


def test_every_page_about_an_erased_candidate_answers(ask: Asking) -> None:
    """The decision, its page, proofs and certificate, the lists, downloads, the queue and the reviewers."""
    made = ask.decide()["id"]
    pair = {
        "kind": "partial",
        "unfair": [["c0", "c1"]],
        "reason": "words about her",
        "sides": {"left": "c0", "right": "c1"},
    }
    assert ask("POST", f"{DESK}/decisions/{made}/reviews", pair, by="review").status_code == 201
    with DeskClient(ask.url, ADMIN) as client:
        client.erase("loans", "c1", reason="asked")
    record = ask("GET", f"{DESK}/decisions/{made}").json()
    assert record["record"]["body"]["erased"] == ["c1"]
    assert record["explanation"]["candidates"][1]["estimated_reward"] is None
    assert any("c1 was erased" in sentence for sentence in record["explanation"]["sentences"])
    page = ask("GET", f"{DESK}/decisions/{made}/window").json()
    assert page["attributes"]["rows"][1] == ["erased", "erased"]
    proofs = ask("GET", f"{DESK}/decisions/{made}/proofs").json()
    assert proofs["erased"] == ["c1"]
    assert [(one["first"], one["second"]) for one in proofs["pairs"]] == [("c0", "c2")]
    certificate = ask("GET", f"{DESK}/decisions/{made}/certificate").json()
    assert len(certificate["pairs"]) == 1
    for path in (
        "window",
        "window/decisions",
        "reviewers",
        "queue",
        "events",
        "decisions.csv",
        "ledger.jsonl",
        "metric",
    ):
        answer = ask("GET", f"{DESK}/{path}")
        assert answer.status_code == 200, (path, answer.text)
        assert "words about her" not in answer.text
    assert ask("GET", f"{DESK}/decisions/{made}", by="review").status_code == 200
    assert ask("GET", f"{DESK}/review/next", by="review").status_code == 200
    assert ask("GET", f"{DESK}/interview/next", by="review").status_code == 200
    is_problem(ask("POST", f"{DESK}/decisions/{made}/outcomes", {"rewards": {"c1": 0.5}}), 410, "erased")
    again = {"kind": "partial", "fair": [["c1", "c2"]]}
    is_problem(ask("POST", f"{DESK}/decisions/{made}/reviews", again, by="review"), 410, "erased")


def test_a_decision_whose_candidates_are_all_erased_has_a_page(ask: Asking) -> None:
    """Nothing about them is left but what was decided."""
    made = ask.decide(k=2)["id"]
    for name in ("c0", "c1"):
        assert ask("POST", ERASURES, {"candidate": name}).status_code == 201
    record = ask("GET", f"{DESK}/decisions/{made}").json()
    assert record["record"]["body"]["contexts"] == [None, None]
    assert record["explanation"]["price"] is None
    assert ask("GET", f"{DESK}/decisions/{made}/window").status_code == 200
    is_problem(ask("GET", f"{DESK}/decisions/{made}/proofs"), 410, "erased")
    assert ask("GET", f"{DESK}/decisions.csv").status_code == 200
    assert ask.decide()["candidates"] == ["c0", "c1", "c2"]  # they may come again
