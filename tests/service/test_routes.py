"""Every operation does what it says."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.client import DeskClient
from evenhand.schema import Number, Schema
from tests.support.running_service import ADMIN, Asking, candidates
from tests.support.waiting import wait_for


def test_a_decision_has_probabilities_in_the_order_of_its_candidates(ask: Asking) -> None:
    """The response has the candidates, their probabilities in that order, who was drawn, and the state decided from."""
    decision = ask.decide(k=4, by="decide")
    assert decision["candidates"] == ["c0", "c1", "c2", "c3"]
    assert sum(decision["probabilities"]) == pytest.approx(1.0)
    assert set(decision["chosen"]) <= set(decision["candidates"])
    assert decision["desk"] == "loans"
    assert decision["number"] == 0
    assert ask.decide()["number"] == 1


def test_the_record_of_a_decision_is_what_was_answered(ask: Asking) -> None:
    """A decision looked up later has the same probabilities and chosen, its explanation, and what followed."""
    decision = ask.decide()
    outcome = ask(
        "POST", f"/api/desks/loans/decisions/{decision['id']}/outcomes", {"rewards": {decision["chosen"][0]: 0.25}}
    ).json()
    found = ask("GET", f"/api/desks/loans/decisions/{decision['id']}").json()
    assert found["record"]["body"]["probabilities"] == decision["probabilities"]
    assert found["record"]["body"]["chosen"] == decision["chosen"]
    assert [event["id"] for event in found["record"]["followed_by"]] == [outcome["id"]]
    assert found["explanation"]["decision"] == decision["id"]
    assert [entry["probability"] for entry in found["explanation"]["candidates"]] == decision["probabilities"]


def test_candidates_may_be_given_by_named_features(ask: Asking) -> None:
    """A desk with named features takes values by name, and refuses others."""
    assert ask("POST", "/api/desks", {"name": "named", "features": ["age", "income"]}).status_code == 201
    body = {"candidates": [{"id": "a", "features": {"age": 0.1, "income": 0.5}}]}
    assert ask("POST", "/api/desks/named/decisions", body).status_code == 201
    body = {"candidates": [{"id": "a", "features": {"age": 0.1}}]}
    assert ask("POST", "/api/desks/named/decisions", body).status_code == 422


@pytest.mark.parametrize("play", ["minimum", "Kim"])
def test_whose_judgement_is_played_may_be_set(ask: Asking, play: str) -> None:
    """With a desk's other settings; a bound, too, else it is the schema's."""
    body = {"name": f"by-{play}", "n_features": 2, "metric": "auto", "play": play, "bound": 1.5}
    created = ask("POST", "/api/desks", body)
    assert created.status_code == 201
    settings = ask("GET", f"/api/desks/by-{play}").json()["settings"]
    assert (settings["play"], settings["bound"], settings["metric"]) == (play, 1.5, "auto")
    refused = ask("POST", "/api/desks", {"name": "nobody", "n_features": 2, "play": ""})
    assert refused.status_code == 422


def test_a_schema_may_scale_its_numbers(ask: Asking) -> None:
    """A scale goes in with the schema and comes out with the settings; one that is not fitted is refused."""
    open_schema = Schema([Number("debt", low=0, high=900, scale="quantile")])
    schema = open_schema.fitted([[0.0], [5.0], [40.0], [900.0]]).to_dict()
    created = ask("POST", "/api/desks", {"name": "scaled", "schema": schema})
    assert created.status_code == 201
    assert created.json()["settings"]["schema"] == schema
    body = {"candidates": [{"id": "a", "features": {"debt": 5.0}}, {"id": "b", "features": {"debt": 901.0}}]}
    assert "debt must be a number from 0 to 900" in ask("POST", "/api/desks/scaled/decisions", body).json()["detail"]
    refused = ask("POST", "/api/desks", {"name": "open", "schema": open_schema.to_dict()})
    assert refused.status_code == 422
    assert "schema must have scales that are fitted to a table" in refused.json()["detail"]


def test_hidden_attributes_are_set_when_a_desk_is_opened(ask: Asking) -> None:
    """A new desk takes the rules of reviewing; a later change of one of them leaves the others as they are."""
    rules = {"hidden": ["age"], "session": 5}
    desk = {"name": "shy", "features": ["age", "income"], "reviewing": rules, "overlap": 0.5, "pairs_per_decision": 2}
    settings = ask("POST", "/api/desks", desk).json()["settings"]
    assert (settings["reviewing"]["hidden"], settings["reviewing"]["session"], settings["overlap"]) == (["age"], 5, 0.5)
    assert ask("POST", "/api/desks/shy/settings", {"changes": {"reviewing": {"lease": 60}}}).status_code == 201
    settings = ask("GET", "/api/desks/shy").json()["settings"]
    assert (settings["reviewing"]["hidden"], settings["reviewing"]["lease"]) == (["age"], 60)
    wrong = ask("POST", "/api/desks", {**desk, "name": "other", "reviewing": {"hidden": ["gender"]}})
    assert wrong.status_code == 422


def test_the_target_may_count_flags_by_their_chance_to_be_right(ask: Asking) -> None:
    """A setting of a new desk and of a running one; other words are refused."""
    desk = {"name": "target", "n_features": 2, "target_unfair_share": 0.05}
    assert ask("POST", "/api/desks", {**desk, "name": "plain"}).json()["settings"]["target"] == "flagged"
    settings = ask("POST", "/api/desks", {**desk, "target": "estimated"}).json()["settings"]
    assert (settings["target"], settings["target_unfair_share"]) == ("estimated", 0.05)
    assert ask("POST", "/api/desks/target/settings", {"changes": {"target": "flagged"}}).status_code == 201
    assert ask("GET", "/api/desks/target").json()["settings"]["target"] == "flagged"
    assert ask("POST", "/api/desks", {**desk, "name": "other", "target": "often"}).status_code == 422
    assert ask("POST", "/api/desks/target/settings", {"changes": {"target": "often"}}).status_code == 422


@pytest.mark.parametrize(
    ("by", "review"),
    [
        ("review", {"kind": "complete", "unfair": [["c0", "c2"]]}),
        ("admin", {"kind": "partial", "unfair": [["c0", "c2"]], "fair": [["c0", "c1"]], "reviewer": "Kim"}),
        ("review", {"kind": "one_bit", "any_unfair": False, "circumstances": {"shown": ["income"]}}),
    ],
)
def test_a_review_is_recorded_and_learned_from(ask: Asking, by: str, review: dict[str, object]) -> None:
    """After a review the desk's state comes to know it; the reviewer is the one an admin names, or who gives it."""
    decision = ask.decide()
    answer = ask("POST", f"/api/desks/loans/decisions/{decision['id']}/reviews", review, by=by)
    assert answer.status_code == 201, answer.text
    seq = answer.json()["seq"]
    event = ask("GET", f"/api/desks/loans/events?after={seq - 1}").json()["events"][0]
    assert event["body"]["reviewer"] == review.get("reviewer", "review")
    assert event["actor"] == by
    _wait_for_state(ask, seq)


