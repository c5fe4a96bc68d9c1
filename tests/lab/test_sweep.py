"""Sweeps: the same results whatever ran them, however often they were stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import threadpoolctl
from polars.testing import assert_frame_equal

from evenhand.errors import EvenhandError
from evenhand.lab.runs import standard_run
from evenhand.lab.store import Case, Store, grid
from evenhand.lab.sweep import CaseFailed, _timed, default_jobs, sweep
from tests.support.cluster import ROOT, loopback_cluster
from tests.support.small_experiments import (
    logged_walk,
    seeds,
    threads_inside,
    walk,
    walk_beside_another,
    walk_or_raise,
)
from tests.support.waiting import wait_for

JOBS = [1, pytest.param(2, marks=pytest.mark.process)]
"""In this process, and in processes of their own."""

KILLED = """
import sys
from functools import partial
from pathlib import Path
from evenhand.lab.store import Store
from evenhand.lab.sweep import sweep
from tests.support.small_experiments import endless_walk, seeds
results, log, jobs = sys.argv[1:]
sweep(partial(endless_walk, log=log), seeds(8), Store(Path(results)), jobs=int(jobs))
"""


def _only_seeds(count: int) -> list[Case]:
    """Cases with nothing but a seed."""
    return grid("threads", seed=range(count))


def _finished(folder: Path) -> set[str]:
    return {path.stem for path in (folder / "cases").glob("*.parquet")}


def _runs(log: Path, case: Case) -> int:
    return len(list(log.glob(f"{case.settings['seed']}-*")))


def _start_and_kill(results: Path, log: Path, jobs: int) -> set[str]:
    """Start a sweep in another process, kill it once its first three cases are finished and wait for its helpers to
    end; no other case ends by itself."""
    command = [sys.executable, "-c", KILLED, str(results), str(log), str(jobs)]
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    try:
        wait_for(lambda: len(_finished(results)) == 3 or process.poll() is not None, what="three cases", seconds=240)
        assert process.poll() is None, "the sweep ended before it could be killed"
        process.kill()
        process.wait()
        wait_for(lambda: not any(map(_is_running, _workers(log))), what="the end of a killed sweep's processes")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return _finished(results)


def _workers(log: Path) -> set[int]:
    return {int(path.name.split("-")[1]) for path in log.iterdir()}


def _is_running(pid: int) -> bool:
    """Whether a process is there and is not a mere entry that nobody has collected yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.process
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_sweep_goes_on_where_it_stopped(jobs: int, tmp_path: Path) -> None:
    """After SIGKILL midway a second start runs what is missing only, and gathers what an unbroken sweep gathers."""
    log, cases, store = tmp_path / "log", seeds(8), Store(tmp_path / "killed")
    log.mkdir()
    before = _start_and_kill(store.folder, log, jobs)
    assert len(before) == 3
    calls: list[None] = []
    sweep(partial(logged_walk, log=str(log)), cases, store, jobs=jobs, done=lambda: calls.append(None))
    assert len(calls) == 8
    assert all(_runs(log, case) == 1 for case in cases if case.key in before)
    assert all(_runs(log, case) >= 1 for case in cases)
    whole = Store(tmp_path / "whole")
    sweep(walk, cases, whole)
    assert_frame_equal(store.gather(cases), whole.gather(cases), check_exact=True)


@pytest.mark.process
def test_results_are_the_same_whatever_ran_them(tmp_path: Path) -> None:
    """One process, two processes and a Dask cluster of two workers give equal tables, to the last bit.

    The cluster's workers do the work, and even in a worker with several threads a case finds one thread in BLAS.
    """
    policies = ["evenhand", "paper"]
    cases = grid("same", policy=policies, d=3, k=4, rounds=60, epsilon=0.01, seed=range(3))
    stores = {name: Store(tmp_path / name) for name in ("one", "two", "cluster")}
    sweep(standard_run, cases, stores["one"], jobs=1)
    sweep(standard_run, cases, stores["two"], jobs=2)
    log = tmp_path / "log"
    log.mkdir()
    with loopback_cluster(tmp_path) as cluster:
        sweep(threads_inside, _only_seeds(8), Store(tmp_path / "threads"), cluster=cluster.address)
        sweep(standard_run, cases, stores["cluster"], cluster=cluster.address)
        beside = partial(walk_beside_another, log=str(log))
        sweep(beside, seeds(6), Store(tmp_path / "beside"), cluster=cluster.address)
    first, *others = (store.gather(cases) for store in stores.values())
    assert first["round"].max() == 60
    for other in others:
        assert_frame_equal(first, other, check_exact=True)
    assert Store(tmp_path / "threads").gather(_only_seeds(8))["threads"].unique().to_list() == [1]
    assert _workers(log) == set(cluster.workers)


