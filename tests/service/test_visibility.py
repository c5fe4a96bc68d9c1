"""What a reviewer sees: in whose name she answers, what she may withdraw, and what is hidden from her."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.desk import Desk, Event, ImportPast
from tests.support.running_service import Asking
from tests.support.waiting import wait_for

DESK = "/api/desks/loans"
UNFAIR = {"kind": "partial", "unfair": [["c0", "c2"]]}


@pytest.fixture
def people(ask: Asking) -> Asking:
    """Two reviewers, and somebody who decides and reviews."""
    ask.token("Kim", ["review"], ["loans"])
    ask.token("Lee", ["review"], ["loans"])
    ask.token("both", ["decide", "review"], ["loans"])
    return ask


def review(ask: Asking, decision: str, by: str, **fields: Any) -> dict[str, Any]:
    """A review that is recorded."""
    answer = ask("POST", f"{DESK}/decisions/{decision}/reviews", {**UNFAIR, **fields}, by=by)
    assert answer.status_code == 201, answer.text
    event: dict[str, Any] = answer.json()
    return event


def interviewed(ask: Asking, by: str, **fields: Any) -> Any:
    """The answer to an interview's answer."""
    body = {"x": [1.0, 0.0], "y": [0.0, 1.0], "gap": 0.5, "unfair": True, **fields}
    return ask("POST", f"{DESK}/answers", body, by=by)


def lines(ask: Asking) -> int:
    """How long the ledger is."""
    return int(ask("GET", DESK).json()["events"])


def test_a_reviewer_takes_back_only_her_own(people: Asking) -> None:
    """Of somebody else's review and answer she learns as little as of one that was never given; nothing is added."""
    decision = people.decide()["id"]
    names = [review(people, decision, "Kim")["id"], interviewed(people, "Kim").json()["id"]]
    before = lines(people)
    for name in names:
        refused = people("DELETE", f"{DESK}/reviews/{name}", by="Lee")
        unknown = people("DELETE", f"{DESK}/reviews/{name}0", by="Lee")
        assert refused.status_code == unknown.status_code == 404
        assert refused.text == unknown.text.replace(f"{name}0", name)
        assert people("DELETE", f"{DESK}/reviews/{name}", by="both").status_code == 403
    assert lines(people) == before
    for name in names:
        assert people("DELETE", f"{DESK}/reviews/{name}", by="Kim").status_code == 200


def test_an_admin_takes_back_any(people: Asking) -> None:
    """Also what was given by somebody whose token is gone."""
    recorded = review(people, people.decide()["id"], "Kim")
    assert people("DELETE", f"{DESK}/reviews/{recorded['id']}", by="local admin").status_code == 200


def test_a_review_replaces_only_ones_own(people: Asking) -> None:
    """Superseding takes back as well: somebody else's review stays."""
    decision = people.decide()["id"]
    recorded = review(people, decision, "Kim")
    fair = {"kind": "partial", "fair": [["c0", "c2"]], "supersedes": recorded["id"]}
    assert people("POST", f"{DESK}/decisions/{decision}/reviews", fair, by="Lee").status_code == 404
    assert people("POST", f"{DESK}/decisions/{decision}/reviews", fair, by="Kim").status_code == 201


def test_nobody_speaks_in_somebody_elses_name(people: Asking) -> None:
    """A review, an answer and a lease under another name are refused with a sentence; one's own name is fine."""
    decision = people.decide()["id"]
    before = lines(people)
    for refused in (
        people("POST", f"{DESK}/decisions/{decision}/reviews", {**UNFAIR, "reviewer": "Kim"}, by="Lee"),
        interviewed(people, "Lee", reviewer="Kim"),
        people("GET", f"{DESK}/queue?reviewer=Kim", by="Lee"),
    ):
        assert refused.status_code == 403
        assert "own name" in refused.json()["detail"]
    assert lines(people) == before
    review(people, decision, "Lee", reviewer="Lee")
    assert interviewed(people, "Lee", reviewer="Lee").status_code == 201
    assert people("GET", f"{DESK}/queue?reviewer=Lee", by="Lee").status_code == 200


def test_an_admin_may_name_the_reviewer(people: Asking) -> None:
    """As when reviews that were given on paper are entered; then it is the named reviewer's own."""
    recorded = review(people, people.decide()["id"], "admin", reviewer="Kim")
    event = people("GET", f"{DESK}/events?after={recorded['seq'] - 1}").json()["events"][0]
    assert (event["actor"], event["body"]["reviewer"]) == ("admin", "Kim")
    assert people("DELETE", f"{DESK}/reviews/{recorded['id']}", by="Kim").status_code == 200


def test_the_queue_hides_the_metric_from_reviewers(people: Asking) -> None:
    """They get the pair and the gap; an admin gets distance, uncertainty, chance, reason and priority as well."""
    people.decide()
    pairs = wait_for(
        lambda: people("GET", f"{DESK}/queue", by="Kim").json()["pairs"], what="a waiting pair", pause=0.05
    )
    assert all(set(pair) == {"decision", "first", "second", "gap", "copy", "subject"} for pair in pairs)
    full = people("GET", f"{DESK}/queue", by="admin").json()["pairs"]
    assert {"distance", "doubt", "chance_unfair", "reason", "priority"} <= set(full[0])


