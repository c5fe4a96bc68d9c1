"""Sweep: run the missing cases on processes or a cluster; the results do not depend on which."""

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
from evenhand.lab.store import Case, Columns, Store

Run = Callable[..., Columns]
T = TypeVar("T")

PATIENCE = "20s"
"""How long to wait for a cluster's scheduler."""

_ONE_AT_A_TIME = threading.Lock()
"""Held by the case that runs in this process. A Dask worker may have many threads, and the limit on BLAS threads is
per process: the end of one case would lift it for another that still runs."""


class CaseFailed(EvenhandError, RuntimeError):
    """A case of a sweep raised an error."""


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
    address of a Dask scheduler, whose workers then run the cases. A killed sweep continues where it stopped. When a
    case raises, no other is started, running ones are finished and kept, and then `CaseFailed` names the case.
    """
    missing = list({case.key: case for case in cases if not store.has(case)}.values())
    for _ in range(len(cases) - len(missing)):
        done()
    if not missing:
        return
    failures: list[CaseFailed] = []
    with _backend(jobs, cluster) as workers:
        parallel = joblib.Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
        pending = takewhile(lambda _: not failures, enumerate(missing))
        sweeper = os.getpid() if cluster is None else None
        results = parallel(joblib.delayed(_timed)(run, index, case, sweeper) for index, case in pending)
        for index, outcome, seconds in _unless_killed(results):
            if isinstance(outcome, CaseFailed):
                failures.append(outcome)
            else:
                store.put(missing[index], outcome, seconds)
                done()
    if failures:
        raise failures[0]


def _timed(run: Run, index: int, case: Case, sweeper: int | None) -> tuple[int, Columns | CaseFailed, float]:
    """One case, on one thread: processes share the cores, and sums do not depend on their number.

    A failure is returned, not raised: joblib would drop finished results and kill running cases.
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
    """In a process that the sweep started: exit soon after the sweep was killed."""

    def watch() -> None:
        while os.getppid() == sweeper:
            time.sleep(0.5)
        os._exit(1)

    if os.getppid() == sweeper:
        threading.Thread(target=watch, daemon=True).start()


def _unless_killed(results: Iterator[T]) -> Iterator[T]:
    """The results; a killed process, as when memory runs out, becomes CaseFailed."""
    try:
        yield from results
    except BrokenProcessPool as error:
        raise CaseFailed(f"a process of the sweep was killed, perhaps because memory ran out: {error}") from None


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
        raise EvenhandError(f"cannot reach a Dask scheduler at {cluster}: {error}") from None
    with client, joblib.parallel_config(backend="dask", client=client):
        if not client.scheduler_info()["workers"]:
            raise EvenhandError(f"the Dask scheduler at {cluster} has no workers; start some with `dask worker`")
        yield -1


def default_jobs() -> int:
    """One process for each core available to this process."""
    affinity: Any = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
