"""DeskClient: retries until there is an answer, and never does a thing twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import numpy as np
import pytest

from evenhand.client import DeskClient, ServiceAway, ServiceProblem
from evenhand.errors import InvalidInput
from tests.support.running_service import ADMIN, Asking, candidates


def test_the_client_speaks_every_operation(ask: Asking) -> None:
    """Opening, deciding, outcomes, reviews, withdrawals, overrides, answers, queue, metric, settings, events."""
    with DeskClient(ask.url, ADMIN) as client:
        client.open_desk("new", n_features=2, capacity=1, seed=1)
        made = client.decide("new", candidates()["candidates"])
        client.outcome("new", made["id"], {made["chosen"][0]: 0.5})
        review = client.review("new", made["id"], "complete", unfair=[("c0", "c2")], reviewer="Kim")
        client.withdraw("new", review["id"], reason="a slip")
        client.override("new", made["id"], ["c1"], reason="late papers")
        client.answer("new", [1.0, 0.0], [0.0, 1.0], gap=0.5, unfair=True, reviewer="Kim")
        client.change_settings("new", {"capacity": 2})
        assert isinstance(client.queue("new"), list)
        assert len(client.metric("new")["matrix"]) == 2
        assert client.decision("new", made["id"])["id"] == made["id"]
        assert client.desk("new")["events"] == 8
        assert list(client.desks()) == ["jobs", "loans", "new"]
        kinds = [event["kind"] for event in client.events("new")]
    assert kinds == ["opened", "decision", "outcome", "review", "withdrawal", "override", "answer", "settings"]


def test_a_problem_becomes_an_error_with_its_document(ask: Asking) -> None:
    """What the service says is the error's sentence, status and kind; refusals are not tried again."""
    with DeskClient(ask.url, ADMIN) as client, pytest.raises(ServiceProblem, match="no desk 'nothing'") as refused:
        client.desk("nothing")
    assert refused.value.status == 404
    assert refused.value.kind == "not-found"
    with DeskClient(ask.url, "eh_nobody") as client, pytest.raises(ServiceProblem) as refused:
        list(client.desks())
    assert refused.value.status == 401


def scripted(steps: list[Callable[[httpx.Request], httpx.Response]]) -> tuple[DeskClient, list[str], list[float]]:
    """A client of a service with these responses; with the keys it got and the pauses made."""
    keys: list[str] = []
    pauses: list[float] = []

    def answer(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers.get("Idempotency-Key", ""))
        return steps.pop(0)(request)

    transport = httpx.MockTransport(answer)
    return DeskClient("http://desk", ADMIN, retries=4, transport=transport, sleep=pauses.append), keys, pauses


def lost(request: httpx.Request) -> httpx.Response:
    """The connection breaks."""
    raise httpx.ReadError("gone", request=request)


def test_a_lost_answer_is_requested_again_with_the_same_key() -> None:
    """Broken connections, overload and restarts are sat out; every attempt has one key; pauses grow."""
    done = httpx.Response(201, json={"id": "dec_1"})
    later = httpx.Response(503, json={}, headers={"Retry-After": "3"})
    client, keys, pauses = scripted([lost, lambda _: httpx.Response(429), lambda _: later, lambda _: done])
    with client:
        assert client.decide("loans", [])["id"] == "dec_1"
    assert len(keys) == 4
    assert len(set(keys)) == 1
    assert keys[0]
    assert pauses[0] <= 0.1
    assert pauses[2] >= 3.0


def test_the_queue_is_read_page_by_page() -> None:
    """As many as wanted, or all; kept for a reviewer they are one page."""
    queries: list[str] = []

    def paged(request: httpx.Request) -> httpx.Response:
        queries.append(request.url.query.decode())
        after = int(request.url.params.get("after", 0))
        pairs = [{"first": number} for number in range(after, min(after + 40, 100))]
        return httpx.Response(200, json={"pairs": pairs, "next": str(after + 40) if after + 40 < 100 else None})

    client, _, _ = scripted([paged] * 11)
    with client:
        for limit, expected in ((None, 100), (7, 7), (90, 90), (500, 100)):
            assert [one["first"] for one in client.queue("loans", limit)] == list(range(expected))
        assert client.queue("loans", 30, reviewer="Kim")[0] == {"first": 0}
    everything = ["", "after=40", "after=80"]
    assert queries[:3] == queries[7:10] == everything
    assert queries[3:7] == ["limit=7", "limit=90", "limit=90&after=40", "limit=90&after=80"]
    assert queries[10:] == ["reviewer=Kim&limit=30"]


