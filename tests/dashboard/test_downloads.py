"""What can be taken away is what the ledger says, and only for those who may."""

from __future__ import annotations

import csv
import io
from typing import Any

import httpx
import pytest

from evenhand.certificates import Certificate, check
from evenhand.desk.event_records import decision_of, review_of
from evenhand.ledger.verify import from_line, verify_lines
from tests.support.serving import Serving
from tests.support.waiting import wait_for

TEXT = "text/csv; charset=utf-8"


@pytest.fixture(scope="module")
def events(serving: Serving) -> list[dict[str, Any]]:
    """The lines of the ledger, as the service lists them one by one."""
    page = serving.ask("GET", "/api/desks/loans/events?limit=1000", by="owner").json()
    assert page["next"] is None
    found: list[dict[str, Any]] = page["events"]
    return found


def got(serving: Serving, path: str, by: str = "owner") -> httpx.Response:
    """A download, asked for again while the service has still to learn from the ledger."""

    def answer() -> tuple[httpx.Response, ...]:
        found = serving.ask("GET", f"/api/desks/loans{path}", by=by)
        return () if found.status_code == 503 else (found,)

    return wait_for(answer, what="a service that has caught up", pause=0.1)[0]


def test_the_ledger_can_be_verified_as_it_stands(serving: Serving, events: list[dict[str, Any]]) -> None:
    """Every line, in order, with hashes that check, up to the head that the service reports."""
    answer = got(serving, "/ledger.jsonl")
    lines = answer.text.splitlines()
    assert verify_lines(lines).hash == events[-1]["hash"]
    assert [from_line(line).id for line in lines] == [event["id"] for event in events]
    assert answer.headers["content-disposition"] == 'attachment; filename="loans-ledger.jsonl"'


