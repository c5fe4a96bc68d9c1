"""The live stream: one reader for all, whole parts in order, resumed by id, ended when it must be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any

import httpx
import orjson
import pytest

from evenhand.desk import Desk
from evenhand.service.dashboard.live import LiveView
from evenhand.service.problems import Problem
from tests.support.running_service import Asking, asking
from tests.support.serving import Serving
from tests.support.waiting import wait_for

QUICK: dict[str, float] = {"pause": 0.001, "heartbeat": 0.02}


class Source:
    """A desk that changes on command, and counts how often it is read."""

    def __init__(self) -> None:
        self.lines, self.reviews, self.polls, self.broken = 1, 1, 0, False
        self.reading = self.most_at_once = 0

    async def __call__(self, known: str | None) -> dict[str, Any]:
        """What is new."""
        self.polls += 1
        self.reading += 1
        self.most_at_once = max(self.most_at_once, self.reading)
        await asyncio.sleep(0)
        self.reading -= 1
        if self.broken:
            raise ConnectionError
        before, now = (known or "..").split("."), [str(self.lines), str(self.lines), str(self.reviews)]
        parts: dict[str, Any] = {"version": ".".join(now)}
        if before[:2] != now[:2]:
            parts["desk"] = {"lines": self.lines}
        if before[2:] != now[2:]:
            parts |= {"metric": {"reviews": self.reviews}, "reviewers": {}}
        return parts


def events_in(text: bytes) -> list[dict[str, str]]:
    """The events of a piece of stream."""
    blocks = [block for block in text.decode().split("\n\n") if block and not block.startswith((":", "retry"))]
    return [dict(line.split(": ", 1) for line in block.splitlines()) for block in blocks]


async def next_events(pieces: AsyncGenerator[bytes, None]) -> list[dict[str, str]]:
    """The next piece that has events in it."""
    while True:
        found = events_in(await asyncio.wait_for(anext(pieces), 60))
        if found:
            return found


def test_every_viewer_gets_a_change_and_the_desk_is_read_once() -> None:
    """Fifty viewers get the same events; one reader reads the desk for all, and none once they are gone."""

    async def run() -> None:
        source = Source()
        view = LiveView(source, **QUICK)
        viewers = [view.watch(None) for _ in range(50)]
        first = [await next_events(viewer) for viewer in viewers]
        assert all([event["event"] for event in some] == ["desk", "metric", "reviewers"] for some in first)
        source.lines = 2
        assert {(await next_events(viewer))[0]["data"] for viewer in viewers} == {'{"lines":2}'}
        assert source.most_at_once == 1
        for viewer in viewers:
            await viewer.aclose()
        assert view.viewers == 0
        while view._reader is not None:
            await asyncio.sleep(0)
        polls = source.polls
        for _ in range(3):
            await asyncio.sleep(QUICK["pause"])
        assert source.polls == polls

    asyncio.run(asyncio.wait_for(run(), 60))


def test_who_comes_back_gets_what_is_new() -> None:
    """With the newest event's id nothing is sent until there is news; with an older one, the parts that changed."""

    async def run() -> None:
        source = Source()
        view = LiveView(source, **QUICK)
        here = view.watch(None)
        events = await next_events(here)
        assert [event.get("id") for event in events] == [None, None, "1.1.1"]
        again = view.watch("1.1.1")
        assert [events_in(await anext(again)) for _ in range(3)] == [[], [], []]
        source.lines = 2
        (news,) = await next_events(again)
        assert (news["event"], news["id"]) == ("desk", "2.2.1")
        stale = view.watch("1.1.1")
        assert [event["event"] for event in await next_events(stale)] == ["desk"]
        for viewer in (here, again, stale):
            await viewer.aclose()

    asyncio.run(run())


def test_a_slow_viewer_gets_the_newest_alone() -> None:
    """A viewer who missed ten changes gets the last of them, once, and unchanged parts not at all."""

    async def run() -> None:
        source = Source()
        view = LiveView(source, **QUICK)
        quick, slow = view.watch(None), view.watch(None)
        await next_events(quick)
        await next_events(slow)
        for lines in range(2, 12):
            source.lines = lines
            await next_events(quick)
        (event,) = await next_events(slow)
        assert orjson.loads(event["data"]) == {"lines": 11}
        for viewer in (quick, slow):
            await viewer.aclose()

    asyncio.run(run())


