"""Ratings and comparisons over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.client import DeskClient
from tests.support.running_service import ADMIN, Asking


def reviews(ask: Asking, decision: str) -> list[dict[str, Any]]:
    """The bodies of a decision's reviews."""
    events = ask("GET", f"/api/desks/loans/decisions/{decision}").json()["record"]["followed_by"]
    return [event["body"] for event in events if event["kind"] == "review"]


def test_ratings_and_comparisons_are_recorded_as_given(ask: Asking) -> None:
    """By request and by client: the raw answers, in the token's name, and the same event for the same key."""
    made = ask.decide(k=3)
    a, b, c = made["candidates"]
    about = f"/api/desks/loans/decisions/{made['id']}/reviews"
    rated = {"kind": "ratings", "ratings": {a: 4, b: 2.5}, "scale": [0, 5], "tolerance": 0.1}
    assert ask("POST", about, rated, by="review").status_code == 201
    with DeskClient(ask.url, ADMIN) as client:
        comparisons = {(a, b): "alike", (c, a): "first"}
        sent = [
            client.review("loans", made["id"], "comparisons", comparisons=comparisons, reviewer="Kim", key="once")
            for _ in range(2)
        ]
        assert sent[0] == sent[1]
        client.review("loans", made["id"], "ratings", ratings={a: 1, c: 5}, reviewer="Kim")
    first, second, third = reviews(ask, made["id"])
    assert (first["kind"], first["ratings"], first["scale"], first["tolerance"]) == (
        "ratings",
        {a: 4.0, b: 2.5},
        [0.0, 5.0],
        0.1,
    )
    assert second["comparisons"] == [{"pair": [a, b], "answer": "alike"}, {"pair": [c, a], "answer": "first"}]
    assert (second["reviewer"], second["tolerance"]) == ("Kim", 0.05)
    assert (third["scale"], third["ratings"]) == ([1.0, 5.0], {a: 1.0, c: 5.0})


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"kind": "ratings"}, "ratings must be a dict from candidates' ids to scores, got None"),
        (
            {"kind": "ratings", "ratings": {"c0": 9}},
            "the rating of candidate 'c0' must be within the scale 1 to 5, got 9",
        ),
        ({"kind": "ratings", "ratings": {"c0": "4"}}, "ratings.c0 must be a number, got '4'"),
        ({"kind": "ratings", "ratings": {"c9": 4}}, "unknown candidate 'c9'"),
        ({"kind": "ratings", "ratings": {"c0": 4}, "scale": [1]}, "scale must be at least 2 entries long, got [1]"),
        ({"kind": "ratings", "ratings": {"c0": 4}, "tolerance": 1}, "tolerance must be < 1, got 1"),
        ({"kind": "complete", "ratings": {"c0": 4}}, "ratings must be None in a complete review, got {'c0': 4"),
        ({"kind": "comparisons", "comparisons": []}, "comparisons must be at least 1 entry long, got []"),
        (
            {"kind": "comparisons", "comparisons": [{"pair": ["c0", "c1"], "answer": "same"}]},
            "comparisons[0].answer must be 'alike', 'first' or 'second', got 'same'",
        ),
    ],
)
def test_what_is_refused(ask: Asking, body: dict[str, Any], sentence: str) -> None:
    """A request that does not fit gets 422 and a sentence, and nothing is recorded."""
    made = ask.decide(k=2)
    refused = ask("POST", f"/api/desks/loans/decisions/{made['id']}/reviews", body, by="review")
    assert refused.status_code == 422
    assert sentence in refused.json()["detail"]
    assert reviews(ask, made["id"]) == []


def test_an_answer_must_agree_with_its_review(ask: Asking) -> None:
    """Metadata that says something else than the ratings or comparisons is refused."""
    made = ask.decide(k=3)
    a, b, c = made["candidates"]
    about, sides = f"/api/desks/loans/decisions/{made['id']}/reviews", {"left": b, "right": a}
    compared = {"kind": "comparisons", "comparisons": [{"pair": [b, a], "answer": "first"}], "sides": sides}
    rated = {"kind": "ratings", "ratings": {a: 1, b: 2}, "sides": sides}
    for body, status in (
        ({**compared, "answer": "left"}, 201),
        ({**compared, "answer": "right"}, 422),
        ({**compared, "answer": "rated"}, 422),
        ({**compared, "answer": "unfair"}, 422),
        ({**rated, "answer": "alike", "reviewer": "Lee"}, 422),
        ({**rated, "answer": "rated", "ratings": {a: 1, c: 2}, "reviewer": "Lee"}, 422),
        ({**rated, "answer": "rated", "reviewer": "Lee"}, 201),
    ):
        assert ask("POST", about, body).status_code == status, body


def test_the_queue_says_how_the_desk_asks(ask: Asking) -> None:
    """Verdicts at first; after a change of settings ratings, with their scale and tolerance."""
    queue = ask("GET", "/api/desks/loans/queue", by="review").json()
    assert (queue["ask"], queue["scale"], queue["tolerance"]) == ("verdicts", [1, 5], 0.05)
    rules = {"ask": "ratings", "scale": [1, 7], "tolerance": 0.1}
    assert ask("POST", "/api/desks/loans/settings", {"changes": {"reviewing": rules}}).status_code == 201
    queue = ask("GET", "/api/desks/loans/queue", by="review").json()
    assert {name: queue[name] for name in rules} == rules
    opened = ask("POST", "/api/desks", {"name": "rated", "n_features": 2, "reviewing": rules}).json()
    assert {name: opened["settings"]["reviewing"][name] for name in rules} == rules
    refused = ask("POST", "/api/desks", {"name": "wide", "n_features": 2, "reviewing": {"scale": [0, 100]}})
    assert refused.status_code == 422
    assert "reviewing.scale must be two whole numbers from 1 to 9 apart" in refused.json()["detail"]
