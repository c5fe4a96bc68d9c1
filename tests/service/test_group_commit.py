"""Group commit: commands that arrive while a batch is written form the next batch."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from evenhand.errors import InvalidInput, LedgerUnavailable
from evenhand.service.group_commit import GroupCommit
from evenhand.service.problems import Problem

Test = Callable[[Callable[..., Any]], Coroutine[Any, Any, None]]


def run(test: Test) -> None:
    """Run a test with a function that makes a group commit of numbers."""
    with ThreadPoolExecutor(2) as executor:

        def commits(execute: Any, *, max_batch: int = 256, max_waiting: int = 1000) -> Any:
            return GroupCommit(execute, executor, max_batch=max_batch, max_waiting=max_waiting)

        asyncio.run(test(commits))


def submitted(commits: Any, numbers: Any) -> list[asyncio.Task[Any]]:
    """Tasks that each submit a number."""
    return [asyncio.create_task(commits.submit(number)) for number in numbers]


def test_commands_that_arrive_during_a_batch_form_the_next_one() -> None:
    """Commands of one turn go together, those that arrive later too; each gets its own result."""
    batches: list[int] = []
    begun, go = threading.Event(), threading.Event()

    def execute(commands: list[int]) -> list[int]:
        batches.append(len(commands))
        begun.set()
        assert go.wait(10)
        return [command * 2 for command in commands]

    async def test(commits_of: Any) -> None:
        commits = commits_of(execute)
        first = submitted(commits, range(5))
        assert await asyncio.to_thread(begun.wait, 10)
        second = submitted(commits, range(5, 12))
        await asyncio.sleep(0)
        go.set()
        assert await asyncio.gather(*first, *second) == [i * 2 for i in range(12)]
        await commits.close()

    run(test)
    assert batches == [5, 7]


def test_no_batch_is_larger_than_allowed_and_none_is_lost() -> None:
    """A thousand commands in batches of at most 100 are executed in their order."""
    done: list[int] = []

    def execute(commands: list[int]) -> list[int]:
        assert len(commands) <= 100
        done.extend(commands)
        return commands

    async def test(commits_of: Any) -> None:
        commits = commits_of(execute, max_batch=100)
        assert await asyncio.gather(*submitted(commits, range(1000))) == done == list(range(1000))
        assert commits.is_idle
        await commits.close()

    run(test)


def test_an_error_of_one_command_is_its_own_and_of_a_batch_everybodys() -> None:
    """A refused command raises for its sender only; a failed transaction for all; the next batch succeeds."""

    def execute(commands: list[int]) -> list[int | Exception]:
        if 99 in commands:
            raise LedgerUnavailable("gone")
        return [InvalidInput("odd") if command % 2 else command for command in commands]

    async def test(commits_of: Any) -> None:
        commits = commits_of(execute)
        for sent, wanted in (([0, 1, 2], [int, InvalidInput, int]), ([98, 99], [LedgerUnavailable] * 2), ([4], [int])):
            found = await asyncio.gather(*submitted(commits, sent), return_exceptions=True)
            assert [type(result) for result in found] == wanted
        await commits.close()

    run(test)


def test_a_client_that_has_gone_does_not_keep_results_from_others() -> None:
    """A cancelled request is written with its batch; the others of the batch get their results."""
    begun, go = threading.Event(), threading.Event()

    def execute(commands: list[int]) -> list[int]:
        begun.set()
        assert go.wait(10)
        return commands

    async def test(commits_of: Any) -> None:
        commits = commits_of(execute)
        gone, stays = submitted(commits, range(2))
        assert await asyncio.to_thread(begun.wait, 10)
        gone.cancel()
        await asyncio.sleep(0)
        go.set()
        assert await stays == 1
        await commits.close()

    run(test)


def test_too_many_waiting_are_refused_and_closing_writes_the_rest() -> None:
    """Beyond the limit the problem is 503; close() finishes what was accepted, then refuses."""
    go = threading.Event()

    def execute(commands: list[int]) -> list[int]:
        assert go.wait(10)
        return commands

    async def test(commits_of: Any) -> None:
        commits = commits_of(execute, max_waiting=10)
        *accepted, refused = submitted(commits, range(11))
        with pytest.raises(Problem) as full:
            await refused
        assert (full.value.status, full.value.headers["Retry-After"]) == (503, "1")
        closing = asyncio.create_task(commits.close())
        go.set()
        await closing
        assert [task.result() for task in accepted] == list(range(10))
        with pytest.raises(Problem):
            await commits.submit(11)

    run(test)
