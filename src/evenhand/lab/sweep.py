"""Sweep: run the cases that are still missing, over processes or a cluster, with the same results whatever ran them."""

from __future__ import annotations

import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from itertools import takewhile
from typing import Any, TypeVar

import joblib
from threadpoolctl import threadpool_limits

from evenhand.errors import EvenhandError
from evenhand.lab.case import Case
from evenhand.lab.store import Columns, Store

Run = Callable[..., Columns]
T = TypeVar("T")

PATIENCE = "20s"
"""How long to wait for a cluster's scheduler to answer."""

_ONE_AT_A_TIME = threading.Lock()
"""Held by the case that runs in this process. A Dask worker may have many threads, and the limit on BLAS threads is the
process's: only one thread at a time can set it, and one case's end would lift it for another that still runs."""


class CaseFailed(EvenhandError, RuntimeError):
    """A case of a sweep that raised: what it was, and why."""


def sweep(
    run: Run,
    cases: Sequence[Case],
    store: Store,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    done: Callable[[], object] = lambda: None,
) -> None:
    """Run every case that `store` does not have, keep each as soon as it is finished, call `done` for each.

    `run(**settings)` must depend on its settings alone, seed included. jobs: processes on this machine. cluster: the
    address of a Dask scheduler, whose workers then do the work. A sweep that was killed goes on where it stopped.
    When a case raises, no other is begun, those that run are finished and kept, and then `CaseFailed` says which.
    """
    missing = list({case.key: case for case in cases if not store.has(case)}.values())
    for _ in range(len(cases) - len(missing)):
        done()
    if not missing:
        return
    failures: list[CaseFailed] = []
    with _backend(jobs, cluster) as workers:
        parallel = joblib.Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
        waiting = takewhile(lambda _: not failures, enumerate(missing))
        sweeper = os.getpid() if cluster is None else None
        results = parallel(joblib.delayed(_timed)(run, index, case, sweeper) for index, case in waiting)
        for index, outcome, seconds in _until_a_process_dies(results):
            if isinstance(outcome, CaseFailed):
                failures.append(outcome)
            else:
                store.put(missing[index], outcome, seconds)
                done()
    if failures:
        raise failures[0]


def _timed(run: Run, index: int, case: Case, sweeper: int | None) -> tuple[int, Columns | CaseFailed, float]:
    """One case, on one thread: processes share the cores, and sums do not depend on how many there are.

    A failure is returned, not raised: joblib would drop results that wait to be kept, and kill what still runs.
    """
    if sweeper is not None:
        _end_with(sweeper)
    with _ONE_AT_A_TIME, threadpool_limits(limits=1):
        started = time.perf_counter()
        try:
            outcome: Columns | CaseFailed = run(**case.settings)
        except Exception as error:
            outcome = CaseFailed(f"{case.experiment} failed at {dict(case.settings)}: {error!r}")
            outcome.add_note(traceback.format_exc())  # travels between processes, which a cause does not
        return index, outcome, time.perf_counter() - started


@cache
def _end_with(sweeper: int) -> None:
    """In a process that the sweep started: see to it that this ends soon after a killed sweep, and works for nobody."""

    def watch() -> None:
        while os.getppid() == sweeper:
            time.sleep(0.5)
        os._exit(1)

    if os.getppid() == sweeper:
        threading.Thread(target=watch, daemon=True).start()


def _until_a_process_dies(results: Iterator[T]) -> Iterator[T]:
    """The results; that a process was killed, as Linux does when memory runs out, becomes a sentence."""
    try:
        yield from results
    except BrokenProcessPool as error:
        raise CaseFailed(f"a process of the sweep was killed, perhaps for want of memory: {error}") from None


@contextmanager
def _backend(jobs: int, cluster: str | None) -> Iterator[int]:
    """joblib's own processes, or the workers of a Dask cluster."""
    if cluster is None:
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            yield jobs
        return
    try:
        import distributed
    except ImportError:
        raise EvenhandError("a cluster needs Dask: pip install 'evenhand[cluster]'") from None
    client_of: Any = distributed.Client
    try:
        client = client_of(cluster, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise EvenhandError(f"no Dask scheduler answers at {cluster}: {error}") from None
    with client, joblib.parallel_config(backend="dask", client=client):
        if not client.scheduler_info()["workers"]:
            raise EvenhandError(f"the Dask scheduler at {cluster} has no workers; start some with `dask worker`")
        yield -1


def default_jobs() -> int:
    """One process for each core this process may use."""
    affinity: Any = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