def test_streams_end_when_the_desk_cannot_be_read() -> None:
    """Everybody's stream ends, so that they connect again; whoever does learns what is the matter."""

    async def run() -> None:
        source = Source()
        view = LiveView(source, **QUICK)
        viewer = view.watch(None)
        await next_events(viewer)
        source.broken = True
        assert [piece async for piece in viewer if events_in(piece)] == []
        with pytest.raises(ConnectionError):
            await anext(view.watch(None))
        assert view.viewers == 0

    asyncio.run(run())


def test_too_many_viewers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit nobody is let in; those who are there stay."""
    monkeypatch.setattr("evenhand.service.dashboard.live.MAX_VIEWERS", 1)

    async def run() -> None:
        view = LiveView(Source(), **QUICK)
        viewer = view.watch(None)
        await next_events(viewer)
        with pytest.raises(Problem, match="watch this desk already"):
            await anext(view.watch(None))
        assert view.viewers == 1
        await viewer.aclose()

    asyncio.run(run())


@pytest.fixture(scope="module")
def ask() -> Iterator[Asking]:
    """A service with a ledger in memory, for a whole file."""
    with asking() as running:
        yield running


def read(
    ask: Asking,
    enough: int = 1,
    *,
    until: Callable[[dict[str, str]], bool] | None = None,
    last: str | None = None,
    by: str = "admin",
    during: Any = None,
) -> list[dict[str, str]]:
    """The events of a stream: this many, and until one fits."""
    headers = {"Authorization": f"Bearer {ask.secrets[by]}"} | ({"Last-Event-ID": last} if last else {})
    found: list[dict[str, str]] = []
    with ask.http.stream("GET", "/api/desks/loans/stream", headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/event-stream"
        text = b""
        for piece in answer.iter_raw():
            text += piece
            found = events_in(text)
            if during is not None:
                during()
                during = None
            if len(found) >= enough and (until is None or any(map(until, found))):
                return found
    return found


def test_over_http(ask: Asking) -> None:
    """Decisions come through in order and thinned out: many decisions, few events, numbers that only grow."""
    ask.decide()

    def decide() -> None:
        for _ in range(30):
            ask.decide()

    def is_last(event: dict[str, str]) -> bool:
        return event["event"] == "desk" and orjson.loads(event["data"])["decisions"] == last

    last = ask("GET", "/api/desks/loans").json()["decisions"] + 30
    events = [event for event in read(ask, until=is_last, during=decide) if event["event"] == "desk"]
    counts = [orjson.loads(event["data"])["decisions"] for event in events]
    assert counts == sorted(set(counts))
    assert len(counts) < 30
    assert counts[-1] > counts[0]


def test_resuming_over_http(ask: Asking) -> None:
    """Last-Event-ID leads on from there: nothing is sent twice."""
    ask.decide()
    wait_for(lambda: ask("GET", "/api/desks/loans/window").json()["desk"]["behind"] == 0, pause=0.05)
    last = read(ask, 3)[-1]["id"]
    news = read(ask, 1, last=last, during=ask.decide)  # more than one if the projection follows before they are read
    assert {event["event"] for event in news} == {"desk"}
    before, *after = (int(version.split(".")[0]) for version in (last, *(event["id"] for event in news)))
    assert all(version > before for version in after)


@pytest.mark.parametrize(
    ("by", "desk", "status"), [("nobody", "loans", 401), ("elsewhere", "loans", 403), ("admin", "none", 404)]
)
def test_who_may_look(ask: Asking, by: str, desk: str, status: int) -> None:
    """No token, a token of another desk, a desk that is not there: a problem document, no stream."""
    answer = ask("GET", f"/api/desks/{desk}/stream", by=by)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")


def test_a_revoked_token_looks_no_more(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream ends when the token it was opened with is revoked."""
    monkeypatch.setattr("evenhand.service.dashboard.live.CHECK_SECONDS", 0.0)
    ask.token("leaving", ["review"], ["loans"])

    def revoke() -> None:
        ask.service.tokens.revoke("leaving", "2026-01-01T00:00:00+00:00")
        ask.service.authenticator.refresh()
        ask.decide()

    read(ask, 1_000, by="leaving", during=revoke)  # ends by itself


def test_from_another_process(serving: Serving) -> None:
    """Events that another process writes to the ledger come through as well."""
    headers = {"Authorization": f"Bearer {serving.tokens['owner']}"}
    with httpx.stream("GET", f"{serving.url}/api/desks/loans/stream", headers=headers, timeout=30) as answer:
        pieces, text = answer.iter_raw(), b""
        while len(events_in(text)) < 3:
            text += next(pieces)
        with Desk.open(serving.database, "loans") as desk:
            decided = desk.decide([{"id": "new", "context": [0.1] * 5}])
        while decided.id not in text.decode():
            text += next(pieces)