def test_two_requests_have_two_keys_by_default() -> None:
    """Deciding twice is two decisions; a key of one's own is used as it is."""
    client, keys, _ = scripted([lambda _: httpx.Response(201, json={})] * 3)
    with client:
        client.decide("loans", [])
        client.decide("loans", [])
        client.decide("loans", [], key="mine")
    assert len(set(keys)) == 3
    assert keys[2] == "mine"


def test_no_answer_at_all_is_an_error_that_has_the_key() -> None:
    """After all attempts the error carries the key, so that the request can still be finished later."""
    client, keys, pauses = scripted([lost] * 5)
    with client, pytest.raises(ServiceAway) as away:
        client.decide("loans", [], key="mine")
    assert away.value.key == "mine"
    assert len(keys) == 5
    assert len(pauses) == 4


def test_a_problem_that_stays_is_raised() -> None:
    """A service that stays overloaded is a problem in the end, not a silence."""
    client, _, _ = scripted([lambda _: httpx.Response(503, json={"detail": "busy"})] * 5)
    with client, pytest.raises(ServiceProblem, match="busy"):
        client.decide("loans", [])


def test_names_with_odd_letters_reach_the_service(ask: Asking) -> None:
    """A slash or a blank in an id is no other path."""
    with DeskClient(ask.url, ADMIN) as client:
        for name in ("a/b", "a b", "ä", "...", "a?b"):
            with pytest.raises(ServiceProblem) as refused:
                client.decision("loans", name)
            assert refused.value.status == 404
        for name in ("", ".", ".."):
            with pytest.raises(InvalidInput):
                client.decision("loans", name)


def made(request: httpx.Request) -> httpx.Response:
    """An answer that says what was sent."""
    return httpx.Response(201, json={"sent": json.loads(request.content)})


@pytest.mark.parametrize("key", ["", "a\nb", "ü", "x" * 201, " a", "a ", '"a"', 7])
def test_a_key_that_cannot_be_sent_is_refused(key: Any) -> None:
    """With a sentence, and nothing is sent: an empty one is not taken for none."""
    client, keys, _ = scripted([])
    with client:
        with pytest.raises(InvalidInput, match=r"key must be 1 to 200 printable"):
            client.decide("loans", [], key=key)
        with pytest.raises(InvalidInput, match=r"key must be 1 to 200 printable"):
            client.withdraw("loans", "rev_1", key=key)
    assert keys == []


HOLDS_ITSELF: list[Any] = []
HOLDS_ITSELF.append(HOLDS_ITSELF)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), r"^candidates\[0\]\.context\[0\] must be finite, got nan"),
        (np.float32("inf"), r"^candidates\[0\]\.context\[0\] must be finite, got inf"),
        (np.array([1.0, np.nan]), r"^candidates\[0\]\.context\[0\]\[1\] must be finite, got nan"),
        ("\ud800", r"^candidates\[0\]\.context\[0\] must be valid Unicode, got '\\ud800'"),
        (object(), r"^candidates\[0\]\.context\[0\] must be text, a number.*, got <object"),
        ({7: 1, (1, 2): 2}, r"^names in candidates\[0\]\.context\[0\] must be text, got 7"),
        (1j, r"must be text, a number"),
        (HOLDS_ITSELF, r"not contain itself"),
    ],
)
def test_what_is_no_json_is_refused(value: Any, message: str) -> None:
    """With the way to it, and nothing is sent."""
    client, keys, _ = scripted([])
    with client, pytest.raises(InvalidInput, match=message):
        client.decide("loans", [{"id": "a", "context": [value, 0.2]}])
    assert keys == []


