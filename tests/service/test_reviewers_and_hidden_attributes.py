"""What is hidden from reviewers stays hidden: they get no hash of an event to try guesses on, and no hidden name."""

from __future__ import annotations

import re
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest

from evenhand.schema import Category, Number, Schema
from evenhand.service import routers
from tests.support.running_service import Asking, is_problem
from tests.support.waiting import wait_for

DESK = "/api/desks/hiding"
SCHEMA = Schema([Number("income", low=0, high=100), Category("origin", levels=("north", "south"))])
SHOWN = {"started": "2026-11-05T10:00:00+01:00", "ended": "2026-11-05T10:00:41+01:00"}
HEX = re.compile(r"[0-9a-f]{32,}")
"""Digests. Ids of events are 32 digits long as well, after a prefix."""


@pytest.fixture
def hiding(ask: Asking) -> Asking:
    """A desk that hides an attribute of few values, with a decision, an outcome, and Ada's and Bea's reviews."""
    opened = {"name": "hiding", "schema": SCHEMA.to_dict(), "seed": 42, "reviewing": {"hidden": ["origin"]}}
    assert ask("POST", "/api/desks", opened).status_code == 201
    for name in ("Ada", "Bea"):
        ask.token(name, ["review"], ["hiding"])
    people = [
        {"id": f"c{i}", "features": {"income": 10 + 30 * i, "origin": ("north", "south")[i % 2]}} for i in range(3)
    ]
    made = ask("POST", f"{DESK}/decisions", {"candidates": people}, headers={"Idempotency-Key": "day 1"}).json()
    decision = f"{DESK}/decisions/{made['id']}"
    assert ask("POST", f"{decision}/outcomes", {"rewards": {made["chosen"][0]: 0.5}}).status_code == 201
    override = {"chosen": ["c2"], "reason": "a quota by origin: north"}
    assert ask("POST", f"{decision}/overrides", override).status_code == 201
    item = wait_for(lambda: ask("GET", f"{DESK}/review/next", by="Ada").json()["item"], what="a pair", pause=0.05)
    answered = ask("POST", f"{DESK}/review/answers", {**SHOWN, "item": item, "answer": "unfair"}, by="Ada")
    assert answered.status_code == 201, answered.text
    review = {"kind": "partial", "fair": [["c0", "c1"]], "circumstances": {"hidden": ["origin"]}}
    assert ask("POST", f"{decision}/reviews", review, by="Bea").status_code == 201
    return ask


def digests(ask: Asking) -> set[str]:
    """All that somebody could try guesses on: hashes, digests of requests and of the schema, signatures."""
    events = ask("GET", f"{DESK}/events?limit=1000").json()["events"]
    found = {event[name] for event in events for name in ("previous", "hash", "request") if event[name]}
    bodies = [event["body"] for event in events if event["kind"] == "decision"]
    return (found | {body[name] for body in bodies for name in ("seal", "schema")}) - {"0" * 64}


def streamed(ask: Asking, by: str) -> str:
    """The first parts of the live stream, with its headers."""
    text = b""
    with ask.http.stream("GET", f"{DESK}/stream", headers={"Authorization": f"Bearer {ask.secrets[by]}"}) as answer:
        for piece in answer.iter_raw():
            text += piece
            if b"event: desk" in text and b"id: " in text:
                break
        return text.decode() + str(answer.headers)


def routes() -> list[str]:
    """All paths under /api that can be read, but for the stream."""
    modules = [import_module(f"{routers.__name__}.{one.name}") for one in iter_modules(routers.__path__)]
    found = [route for module in modules for route in module.router.routes if "GET" in route.methods]
    return [one.path for one in found if one.path.startswith("/api/") and not one.path.endswith("/stream")]


