"""The office: commands gathered into batches, frames between processes, and an office that dies and comes back."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.desk import open_ledger
from evenhand.errors import InvalidInput, LedgerUnavailable
from evenhand.service.apart import Apart
from evenhand.service.asked import Asked, Caller, Told
from evenhand.service.gather import Gatherer
from evenhand.service.office_process import Answers, Frames, Requests
from evenhand.service.problems import Problem
from tests.support.running_service import MEMORY, Asking, asking, candidates


def gatherer(execute: Any, max_batch: int = 256, max_waiting: int = 1000) -> Gatherer[int, int]:
    """A gatherer of numbers."""
    return Gatherer("test", execute, max_batch=max_batch, max_waiting=max_waiting)


def test_what_comes_in_while_a_batch_is_written_is_the_next_batch() -> None:
    """Commands of one turn go together; those that come later wait, and go together too; each gets its own answer."""

    async def run() -> list[int]:
        batches: list[int] = []
        go = threading.Event()

        def execute(commands: list[int]) -> list[int]:
            batches.append(len(commands))
            go.wait(10)
            return [command * 2 for command in commands]

        gathering = gatherer(execute)
        first = [gathering.submit(i) for i in range(5)]
        await asyncio.sleep(0.05)
        second = [gathering.submit(i) for i in range(5, 12)]
        await asyncio.sleep(0.05)
        go.set()
        assert await asyncio.gather(*first, *second) == [i * 2 for i in range(12)]
        await gathering.close()
        return batches

    assert asyncio.run(run()) == [5, 7]


def test_no_batch_is_larger_than_allowed_and_none_is_lost() -> None:
    """A thousand commands in batches of at most 100 are carried out in their order."""

    async def run() -> None:
        done: list[int] = []

        def execute(commands: list[int]) -> list[int]:
            assert len(commands) <= 100
            done.extend(commands)
            return commands

        gathering = gatherer(execute, max_batch=100)
        answers = [gathering.submit(i) for i in range(1000)]
        assert await asyncio.gather(*answers) == done == list(range(1000))
        await gathering.close()

    asyncio.run(run())


def test_an_error_of_one_command_is_its_own_and_of_a_batch_everybodys() -> None:
    """A refused command raises for its sender alone; a failed transaction for all; the next batch goes on."""

    async def run() -> None:
        def execute(commands: list[int]) -> Sequence[int | Exception]:
            if 99 in commands:
                raise LedgerUnavailable("gone")
            return [InvalidInput("odd") if command % 2 else command for command in commands]

        gathering = gatherer(execute)
        for sent, wanted in (([0, 1, 2], [int, InvalidInput, int]), ([98, 99], [LedgerUnavailable] * 2), ([4], [int])):
            futures = [gathering.submit(command) for command in sent]
            found = await asyncio.gather(*futures, return_exceptions=True)
            assert [type(answer) for answer in found] == wanted
        await gathering.close()

    asyncio.run(run())


def test_an_error_of_whoever_is_told_keeps_no_answer_from_the_others() -> None:
    """In a batch at the desk, and in a frame from the office."""

    def broken(result: object) -> None:
        raise RuntimeError("the handler is closed")

    async def run() -> None:
        gathering = gatherer(lambda commands: commands)
        gathering.hand_in(1, broken)
        assert await asyncio.wait_for(gathering.submit(2), 10) == 2
        await gathering.close()
        apart, told = Apart(MEMORY), Told(b"", 200, b"")
        heard: list[object] = []
        apart._waiting.update({1: broken, 2: heard.append})
        apart._receive([(1, told), (2, told)])
        assert heard == [told]
        apart._waiting.update({3: broken, 4: heard.append})
        apart._on_lost()
        assert isinstance(heard[1], Problem)

    asyncio.run(run())


def test_an_office_that_cannot_be_started_is_tried_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No memory for a process, or one that ends before it was told anything: the next attempt may go well."""
    popen, failures = subprocess.Popen, [OSError("no memory"), BrokenPipeError()]

    class Broken(io.BytesIO):
        def write(self, data: Any) -> int:
            raise BrokenPipeError

    def failing(command: list[str], **named: Any) -> Any:
        if not failures:
            return popen(command, **named)
        error = failures.pop(0)
        if not isinstance(error, BrokenPipeError):
            raise error
        return SimpleNamespace(stdin=Broken(), kill=lambda: None, wait=lambda *_: 0)

    monkeypatch.setattr("evenhand.service.apart.AGAIN_SECONDS", 0.01)

    async def run() -> None:
        open_ledger(f"sqlite:///{tmp_path}/ledger.db").close()  # as the door does it
        apart = await Apart.opened(replace(MEMORY, database_url=f"sqlite:///{tmp_path}/ledger.db"))
        assert apart._process is not None
        monkeypatch.setattr("evenhand.service.apart.subprocess.Popen", failing)
        apart._process.kill()
        async with asyncio.timeout(60):
            while apart._frames is not None or failures:
                await asyncio.sleep(0.02)
            while apart._frames is None:
                await asyncio.sleep(0.02)
        assert await apart.why_not_ready() is None
        await apart.close()

    asyncio.run(run())