def _wait_for_state(ask: Asking, seq: int) -> None:
    wait_for(lambda: ask("GET", "/api/desks/loans").json()["state"] >= seq, what=f"the state at {seq}", pause=0.02)


def test_a_withdrawn_review_leaves_the_metric_as_if_never_given(ask: Asking) -> None:
    """Withdrawing adds an event, and the learned matrix becomes what it was."""
    decision = ask.decide()
    _wait_for_state(ask, decision["seq"])
    before = ask("GET", "/api/desks/loans/metric").json()["matrix"]
    body = {"kind": "complete", "unfair": [["c0", "c2"]]}
    review = ask("POST", f"/api/desks/loans/decisions/{decision['id']}/reviews", body, by="review").json()
    _wait_for_state(ask, review["seq"])
    assert ask("GET", "/api/desks/loans/metric").json()["matrix"] != before
    answer = ask("DELETE", f"/api/desks/loans/reviews/{review['id']}", params={"reason": "a slip"}, by="review")
    assert answer.status_code == 200
    _wait_for_state(ask, answer.json()["seq"])
    assert ask("GET", "/api/desks/loans/metric").json()["matrix"] == before


def test_overrides_answers_and_settings_are_recorded(ask: Asking) -> None:
    """What somebody chose instead, an interview's answer and new settings become events of their kinds."""
    decision = ask.decide()
    override = {"chosen": ["c1"], "reason": "a document came late"}
    answer = {"x": [1.0, 0.0], "y": [0.0, 1.0], "gap": 0.5, "unfair": True}
    assert ask("POST", f"/api/desks/loans/decisions/{decision['id']}/overrides", override).status_code == 201
    assert ask("POST", "/api/desks/loans/answers", answer, by="review").status_code == 201
    assert ask("POST", "/api/desks/loans/settings", {"changes": {"capacity": 2}}).status_code == 201
    kinds = [event["kind"] for event in ask("GET", "/api/desks/loans/events").json()["events"]]
    assert kinds == ["opened", "decision", "override", "answer", "settings"]
    assert ask("GET", "/api/desks/loans").json()["settings"]["capacity"] == 2 or ask.decide()
    assert ask("GET", "/api/desks/loans").json()["settings"]["capacity"] == 2


def test_pairs_wait_for_reviewers(ask: Asking) -> None:
    """After decisions there are pairs in the queue, each naming its decision and two of its candidates."""
    made = {decision["id"]: decision for decision in (ask.decide() for _ in range(3))}
    path = "/api/desks/loans/queue?limit=2"
    pairs = wait_for(lambda: ask("GET", path, by="review").json()["pairs"], what="a waiting pair", pause=0.05)
    assert len(pairs) <= 2
    for pair in pairs:
        assert {pair["first"], pair["second"]} <= set(made[pair["decision"]]["candidates"])