def readable(ask: Asking, by: str) -> dict[str, str]:
    """All that a caller can read of the desk, by path: bodies, headers, and the texts of errors."""
    events = ask("GET", f"{DESK}/events").json()["events"]
    decision = next(event["id"] for event in events if event["kind"] == "decision")
    paths = [path.replace("/api/desks/{desk}", DESK).replace("{decision}", decision) for path in routes()]
    assert len(paths) > 20
    assert not any("{" in path for path in paths)
    paths += [f"{DESK}{rest}" for rest in ("/window?since=0.0.0", "/queue?after=x", "/window/groups?by=origin")]
    found = {path: ask("GET", path, by=by) for path in paths}
    texts = {path.removeprefix(DESK): f"{response.text}\n{response.headers}" for path, response in found.items()}
    return {**texts, "/stream": streamed(ask, by)}


def test_a_reviewer_gets_no_hash_of_an_event(hiding: Asking) -> None:
    """Not of the desk's head, its dashboard, its stream or a record: with one, hidden attributes could be guessed."""
    secret = digests(hiding)
    assert len(secret) >= 8
    for path, text in readable(hiding, "Ada").items():
        assert not any(one in text for one in secret), path
    full = readable(hiding, "admin")
    assert all(any(one in full[path] for one in secret) for path in ("", "/window", "/stream"))


def test_a_reviewer_is_not_told_what_is_hidden(hiding: Asking) -> None:
    """Neither the name nor the values of a hidden attribute, nor that it is one among so many."""
    for path, text in readable(hiding, "Ada").items():
        assert "origin" not in text, path
        assert not re.search("north|south", text), path
    settings = hiding("GET", DESK, by="Ada").json()["settings"]
    assert settings["features"] == ["income"]
    assert [feature["name"] for feature in settings["schema"]["features"]] == ["income"]
    assert not {"n_features", "bound", "seed"} & settings.keys()
    assert "hidden" not in settings["reviewing"]
    assert settings["capacity"] == 1
    assert hiding("GET", DESK).json()["settings"]["reviewing"]["hidden"] == ["origin"]


def test_a_review_says_nothing_of_what_was_hidden(hiding: Asking) -> None:
    """Her own answer comes back as she gave it, without what the desk recorded beside it."""
    (decision,) = (e["id"] for e in hiding("GET", f"{DESK}/events").json()["events"] if e["kind"] == "decision")
    for by in ("Ada", "Bea"):
        seen = hiding("GET", f"{DESK}/decisions/{decision}", by=by).json()["record"]["followed_by"]
        (mine,) = [event["body"] for event in seen if event["kind"] == "review"]
        assert mine["reviewer"] == by
        assert "hidden" not in mine["circumstances"]
        assert set(mine["circumstances"].get("queue", {})) <= {"reason", "place"}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/interview/people", {"csv": "income\n1\n2\n"}),
        ("/answers", {"x": [0.1], "y": [0.2], "gap": 0.5, "unfair": True}),
    ],
)
def test_what_needs_all_attributes_is_not_for_reviewers_of_such_a_desk(
    hiding: Asking, path: str, body: dict[str, Any]
) -> None:
    """Errors would name the attributes that are missing, or count them."""
    refused = hiding("POST", f"{DESK}{path}", body, by="Ada")
    is_problem(refused, 403, "forbidden")
    assert not re.search(r"origin|\d", refused.json()["detail"])
    assert hiding("POST", f"{DESK}{path}", body).status_code == 422


def test_a_desk_that_hides_nothing_shows_reviewers_its_settings(ask: Asking) -> None:
    """All but the seed; hashes are for deciders and admins there, too, since carried columns are hidden anywhere."""
    seen = ask("GET", "/api/desks/loans", by="review").json()
    assert seen["settings"]["n_features"] == 2
    assert seen["head"] is None
    assert HEX.fullmatch(ask("GET", "/api/desks/loans", by="decide").json()["head"])
    decision = ask.decide()["id"]
    record = ask("GET", f"/api/desks/loans/decisions/{decision}", by="review").json()["record"]
    assert not {"hash", "previous", "request"} & record.keys()