def test_a_decision_hides_others_answers_from_reviewers(people: Asking) -> None:
    """Of the reviews that followed she sees her own and their withdrawals; deciders and admins see all."""
    decision = people.decide()
    kim, lee = (review(people, decision["id"], by) for by in ("Kim", "Lee"))
    taken = people("DELETE", f"{DESK}/reviews/{lee['id']}", by="Lee").json()
    outcome = {"rewards": {decision["chosen"][0]: 0.5}}
    happened = people("POST", f"{DESK}/decisions/{decision['id']}/outcomes", outcome, by="decide").json()
    seen = {
        "Kim": [kim["id"], happened["id"]],
        "Lee": [lee["id"], taken["id"], happened["id"]],
        "review": [happened["id"]],
        "decide": [kim["id"], lee["id"], taken["id"], happened["id"]],
        "admin": [kim["id"], lee["id"], taken["id"], happened["id"]],
    }
    for by, wanted in seen.items():
        response = people("GET", f"{DESK}/decisions/{decision['id']}", by=by).json()
        assert [event["id"] for event in response["record"]["followed_by"]] == wanted, by


def bound(ask: Asking) -> dict[str, Any]:
    """A decision in which a pair bound the probabilities, on a desk that has learned from Kim and from Lee."""
    decision = ask.decide()
    review(ask, decision["id"], "Kim")
    review(ask, decision["id"], "Lee", unfair=[["c0", "c1"]])

    def with_both() -> dict[str, Any] | None:
        response: dict[str, Any] = ask("GET", f"{DESK}/decisions/{ask.decide()['id']}").json()
        return response if quoted_in(response["explanation"]) == {"Kim", "Lee"} else None

    found = wait_for(with_both, what="a decision bound by both reviews", pause=0.05)
    assert found is not None
    return found


def quoted_in(explanation: dict[str, Any]) -> set[str]:
    """The reviewers that an explanation quotes."""
    return {quote["reviewer"] for pair in explanation["binding_pairs"] for quote in pair["shaped_by"]}


def test_an_explanation_hides_the_metric_from_reviewers(people: Asking) -> None:
    """Binding pairs are hidden, for their gap is the distance that was played; so is the metric."""
    full = bound(people)
    response = people("GET", f"{DESK}/decisions/{full['id']}", by="Kim").json()
    assert full["explanation"]["binding_pairs"]
    assert response["explanation"]["binding_pairs"] == response["record"]["body"]["tight_pairs"] == []
    assert response["explanation"]["sentences"]
    assert not any("distance" in sentence for sentence in response["explanation"]["sentences"])
    for path in (f"{DESK}/metric", f"{DESK}/decisions/{full['id']}/window"):
        assert people("GET", path, by="Kim").status_code == 403
        assert people("GET", path, by="decide").status_code == 200


def test_the_dashboard_hides_the_metric_from_reviewers(people: Asking) -> None:
    """Neither fetched nor live: no metric, no other reviewers, how many flagged what, no probabilities.

    Deciders and admins see all of it.
    """
    people.decide()
    for by, parts in (("Kim", {"desk"}), ("decide", {"desk", "metric", "reviewers"})):
        response = people("GET", f"{DESK}/window", by=by).json()
        assert set(response) == {"version", *parts}
        assert ("probability" in response["desk"]["latest"][0]["chosen"][0]) == (by == "decide")
        assert ("flagged" in response["desk"]["rounds"]) == (by == "decide")
        assert "reward" in response["desk"]["rounds"]
        headers, text = {"Authorization": f"Bearer {people.secrets[by]}"}, b""
        with people.http.stream("GET", f"{DESK}/stream", headers=headers) as answer:
            for piece in answer.iter_raw():
                text += piece
                if b"event: desk" in text and b"id: " in text:
                    break
        for part in (b"event: metric", b'"probability"', b'"flagged"'):
            assert (part in text) == (by == "decide")


def test_a_reviewer_is_not_told_how_many_pairs_bound(people: Asking) -> None:
    """The sentence that counts those beyond the first three goes with the ones about these."""
    body = {"candidates": [{"id": f"c{i}", "context": [0.1 * i, 0.9 - 0.1 * i]} for i in range(9)]}
    people("POST", "/api/desks", {"name": "many", "n_features": 2, "capacity": 3, "bound": 0.1})
    people.token("Max", ["review"], ["many"])
    first = people("POST", "/api/desks/many/decisions", body).json()
    people("POST", f"/api/desks/many/decisions/{first['id']}/outcomes", {"rewards": {first["chosen"][0]: 1.0}})

    def limited() -> str | None:
        path = f"/api/desks/many/decisions/{people('POST', '/api/desks/many/decisions', body).json()['id']}"
        found = people("GET", path).json()["explanation"]["sentences"]
        return path if any("more pairs limited" in sentence for sentence in found) else None

    path = wait_for(limited, what="a decision that many pairs bound", pause=0.05)
    assert path is not None
    seen = people("GET", path, by="Max").json()["explanation"]["sentences"]
    assert seen
    assert not any("limited" in sentence for sentence in seen)