def test_a_review_records_what_was_seen(ask: Asking) -> None:
    """Named fields are in the record's metadata, over HTTP and by the client; a misfit is named."""
    made = ask.decide()
    about, (one, other) = f"/api/desks/loans/decisions/{made['id']}/reviews", made["candidates"][:2]
    seen: dict[str, Any] = {
        "sides": {"left": one, "right": other},
        "shown": ["income"],
        "hidden": [],
        "probabilities": {one: 0.25, other: 0.5},
        "queue": {"reason": "drawn by hand"},
        "answer": "acceptable",
        "reason": "other purpose",
        "started": "2026-11-05T09:00:00Z",
        "ended": "2026-11-05T09:00:30Z",
        "instruction": "form 3",
    }
    body = {"kind": "partial", "fair": [[one, other]], **seen}
    assert ask("POST", about, body, by="review").status_code == 201
    with DeskClient(ask.url, ADMIN) as client:
        client.review("loans", made["id"], "partial", fair=[(one, other)], reviewer="Kim", **seen)
        reviews = [event["body"] for event in client.events("loans") if event["kind"] == "review"]
    for review in reviews:
        assert review["circumstances"] == {
            **seen,
            "pair": [one, other],
            "started": "2026-11-05T09:00:00+00:00",
            "ended": "2026-11-05T09:00:30+00:00",
            "seconds": 30.0,
        }
    for wrong, named in (
        ({"answer": "perhaps"}, "answer"),
        ({"probabilities": {one: 2}}, "probabilities"),
        ({"queue": {}}, "queue"),
        ({"started": "2026-11-05 at nine"}, "started"),
        ({"circumstances": {"shown": ["income"]}}, "shown"),
        ({"sides": {"left": one, "right": "nobody"}}, "nobody"),
    ):
        refused = ask("POST", about, {**body, **wrong}, by="review")
        assert refused.status_code == 422
        assert named in refused.json()["detail"]


def test_the_queue_comes_in_pages(ask: Asking) -> None:
    """Pages put together are the whole queue; what to page on with is the desk's own, and goes without a lease."""
    path, made = "/api/desks/loans/queue", [ask.decide()["id"] for _ in range(4)]

    def are_queued() -> bool:
        return set(made) <= {one["decision"] for one in ask("GET", f"{path}?limit=1000").json()["pairs"]}

    wait_for(are_queued, what="pairs of all decisions", pause=0.05)
    whole = ask("GET", f"{path}?limit=1000", by="review").json()
    assert whole["next"] is None
    found, query = [], "?limit=3"
    while True:
        page = ask("GET", path + query, by="review").json()
        assert len(page["pairs"]) <= 3
        found += page["pairs"]
        if page["next"] is None:
            break
        query = f"?limit=3&after={page['next']}"
    assert found == whole["pairs"]
    assert len(found) > 3
    note = ask("GET", f"{path}?limit=1", by="admin").json()["next"]
    for wrong in (f"?after={note}&reviewer=admin", f"?after=x{note}", "?after=", f"?after={note[:-4]}"):
        refused = ask("GET", path + wrong)
        assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")
    assert ask("GET", f"/api/desks/jobs/queue?after={note}").status_code == 422
    leased = ask("GET", f"{path}?limit=2&reviewer=admin").json()
    assert (len(leased["pairs"]), leased["next"]) == (2, None)


def test_a_seed_is_nowhere_but_in_the_ledger_itself(ask: Asking) -> None:
    """Whoever knows the seed can foresee draws: neither opening nor looking at a desk reveals it."""
    opened = ask("POST", "/api/desks", {"name": "seeded", "n_features": 2, "seed": 123456789})
    assert "seed" not in opened.json()["settings"]
    assert "seed" not in ask("GET", "/api/desks/seeded").json()["settings"]


def test_desks_and_events_come_in_pages(ask: Asking) -> None:
    """Pages of any size, put together, are the whole list, in order, each entry once."""
    for number in range(5):
        ask("POST", "/api/desks", {"name": f"d{number}", "n_features": 1})
        ask.decide()
    for path, name, whole in (
        ("/api/desks", "desks", ["d0", "d1", "d2", "d3", "d4", "jobs", "loans"]),
        ("/api/desks/loans/events", "events", list(range(1, 7))),
    ):
        for limit in (1, 2, 3, 7, 100):
            found: list[object] = []
            query = {"limit": limit}
            while True:
                page = ask("GET", path, params=query).json()
                assert len(page[name]) <= limit
                found += [entry if name == "desks" else entry["seq"] for entry in page[name]]
                if page["next"] is None:
                    break
                query["after"] = page["next"]
            assert found == whole


def test_alive_ready_and_measured(ask: Asking) -> None:
    """Health and readiness need no token; Prometheus sees how many decisions were answered."""
    ask.decide()
    assert ask("GET", "/health", by="nobody").json()["status"] == "alive"
    assert ask("GET", "/ready", by="nobody").json()["status"] == "ready"
    text = ask("GET", "/metrics", by="metrics").text
    assert 'evenhand_requests_total{operation="decide",status="201"} 1.0' in text
    assert "evenhand_batch_commands_count 1.0" in text


def test_many_candidates_at_once_and_one_alone(ask: Asking) -> None:
    """One candidate is decided about as well as two hundred."""
    assert ask.decide(k=1)["candidates"] == ["c0"]
    assert len(ask("POST", "/api/desks/loans/decisions", candidates(200)).json()["probabilities"]) == 200