@pytest.mark.parametrize("jobs", JOBS)
def test_a_case_has_one_thread(jobs: int, tmp_path: Path) -> None:
    """Inside a case every numerical library has one thread; outside it has as many as before."""
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpoolctl.threadpool_limits(limits=2):
        outside = [library["num_threads"] for library in threadpoolctl.threadpool_info()]
        sweep(threads_inside, _only_seeds(3), Store(tmp_path), jobs=jobs)
        assert [library["num_threads"] for library in threadpoolctl.threadpool_info()] == outside
    table = pl.read_parquet(tmp_path / "cases" / "*.parquet")
    assert table["threads"].unique().to_list() == [1]


def test_a_case_has_one_thread_while_others_end() -> None:
    """In a worker with several threads the end of one case gives no threads back to another that still runs."""
    short, long = (Case("threads", {"seed": seed}) for seed in (0, 2))
    with ThreadPoolExecutor(2) as workers:
        results = list(workers.map(partial(_timed, threads_inside, 0, sweeper=None), [short, long, short, long]))
    for _, outcome, _ in results:
        assert not isinstance(outcome, CaseFailed)
        assert set(outcome["threads"]) == {1}


@pytest.mark.parametrize("jobs", JOBS)
def test_a_failure_names_its_settings_and_costs_nothing_else(jobs: int, tmp_path: Path) -> None:
    """CaseFailed quotes settings and error, has the traceback as a note, keeps what ran, and begins nothing new."""
    log = tmp_path / "log"
    log.mkdir()
    cases, store = seeds(12), Store(tmp_path / "results")
    with pytest.raises(CaseFailed, match=r"walk failed at .*'seed': 2.*ZeroDivisionError.*nobody walks") as failure:
        sweep(partial(walk_or_raise, log=str(log)), cases, store, jobs=jobs)
    assert "in walk_or_raise" in failure.value.__notes__[0]
    assert all(store.has(case) for case in cases[:2])
    assert sum(store.has(case) for case in cases) == len(list(log.iterdir())) < 8
    sweep(walk, cases, store)
    assert all(store.has(case) for case in cases)
    assert all(_runs(log, case) == 1 for case in cases[:2])


def test_a_sweep_that_is_complete_runs_nothing(tmp_path: Path) -> None:
    """Cases named twice run once; a second sweep counts every case as done and runs none."""
    log = tmp_path / "log"
    log.mkdir()
    store, calls = Store(tmp_path / "results"), list[None]()
    for _ in range(2):
        sweep(partial(logged_walk, log=str(log)), seeds(2) * 2, store, done=lambda: calls.append(None))
    assert len(calls) == 8
    assert len(list(log.iterdir())) == 2


def test_a_cluster_that_does_not_answer_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address at which nobody listens is quoted, and nothing is written."""
    monkeypatch.setattr("evenhand.lab.sweep.PATIENCE", "1s")
    with pytest.raises(EvenhandError, match=r"cannot reach a Dask scheduler at tcp://127\.0\.0\.1:9"):
        sweep(walk, seeds(1), Store(tmp_path / "results"), cluster="tcp://127.0.0.1:9")
    assert not (tmp_path / "results").exists()


def test_jobs_default_to_the_cores_this_process_may_use() -> None:
    """One process a core, never more than there are."""
    assert 1 <= default_jobs() <= (os.cpu_count() or 1)