def test_too_many_waiting_are_refused_and_closing_writes_what_waits() -> None:
    """Beyond the limit a Problem says come back; close() finishes what was taken, then refuses."""

    async def run() -> None:
        def execute(commands: list[int]) -> list[int]:
            time.sleep(0.02)
            return commands

        gathering = gatherer(execute, max_waiting=10)
        taken = [gathering.submit(i) for i in range(10)]
        with pytest.raises(Problem) as full:
            gathering.submit(10)
        assert full.value.status == 503
        await gathering.close()
        assert [future.result() for future in taken] == list(range(10))
        with pytest.raises(Problem):
            gathering.submit(11)

    asyncio.run(run())


class Wire(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""

    def is_closing(self) -> bool:
        """Never."""
        return False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Keep it."""
        self.written += bytes(data)


@given(st.lists(st.lists(st.binary(max_size=200), max_size=4), max_size=4), st.randoms(use_true_random=False))
def test_frames_come_out_as_they_went_in_however_they_are_cut(turns: list[list[bytes]], random: Any) -> None:
    """Whatever pieces a stream arrives in, the messages are the ones that were sent, in order."""

    async def run() -> None:
        wire = Wire()
        received: list[tuple[int, Told]] = []
        sender = Frames(Answers, lambda _: None, lambda: None)
        sender.connection_made(wire)
        for turn in turns:
            for body in turn:
                sender.send((len(body), Told(body, 200, b"x")))
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        receiver = Frames(Answers, received.extend, lambda: None)
        receiver.connection_made(wire)
        rest = wire.written
        while rest:
            cut = random.randint(1, len(rest))
            receiver.data_received(rest[:cut])
            rest = rest[cut:]
        assert [told.body for _, told in received] == [body for turn in turns for body in turn]

    asyncio.run(run())


def test_what_is_asked_survives_the_way_to_the_office() -> None:
    """A request is the same on both ends."""
    import msgspec

    for desks in (None, (), ("a", "b")):
        asked = Asked("decide", Caller("intake", ("decide",), desks), {"desk": "ä/b"}, b"key", b"a=1", b"{}")
        sent: Requests = [(7, asked)]
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(sent), type=Requests) == sent


@pytest.fixture
def apart(tmp_path: Path) -> Any:
    """A service whose office is a process of its own."""
    with asking(replace(MEMORY, database_url=f"sqlite:///{tmp_path}/ledger.db", max_body=4_000_000)) as ask:
        yield ask


def test_an_office_apart_answers_as_one_at_the_door(apart: Asking) -> None:
    """Decisions of all sizes, records, metric, pages, problems and measures come through whole."""
    ask = apart
    made = ask.decide(by="decide")
    assert len(ask("POST", "/api/desks/loans/decisions", candidates(400)).json()["probabilities"]) == 400
    assert ask("GET", f"/api/desks/loans/decisions/{made['id']}").json()["id"] == made["id"]
    assert len(ask("GET", "/api/desks/loans/metric").json()["matrix"]) == 2
    assert ask("GET", "/api/desks", by="review").json()["desks"] == ["loans"]
    assert ask("POST", "/api/desks/loans/decisions", {"candidates": []}).status_code == 422
    assert ask("GET", "/api/desks/nothing").status_code == 404
    assert ask("GET", "/ready", by="nobody").status_code == 200
    text = ask("GET", "/metrics").text
    assert "evenhand_batch_commands_count" in text
    assert "evenhand_requests_total" in text


def test_an_office_that_dies_is_started_again(apart: Asking) -> None:
    """Requests meanwhile get 503; then all goes on, from the same ledger, and a key finds what it did before."""
    ask = apart
    office = ask.service.office
    assert isinstance(office, Apart)
    assert office._process is not None
    made = ask.decide(headers={"Idempotency-Key": "k"})
    os.kill(office._process.pid, signal.SIGKILL)
    until, seen = time.monotonic() + 60, set()
    while True:
        answer = ask("POST", "/api/desks/loans/decisions", candidates(), headers={"Idempotency-Key": "k"})
        seen.add(answer.status_code)
        if answer.status_code == 201:
            break
        assert answer.status_code == 503, answer.text
        assert answer.headers["retry-after"]
        assert time.monotonic() < until, "the office does not come back"
        time.sleep(0.02)
    assert answer.json() == made
    assert ask("GET", "/api/desks/loans").json()["decisions"] == 1
    assert seen == {201, 503}


def test_a_database_that_is_away_is_a_problem_to_come_back_for(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """503 with a time, without the words of the database; once it is back, decisions go on."""
    ask.decide()

    def away(*_: Any) -> Any:
        raise LedgerUnavailable("no route to db.internal.example")

    with monkeypatch.context() as patched:
        patched.setattr("evenhand.ledger.ledger.Ledger.writing", away)
        answer = ask("POST", "/api/desks/loans/decisions", candidates())
        assert answer.status_code == 503
        assert answer.headers["retry-after"]
        assert "db.internal" not in answer.text
    assert ask.decide()["number"] == 1