def test_other_things_that_cannot_be_sent_are_refused() -> None:
    """Names, queries, tokens, addresses, and what is no list or dict."""
    client, keys, _ = scripted([])
    wrong: list[Callable[[], object]] = [
        lambda: client.decide("loans", 5),
        lambda: client.decide("\ud800", []),
        lambda: client.decide(None, []),  # type: ignore[arg-type]
        lambda: client.outcome("loans", "dec_1", 0.5),  # type: ignore[arg-type]
        lambda: client.review("loans", "dec_1", "partial", unfair="ab"),
        lambda: client.withdraw("loans", "rev_1", reason="\ud800"),
        lambda: DeskClient("http://desk", "a\nb"),
        lambda: DeskClient("http://desk", "ü"),
        lambda: DeskClient("desk:8000", "a"),
        lambda: DeskClient("", "a"),
        lambda: DeskClient("http://desk", "a", retries=-1),
    ]
    with client:
        for call in wrong:
            with pytest.raises(InvalidInput):
                call()
    assert keys == []


def test_numpy_is_taken_as_numbers_and_lists() -> None:
    """Arrays and numbers of any precision, in candidates, answers, rewards and reviews."""
    client, _, _ = scripted([made] * 4)
    with client:
        exact = [{"id": "a", "context": np.array([0.25, 1.0], np.float32)}]
        people: list[dict[str, Any]] = [*exact, {"id": "b", "context": (np.float32(0.5), 1)}]
        sent = [{"id": "a", "context": [0.25, 1.0]}, {"id": "b", "context": [0.5, 1]}]
        assert client.decide("loans", people)["sent"] == {"candidates": sent}
        answer = client.answer(
            "loans", np.array([1.0, 0.0]), np.array([0, 1]), gap=np.float64(0.5), unfair=np.bool_(True)
        )
        assert answer["sent"] == {"x": [1.0, 0.0], "y": [0, 1], "gap": 0.5, "unfair": True}
        assert client.outcome("loans", "dec_1", {"a": np.int64(1)})["sent"] == {"rewards": {"a": 1}}
        bit = client.review("loans", "dec_1", "one_bit", any_unfair=np.bool_(True))  # type: ignore[arg-type]
        assert bit["sent"] == {"kind": "one_bit", "any_unfair": True}


def test_an_answer_that_cannot_be_decoded_is_requested_again() -> None:
    """The response was sent, but cannot be read: with the same key it comes again; if it never can be, that raises."""

    def torn(request: httpx.Request) -> httpx.Response:
        return httpx.Response(201, stream=httpx.ByteStream(b"hello"), headers={"Content-Encoding": "gzip"})

    client, keys, _ = scripted([torn, lambda _: httpx.Response(201, json={"id": "dec_1"}), *[torn] * 5])
    with client:
        assert client.decide("loans", [])["id"] == "dec_1"
        assert len(set(keys)) == 1
        with pytest.raises(ServiceAway) as away:
            client.decide("loans", [], key="mine")
    assert away.value.key == "mine"


@pytest.mark.parametrize("pause", ["²", "-5", "soon", "Wed, 21 Oct 2026 07:28:00 GMT", "9" * 400])
def test_a_pause_that_is_no_number_is_passed_over(pause: str) -> None:
    """Whatever a service or a proxy names, the request is sent again after a pause of some seconds at most."""
    later = httpx.Response(503, json={}, headers=[(b"Retry-After", pause.encode("latin-1"))])
    client, keys, pauses = scripted([lambda _: later, lambda _: httpx.Response(201, json={"id": "dec_1"})])
    with client:
        assert client.decide("loans", [])["id"] == "dec_1"
    assert len(keys) == 2
    assert 0 < pauses[0] <= 10


@pytest.mark.parametrize("content", [b"<p>Welcome</p>", b"[1]", b'"x"', b"\xff\xfe\xff", b"[" * 100_000, b""])
@pytest.mark.parametrize("status", [200, 404])
def test_an_answer_of_another_service_is_a_problem(content: bytes, status: int) -> None:
    """A page of a proxy is no success, whatever its status."""
    client, _, _ = scripted([lambda _: httpx.Response(status, content=content)] * 2)
    with client:
        with pytest.raises(ServiceProblem, match="without a JSON object") as refused:
            client.desk("loans")
        assert refused.value.status == status
        with pytest.raises(ServiceProblem):
            list(client.desks())


def test_a_page_that_is_none_is_a_problem() -> None:
    """JSON, but not what was asked for."""
    client, _, _ = scripted([lambda _: httpx.Response(200, json={"hello": 1})])
    with client, pytest.raises(ServiceProblem, match="no page of desks"):
        list(client.desks())