def test_the_table_of_decisions(serving: Serving, events: list[dict[str, Any]]) -> None:
    """One row for each candidate, with probabilities, features, outcome and verdicts, as the ledger has them."""
    answer = got(serving, "/decisions.csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    decisions = [event for event in events if event["kind"] == "decision"]
    assert answer.headers["content-type"] == TEXT
    assert answer.headers["content-disposition"] == 'attachment; filename="loans-decisions.csv"'
    assert len(rows) == sum(len(event["body"]["candidates"]) for event in decisions)
    gone = {event["body"]["review"] for event in events if event["kind"] == "withdrawal"}
    by_id = {(row["decision"], row["candidate"]): row for row in rows}
    for event in decisions:
        body = event["body"]
        about = [e for e in events if e["body"].get("decision") == event["id"] and e["id"] not in gone]
        for place, name in enumerate(body["candidates"]):
            row = by_id[event["id"], name]
            assert float(row["probability"]) == body["probabilities"][place]
            assert (row["chosen"] == "yes") == (name in body["chosen"])
            assert float(row["income"]) == body["features"][place]["income"]
            rewards = [
                e["body"]["rewards"][name] for e in about if e["kind"] == "outcome" and name in e["body"]["rewards"]
            ]
            assert row["reward"] == (str(rewards[0]) if rewards else "")
            unfair = sum(name in pair for e in about if e["kind"] == "review" for pair in e["body"]["unfair"])
            assert int(row["pairs_called_unfair"]) == unfair
            instead = [e["body"]["chosen"] for e in about if e["kind"] == "override"]
            assert row["chosen_instead"] == (("yes" if name in instead[-1] else "no") if instead else "")


def test_a_certificate_that_anybody_can_check(serving: Serving, events: list[dict[str, Any]]) -> None:
    """The independent checker agrees, with the ledger's decisions and reviews as sources."""
    decision = [event for event in events if event["kind"] == "decision"][-1]
    answer = got(serving, f"/decisions/{decision['id']}/certificate")
    record, named = answer.json(), f"loans-certificate-{decision['body']['number']}.json"
    assert answer.headers["content-disposition"] == f'attachment; filename="{named}"'
    gone = {event["body"]["review"] for event in events if event["kind"] == "withdrawal"}
    reviews = [event["body"] for event in events if event["kind"] == "review" and event["id"] not in gone]
    answers = [event["body"] for event in events if event["kind"] == "answer"]
    sources: list[Any] = [
        {name: answer[name] for name in ("x", "y", "gap", "unfair", "reviewer")} for answer in answers
    ]
    for event in (event for event in events if event["kind"] == "decision"):
        verdicts = [review_of(body, event["body"]["candidates"]) for body in reviews if body["decision"] == event["id"]]
        sources.append((decision_of(event["body"]), verdicts))
    checked = check(Certificate.from_dict(record), sources)
    assert sum(checked) == len(record["pairs"])


def test_proofs_name_people_and_reviews(serving: Serving, events: list[dict[str, Any]]) -> None:
    """The page's proofs are the certificate's: the same pairs and statuses, and each verdict was given by somebody."""
    decisions = {event["id"]: event for event in events if event["kind"] == "decision"}
    name = list(decisions)[-1]
    record = got(serving, f"/decisions/{name}/certificate").json()
    proofs = got(serving, f"/decisions/{name}/proofs").json()
    names = decisions[name]["body"]["candidates"]
    assert [[p["first"], p["second"], p["status"]] for p in proofs["pairs"]] == [
        [names[p["pair"][0]], names[p["pair"][1]], p["status"]] for p in record["pairs"]
    ]
    assert sum(proofs["counts"].values()) == len(record["pairs"])
    reviews = [event["body"] for event in events if event["kind"] == "review"]
    quoted = [quote for pair in proofs["pairs"] for quote in pair["evidence"]]
    assert quoted
    for quote in quoted:
        if quote["decision"] is not None:
            how = "unfair" if quote["unfair"] else "fair"
            quoted_reviews = [
                r for r in reviews if r["decision"] == quote["decision"] and r["reviewer"] == quote["reviewer"]
            ]
            assert any(set(quote["names"]) == set(pair) for review in quoted_reviews for pair in review[how])


def test_proofs_mark_later_verdicts(serving: Serving, events: list[dict[str, Any]]) -> None:
    """Of each verdict whether it came after the decision, by the ledger; an interview's answer says nothing of it."""
    made = [event for event in events if event["kind"] == "decision"][8]
    proofs = got(serving, f"/decisions/{made['id']}/proofs").json()
    taken_back = {event["body"]["review"] for event in events if event["kind"] == "withdrawal"}
    reviews = [event for event in events if event["kind"] == "review" and event["id"] not in taken_back]
    found = set()
    for quote in (quote for pair in proofs["pairs"] for quote in pair["evidence"]):
        how = "unfair" if quote["unfair"] else "fair"
        lines = [
            event["seq"]
            for event in reviews
            if event["body"]["decision"] == quote["decision"]
            and event["body"]["reviewer"] == quote["reviewer"]
            and set(quote["names"] or ()) in [set(pair) for pair in event["body"][how]]
        ]
        assert quote["is_later"] == (lines[0] > made["body"]["state"] if lines else None)
        found.add(quote["is_later"])
    assert {True, False} <= found


@pytest.mark.parametrize(
    ("path", "by", "status"),
    [
        ("/ledger.jsonl", "Kim", 403),
        ("/decisions.csv", "Kim", 403),
        ("/ledger.jsonl", "Eve", 403),
        ("/window", "Eve", 403),
        ("/window", "Kim", 200),
        ("/decisions/dec_0/certificate", "Kim", 403),
        ("/decisions/dec_0/proofs", "owner", 404),
        ("/decisions/dec_0/window", "owner", 404),
    ],
)
def test_who_may_have_what(serving: Serving, path: str, by: str, status: int) -> None:
    """The ledger has the seed in it and is for admins; the table for those who decide; nothing for other desks."""
    assert got(serving, path, by).status_code == status


def test_the_list_of_desks_has_those_one_may_see(serving: Serving) -> None:
    """An owner sees all desks, a reviewer their own."""
    seen = {
        by: [desk["name"] for desk in serving.ask("GET", "/api/window", by=by).json()["desks"]]
        for by in ("owner", "Eve")
    }
    assert seen == {"owner": ["empty", "loans"], "Eve": ["empty"]}
