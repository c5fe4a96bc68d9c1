"""What the service counts for Prometheus: requests and their times at the door, batches and folding in the office.

In a service of several workers the numbers of all of them are added up, by files in PROMETHEUS_MULTIPROC_DIR.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, cast

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def are_shared() -> bool:
    """Whether the processes of the service keep their numbers together: then each of them tells those of all."""
    return bool(os.environ.get("PROMETHEUS_MULTIPROC_DIR"))


def forget_the_dead(folder: str) -> None:
    """Remove what processes that have ended said of themselves as they stood; what they counted stays."""
    for file in Path(folder).glob("gauge_live*_*.db"):
        pid = file.stem.rpartition("_")[2]
        if pid.isdecimal() and not _is_alive(int(pid)):
            file.unlink(missing_ok=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # there is one, and it is somebody else's
        return True
    return True


class _Only(Collector):
    """What there is, without the numbers of other desks than these."""

    def __init__(self, all_there_is: CollectorRegistry, desks: Sequence[str]) -> None:
        self._all, self._desks = all_there_is, frozenset(desks)

    def collect(self) -> Iterator[Metric]:
        """Every measure, with fewer samples."""
        for metric in self._all.collect():
            metric.samples = [one for one in metric.samples if one.labels.get("desk") in {None, *self._desks}]
            yield metric


class _Measures:
    """Numbers of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()

    def told(self, desks: Sequence[str] | None) -> bytes:
        """All numbers, as Prometheus reads them; of all processes, where they keep them in a folder.

        desks: those that whoever asks may know of; None for all.
        """
        registry = self.registry
        if are_shared():
            forget_the_dead(os.environ["PROMETHEUS_MULTIPROC_DIR"])
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry if desks is None else cast("CollectorRegistry", _Only(registry, desks)))


class RequestMeasures(_Measures):
    """What is counted at the door."""

    def __init__(self) -> None:
        super().__init__()
        labels = ["operation", "status"]
        self._requests = Counter("evenhand_requests", "Requests answered.", labels, registry=self.registry)
        self._seconds = Histogram(
            "evenhand_request_seconds", "Until answered.", ["operation"], buckets=SECONDS, registry=self.registry
        )
        self._counters: dict[tuple[str, int], Counter] = {}
        self._times: dict[str, Histogram] = {}

    def request(self, operation: str, status: int, seconds: float) -> None:
        """One request was answered."""
        # Children are looked up here once each: labels() checks its arguments every time.
        counter = self._counters.get((operation, status))
        if counter is None:
            counter = self._counters[operation, status] = self._requests.labels(operation, str(status))
        times = self._times.get(operation)
        if times is None:
            times = self._times[operation] = self._seconds.labels(operation)
        counter.inc()
        times.observe(seconds)


class DeskMeasures(_Measures):
    """What is counted in the office."""

    def __init__(self) -> None:
        super().__init__()
        self._batches = Histogram(
            "evenhand_batch_commands", "Commands in one transaction.", buckets=SIZES, registry=self.registry
        )
        self._state = self._gauge("evenhand_state_seq", "The last event that the state in use knows.", "livemax")
        self._folds = self._gauge("evenhand_folds_desk", "Processes that fold this desk's ledger.", "livesum")

    def _gauge(self, name: str, words: str, mode: Literal["livemax", "livesum"]) -> Gauge:
        return Gauge(name, words, ["desk"], registry=self.registry, multiprocess_mode=mode)

    def batch(self, size: int) -> None:
        """One transaction was written."""
        self._batches.observe(size)

    def standing(self, desks: dict[str, tuple[int, bool]]) -> None:
        """How far the state of each desk has come, and whether this process folds it."""
        for name, (seq, is_projecting) in desks.items():
            self._state.labels(name).set(seq)
            self._folds.labels(name).set(int(is_projecting))