def test_certificates_quote_reviewers_and_are_not_for_them(people: Asking) -> None:
    """Proofs and certificates are for those who decide; a reviewer is refused."""
    decision = people.decide()["id"]
    for path in ("proofs", "certificate"):
        assert people("GET", f"{DESK}/decisions/{decision}/{path}", by="Kim").status_code == 403
        assert people("GET", f"{DESK}/decisions/{decision}/{path}", by="decide").status_code in (200, 503)


def test_hidden_attributes_are_in_no_record_that_a_reviewer_reads(people: Asking) -> None:
    """Neither by name nor as a coordinate, however the candidates were given, nor by a hash that a guess could be tried
    on; whoever decides sees all."""
    opened = {"name": "hiding", "features": ["income", "gender"], "seed": 3}
    assert people("POST", "/api/desks", opened).status_code == 201
    hidden = {"changes": {"reviewing": {"hidden": ["gender"]}}}
    assert people("POST", "/api/desks/hiding/settings", hidden).status_code == 201
    people.token("Ada", ["review"], ["hiding"])
    decided = [
        [{"id": f"c{i}", "features": {"income": 0.2 * i, "gender": 0.125 + i / 4}} for i in range(3)],
        [{"id": f"c{i}", "context": [0.2 * i, 0.125 + i / 4]} for i in range(3)],
    ]
    for candidates in decided:
        made = people("POST", "/api/desks/hiding/decisions", {"candidates": candidates})
        path = f"/api/desks/hiding/decisions/{made.json()['id']}"
        assert people("POST", f"{path}/outcomes", {"rewards": {made.json()["chosen"][0]: 0.5}}).status_code == 201
        seen, full = (people("GET", path, by=by) for by in ("Ada", "admin"))
        body = seen.json()["record"]["body"]
        assert "contexts" not in body
        assert [list(row) for row in body["features"]] == [["income"]] * 3
        assert "0.125" not in seen.text
        assert "0.125" in full.text
        record = full.json()["record"]
        hashes = {line[name] for line in (record, *record["followed_by"]) for name in ("previous", "hash")}
        assert len(hashes) == 3
        assert not any(one in seen.text for one in hashes)


PAST = {
    "candidates": [{"id": "a", "context": [0.9, 0.0]}, {"id": "b", "context": [0.0, 0.9]}],
    "probabilities": [0.4, 0.1],
}


def imported(ask: Asking, *reviewers: str, **more: Any) -> str:
    """An imported line with a review of each of these."""
    reviews = [{"kind": "partial", "unfair": [["a", "b"]], "reviewer": name} for name in reviewers]
    with Desk.open(ask.service.ledger, "loans") as desk:
        (event,) = desk.execute([ImportPast({**PAST, "reviews": reviews, **more}, actor="import")])
    assert isinstance(event, Event)
    return event.id


def test_an_admin_takes_back_what_was_imported(people: Asking) -> None:
    """With all that it taught; nobody else may, unless it is her reviews and nothing besides."""
    people.token("import", ["review"], ["loans"])
    mixed, others = imported(people, "Kim", rewards={"a": 0.5}), imported(people, "Kim", "Lee")
    nobodys, own = imported(people, rewards={"a": 0.5}), imported(people, "Kim", "Kim")
    before = lines(people)
    for line in (mixed, others, nobodys):
        for by in ("Kim", "Lee", "import"):
            refused = people("DELETE", f"{DESK}/reviews/{line}", by=by)
            unknown = people("DELETE", f"{DESK}/reviews/{line}0", by=by)
            assert (refused.status_code, refused.text) == (404, unknown.text.replace(f"{line}0", line))
        assert people("DELETE", f"{DESK}/reviews/{line}", by="both").status_code == 403
    assert people("DELETE", f"{DESK}/reviews/{own}", by="Lee").status_code == 404
    assert lines(people) == before
    assert people("DELETE", f"{DESK}/reviews/{own}", by="Kim").status_code == 200
    for line in (mixed, others, nobodys):
        assert people("DELETE", f"{DESK}/reviews/{line}").status_code == 200
    assert lines(people) == before + 4


def test_an_imported_answer_is_hers_in_whose_name_it_is(people: Asking) -> None:
    """Not whoever's token has the name of the import."""
    people.token("import", ["review"], ["loans"])
    with Desk.open(people.service.ledger, "loans") as desk:
        origins = [{"desk": "old", "line": "ans_1"}]
        line = desk.answer([0.5, 0], [0, 0.5], gap=0.2, unfair=True, reviewer="Kim", actor="import", origins=origins).id
    assert people("DELETE", f"{DESK}/reviews/{line}", by="import").status_code == 404
    assert people("DELETE", f"{DESK}/reviews/{line}", by="Kim").status_code == 200
